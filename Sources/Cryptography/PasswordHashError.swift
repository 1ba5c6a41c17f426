/// Why a password was not hashed or checked.
package enum PasswordHashError: Error, Sendable, Hashable {
    /// Too many hashes are waiting; nothing was done.
    case queueFull
    /// The calling task was cancelled.
    case cancelled
    /// The pool was shut down.
    case shutDown
    /// bcrypt would silently ignore what follows a NUL byte.
    case passwordContainsNUL
    /// The algorithm's cost is out of bounds, see ``PasswordAlgorithm/isWithinBounds``.
    case costOutOfBounds
    /// The library failed, in practice for want of memory.
    case failed
}

extension PasswordHashError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .queueFull: "too many password hashes are waiting"
        case .cancelled: "the password hash was cancelled"
        case .shutDown: "the password hashing pool is shut down"
        case .passwordContainsNUL: "bcrypt cannot hash a password that contains a NUL byte"
        case .costOutOfBounds: "the cost of the password algorithm is out of bounds"
        case .failed: "the password hash could not be computed"
        }
    }
}
