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

    package init(
        now: @escaping @Sendable () -> Timestamp,
        newObjectID: @escaping @Sendable () -> String = { SecureRandom.alphanumeric(10) },
        passwords: PasswordHashingPool,
        logger: Logger
    ) {
        self.now = now
        self.newObjectID = newObjectID
        self.passwords = passwords
        self.logger = logger
    }
}
