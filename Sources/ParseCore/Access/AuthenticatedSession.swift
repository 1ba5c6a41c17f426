package import Cryptography
package import ParseWire

/// A living session and its user, as read at one moment; what the session cache holds.
package final class AuthenticatedSession: Sendable {
    package let tokenHash: Digest256
    package let sessionID: String
    /// `nil`: never.
    package let expiresAt: Timestamp?
    /// When the session was last extended or changed.
    package let updatedAt: Timestamp
    package let user: StoredRow
    /// The keys of access control lists that the user answers to: `*`, its id, its roles.
    package let group: [String]
    /// The user as its owner sees it, encoded, without the closing brace and the session token, so that the
    /// most frequent request of all encodes nothing.
    package let encodedUser: [UInt8]

    package init(
        tokenHash: Digest256,
        sessionID: String,
        expiresAt: Timestamp?,
        updatedAt: Timestamp,
        user: StoredRow,
        roles: [String],
        encodedUser: [UInt8]
    ) {
        self.tokenHash = tokenHash
        self.sessionID = sessionID
        self.expiresAt = expiresAt
        self.updatedAt = updatedAt
        self.user = user
        group = ["*", user.objectID] + roles.map { "role:" + $0 }
        self.encodedUser = encodedUser
    }

    package var userID: String {
        user.objectID
    }
}
