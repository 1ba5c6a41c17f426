/// How a password is hashed, with its cost.
package enum PasswordAlgorithm: Sendable, Hashable {
    /// Argon2id (RFC 9106), version 1.3, one lane.
    case argon2id(memoryKiB: Int, passes: Int)
    /// bcrypt, as `$2b$`: it reads at most 72 bytes of a password and refuses NUL.
    case bcrypt(cost: Int)

    /// 19 MiB and two passes, the first choice of the OWASP password storage guide.
    package static let standard = PasswordAlgorithm.argon2id(memoryKiB: 19456, passes: 2)

    /// The algorithm a configuration names (`argon2id` or `bcrypt`), at its usual cost.
    package init?(configurationName: String) {
        switch configurationName {
        case "argon2id": self = .standard
        case "bcrypt": self = .bcrypt(cost: 10)
        default: return nil
        }
    }

    /// Whether the cost is in the bounds within which hashes are made and checked.
    ///
    /// That is bcrypt costs of 4-15;
    /// Argon2id with 8 KiB-256 MiB, 1-64 passes and at most 1 GiB over all passes. The largest take about
    /// one and a half seconds.
    package var isWithinBounds: Bool {
        switch self {
        case .argon2id(let memoryKiB, let passes):
            (8...262_144).contains(memoryKiB) && (1...64).contains(passes) && memoryKiB * passes <= 1_048_576
        case .bcrypt(let cost): (4...15).contains(cost)
        }
    }
}
