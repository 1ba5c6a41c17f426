package import JSON
import Cryptography
import ParseWire

/// Ends the session of the request (Parse REST guide, "Logging Out").
///
/// When it returns, the very next request with that token is refused.
package struct LogOut: Sendable {
    package init() {}

    package func run(in context: RequestContext) async throws -> JSONObject {
        let app = context.app
        guard let token = context.sessionToken, SessionToken.isWellFormed(token) else { return [:] }
        try context.refuseReadOnly("delete")
        let hash = SHA256.hash(token)
        var userID = context.principal.userID
        if userID == nil {
            let found = try await app.reading { () throws(StorageError) in
                try await app.storage.session(tokenHash: hash)
            }
            userID = found?.session.userID
        }
        var transaction = Transaction()
        transaction.add(
            .delete(
                RowDeletion(
                    className: SystemClasses.session,
                    predicate: .hidden(HiddenField.tokenHash, .binary(hash.bytes)),
                    mustMatch: false
                )
            )
        )
        if let userID { transaction.notify(.user(userID)) }
        _ = try await context.commit(transaction)
        return [:]
    }
}

extension StoredRow {
    /// Whose session it is.
    package var userID: String? {
        if case .pointer(_, let objectID) = fields["user"] { objectID } else { nil }
    }
}
