package import JSON
import ParseWire

/// Logs a user in by name or address, and password (Parse REST guide, "Logging In").
package struct LogIn: Sendable {
    package let credentials: Credentials
    /// Data for sign-in providers that is to be stored with the user.
    package let authData: JSONValue?

    package init(credentials: Credentials, authData: JSONValue?) {
        self.credentials = credentials
        self.authData = authData
    }

    package func run(in context: RequestContext) async throws -> JSONObject {
        let app = context.app
        try context.refuseReadOnly("create")
        let user = try await credentials.verifiedUser(in: context)
        var transaction = Transaction()
        transaction.add(credentials.stillHold(for: user), orThrow: .invalidCredentials)
        let validated = try await linked(user, &transaction, in: context)
        let session = NewSession(
            for: user.objectID,
            in: app,
            createdWith: CreatedWith.logIn,
            installationID: context.installationID
        )
        transaction.add(session.steps)
        transaction.notify(.user(user.objectID))
        let outcome = try await context.commit(transaction)

        let current = outcome.updatedRows.lazy.flatMap { $0 }.first ?? user
        var body = UserView(of: current, in: app, viewer: .owner, context: context).object(
            sessionToken: session.token
        )
        if let validated { body["authDataResponse"] = .object(validated.response) }
        return body
    }

    /// Providers are asked after the password was found right, and never say that an id is another user's
    /// before they vouched for it.
    private func linked(
        _ user: StoredRow,
        _ transaction: inout Transaction,
        in context: RequestContext
    ) async throws -> ValidatedAuthData? {
        guard let authData else { return nil }
        let sent = try AuthData(authData)
        let stored = user.fields["authData"]?.objectValue ?? JSONObject()
        let validated: ValidatedAuthData
        switch try await ProviderDecision.make(sent, current: user.objectID, in: context) {
        case .nobodysAccount(let data): validated = data
        case .account: validated = try await sent.changes(from: stored).validated(in: context.app)
        }
        validated.store(with: user.objectID, in: &transaction)
        return validated
    }
}

/// Checks a password without logging in (`/verifyPassword`).
package struct VerifyPassword: Sendable {
    package let credentials: Credentials

    package init(credentials: Credentials) {
        self.credentials = credentials
    }

    package func run(in context: RequestContext) async throws -> JSONObject {
        let user = try await credentials.verifiedUser(in: context)
        return UserView(of: user, in: context.app, viewer: .owner, context: context).object
    }
}

/// Makes a session for any user; for the master key alone.
package struct LogInAs: Sendable {
    package let userID: JSONValue?

    package init(userID: JSONValue?) {
        self.userID = userID
    }

    package func run(in context: RequestContext) async throws -> JSONObject {
        guard context.principal.isMaster else {
            throw ParseError(.operationForbidden, "master key is required")
        }
        guard !context.principal.isReadOnly else {
            throw ParseError(
                .operationForbidden,
                "read-only masterKey isn't allowed to login as another user."
            )
        }
        guard let userID, userID.isTruthy else {
            throw ParseError(.invalidValue, "userId must not be empty, null, or undefined")
        }
        let notFound = ParseError(.objectNotFound, "user not found")
        guard let id = userID.stringValue, let user = try await context.app.user(id: id) else {
            throw notFound
        }
        let session = NewSession(
            for: id,
            in: context.app,
            createdWith: CreatedWith.masterKey,
            installationID: context.installationID
        )
        var transaction = Transaction()
        transaction.add(.require(className: SystemClasses.user, .id(id)), orThrow: notFound)
        transaction.add(session.steps)
        transaction.notify(.user(id))
        _ = try await context.commit(transaction)
        return UserView(of: user, in: context.app, viewer: .owner, context: context).object(
            sessionToken: session.token
        )
    }
}

extension App {
    /// The user of that id, with master rights.
    package func user(id: String) async throws -> StoredRow? {
        let query = RowQuery(className: SystemClasses.user, predicate: .id(id), limit: 1)
        return try await reading { () throws(StorageError) in try await storage.find(query) }.first
    }
}
