package import JSON
import Cryptography
import ParseWire

/// The user of the session (Parse REST guide, "Validating Session Tokens").
package struct CurrentUser: Sendable {
    package init() {}

    package nonisolated(nonsending) func run(in context: RequestContext) async throws -> CurrentUserReply {
        guard let token = context.sessionToken else { throw ParseError.invalidSessionToken }
        if let session = context.principal.session {
            guard session.user.isReadable(by: context.principal.access) else {
                throw ParseError.invalidSessionToken
            }
            return CurrentUserReply(encodedUser: session.encodedUser, token: token)
        }
        // A master key stands in for the session, also for one that has run out.
        guard context.principal.isUnrestricted, SessionToken.isWellFormed(token) else {
            throw ParseError.invalidSessionToken
        }
        let app = context.app
        let found = try await app.reading { () throws(StorageError) in
            try await app.storage.session(tokenHash: SHA256.hash(token))
        }
        guard let user = found?.user else { throw ParseError.invalidSessionToken }
        return CurrentUserReply(encodedUser: UserView(of: user, in: context).encodedPrefix, token: token)
    }
}

/// The reply to ``CurrentUser``, encoded already.
package struct CurrentUserReply: Sendable {
    private let encodedUser: [UInt8]
    private let token: String

    fileprivate init(encodedUser: [UInt8], token: String) {
        self.encodedUser = encodedUser
        self.token = token
    }

    package var encoded: [UInt8] {
        var writer = JSONWriter(capacity: encodedUser.count + token.utf8.count + 24)
        writer.writeRaw(encodedUser)
        writer.writeRaw(",\"sessionToken\":")
        writer.writeString(token)
        writer.writeRaw("}")
        return writer.bytes
    }
}

/// One user by its id.
package struct GetUser: Sendable {
    package let userID: String
    package let projection: Projection

    package init(userID: String, projection: Projection) {
        self.userID = userID
        self.projection = projection
    }

    package func run(in context: RequestContext) async throws -> JSONObject {
        let app = context.app
        let query = RowQuery(
            className: SystemClasses.user,
            predicate: .id(userID),
            access: context.principal.access,
            limit: 1
        )
        let rows = try await app.reading { () throws(StorageError) in try await app.storage.find(query) }
        guard let row = rows.first else { throw ParseError.objectNotFound }
        let object = ObjectView.projected(UserView(of: row, in: context).object, projection)
        guard context.principal.userID == userID, let token = context.sessionToken else { return object }
        var own = object
        own["sessionToken"] = .string(token)
        return own
    }
}

/// The users that match and that the caller may read.
package struct FindUsers: Sendable {
    package let options: FindOptions

    package init(options: FindOptions) {
        self.options = options
    }

    package func run(in context: RequestContext) async throws -> JSONObject {
        try checkProtectedFields(in: context)
        let schema = context.app.storage.schema[SystemClasses.user]
        let query = try options.query(of: SystemClasses.user, schema, access: context.principal.access)
        return try await options.run(query, in: context.app) { row in
            ObjectView.projected(UserView(of: row, in: context).object, options.projection)
        }
    }

    /// What a caller may not read it may not search or sort by either; an anonymous user's id in `authData` is
    /// its password.
    private func checkProtectedFields(in context: RequestContext) throws(ParseError) {
        guard !context.principal.isUnrestricted else { return }
        let isOwnRow = options.whereID.map { $0 == context.principal.userID } ?? false
        for path in options.whereFields {
            let field = FieldName.root(of: path)
            let isRefused =
                field == "authData" || (UserView.protectedFields.contains(field) && !isOwnRow)
            guard !isRefused else {
                throw ParseError(
                    .operationForbidden,
                    "This user is not allowed to query \(path) on class _User"
                )
            }
        }
        for key in options.order {
            let field = FieldName.root(of: key.field)
            guard field != "authData", !UserView.protectedFields.contains(field) else {
                throw ParseError(
                    .operationForbidden,
                    "This user is not allowed to sort by \(key.field) on class _User"
                )
            }
        }
    }
}
