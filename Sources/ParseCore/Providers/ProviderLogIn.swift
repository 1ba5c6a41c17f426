import JSON
import ParseWire

/// Logs a user in by an account at a provider.
///
/// What a provider newly says of the account is stored; other fields of the request are not.
struct ProviderLogIn: Sendable {
    let user: StoredRow
    let authData: AuthData

    func run(in context: RequestContext) async throws -> SaveReply {
        let app = context.app
        try context.refuseReadOnly("update")
        let validated = try await authData.validated(in: app)
        let stored = user.fields["authData"]?.objectValue ?? JSONObject()
        let changed = ValidatedAuthData(
            stored: validated.stored.filter { stored[$0.provider] != .object($0.data) },
            response: validated.response
        )

        var transaction = Transaction()
        transaction.add(
            .require(className: SystemClasses.user, .id(user.objectID)),
            orThrow: .objectNotFound
        )
        // An account that was taken off the user meanwhile, as a new password does with an anonymous id, logs
        // nobody in any more.
        for identity in authData.identities where stored[identity.provider]?["id"] == .string(identity.id) {
            transaction.add(
                .requireAccount(identity, userID: user.objectID),
                orThrow: .accountAlreadyLinked
            )
        }
        changed.store(with: user.objectID, in: &transaction)
        let session: NewSession? =
            context.principal.session == nil
            ? NewSession(
                for: user.objectID,
                in: app,
                createdWith: CreatedWith.logIn(authData.providers),
                installationID: context.installationID
            )
            : nil
        if let session { transaction.add(session.steps) }
        transaction.notify(.user(user.objectID))
        let outcome = try await context.commit(transaction)

        let current = outcome.updatedRows.lazy.flatMap { $0 }.first ?? user
        let view = UserView(of: current, in: app, viewer: .owner, context: context)
        var body = session.map { view.object(sessionToken: $0.token) } ?? view.object
        body["authDataResponse"] = .object(validated.response)
        return SaveReply(body: body, location: .user(user.objectID))
    }
}
