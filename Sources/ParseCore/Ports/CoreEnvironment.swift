package import Cryptography
package import Logging
package import ParseWire

/// Time, randomness and password hashing: what core takes from outside, so that a test can hold it still.
package struct CoreEnvironment: Sendable {
    /// The present moment.
    package var now: @Sendable () -> Timestamp
    /// A new object id: letters and digits, unguessable.
    package var newObjectID: @Sendable () -> String
    package var passwords: PasswordHashingPool
    package var logger: Logger
    /// `nil` where there is no place for files: uploads are refused then.
    package var files: (any FileStore)?

    package init(
        now: @escaping @Sendable () -> Timestamp,
        newObjectID: @escaping @Sendable () -> String = { SecureRandom.alphanumeric(10) },
        passwords: PasswordHashingPool,
        logger: Logger,
        files: (any FileStore)? = nil
    ) {
        self.now = now
        self.newObjectID = newObjectID
        self.passwords = passwords
        self.logger = logger
        self.files = files
    }
}
