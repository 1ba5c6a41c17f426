package import JSON
import Cryptography
import ParseWire

/// Turns a session token from before revocable sessions into a revocable session
/// (`POST /upgradeToRevocableSession`).
package struct UpgradeSession: Sendable {
    package init() {}

    package func run(in context: RequestContext) async throws -> JSONObject {
        let app = context.app
        var transaction = Transaction()
        let userID: String
        if let caller = context.principal.session {
            userID = caller.userID
            transaction.add(.requireSession(caller), orThrow: .invalidSessionToken)
        } else if case .nobody = context.principal, let token = context.sessionToken,
            !SessionToken.isWellFormed(token)
        {
            userID = try await legacyUser(token, in: app, &transaction)
        } else {
            throw ParseError(.objectNotFound, "invalid session")
        }
        let session = NewSession(
            for: userID,
            in: app,
            createdWith: CreatedWith.upgrade,
            installationID: context.installationID
        )
        transaction.add(session.steps)
        transaction.notify(.user(userID))
        _ = try await context.commit(transaction)
        var object = ObjectView.object(of: session.row, app.storage.schema[SystemClasses.session])
        object["sessionToken"] = .string(session.token)
        return object
    }

    /// The old token is spent by the upgrade.
    private func legacyUser(
        _ token: String,
        in app: App,
        _ transaction: inout Transaction
    ) async throws -> String {
        let unknown = ParseError(.invalidSessionToken, "invalid legacy session token")
        let predicate = Predicate.hidden(HiddenField.legacyTokenHash, LegacyToken.stored(token))
        let query = RowQuery(className: SystemClasses.user, predicate: predicate, limit: 1)
        let rows = try await app.reading { () throws(StorageError) in try await app.storage.find(query) }
        guard !token.isEmpty, let user = rows.first, user.acl?.isLocked != true else { throw unknown }
        transaction.add(
            .update(
                RowUpdate(
                    className: SystemClasses.user,
                    predicate: .all([.id(user.objectID), predicate]),
                    hidden: [HiddenField.legacyTokenHash: nil]
                )
            ),
            orThrow: unknown
        )
        return user.objectID
    }
}
