package import JSON
import ParseWire

/// Makes a session for the caller (`POST /sessions`).
package struct CreateSession: Sendable {
    package let body: JSONObject

    package init(body: JSONObject) {
        self.body = body
    }

    package func run(in context: RequestContext) async throws -> SaveReply {
        let app = context.app
        try context.refuseReadOnly("create")
        if body["objectId"]?.isTruthy == true {
            throw ParseError(.invalidKeyName, "objectId is an invalid field name.")
        }
        if context.principal.isUnrestricted { return try await createBareRow(in: context) }
        guard let caller = context.principal.session else { throw ParseError.sessionTokenRequired }
        if body["ACL"] != nil { throw ParseError(.invalidKeyName, "Cannot set ACL on a Session.") }
        var own = body
        for name in ["user", "sessionToken", "expiresAt", "createdWith"] { own[name] = nil }
        let fields = try ObjectBody(own, className: SystemClasses.session, kind: .create, in: app)
        var values = try fields.initialValues()
        // No installation at all: an empty one would be one that only one session may have.
        if values["installationId"] == .string("") { values["installationId"] = nil }
        let session = NewSession(
            for: caller.userID,
            in: app,
            createdWith: CreatedWith.create,
            installationID: values["installationId"]?.stringValue,
            fields: values
        )
        var transaction = Transaction(schemaChanges: fields.schemaChanges)
        transaction.add(.requireSession(caller), orThrow: .invalidSessionToken)
        transaction.add(session.steps)
        transaction.notify(.user(caller.userID))
        _ = try await context.commit(transaction)

        var reply: JSONObject = ["sessionToken": .string(session.token)]
        for (name, value) in session.row.fields.sorted(by: { $0.key < $1.key }) { reply[name] = value.json }
        reply["objectId"] = .string(session.row.objectID)
        return SaveReply(body: reply, location: .session(session.row.objectID), isNew: true)
    }

    /// With the master key it is an object like any other: no token, no end.
    private func createBareRow(in context: RequestContext) async throws -> SaveReply {
        let app = context.app
        if body["ACL"] != nil { throw ParseError(.invalidKeyName, "Cannot set ACL on a Session.") }
        var own = body
        own["sessionToken"] = nil
        let fields = try ObjectBody(own, className: SystemClasses.session, kind: .create, in: app)
        let now = app.now
        let row = StoredRow(
            objectID: app.environment.newObjectID(),
            createdAt: now,
            updatedAt: now,
            fields: try fields.initialValues()
        )
        var transaction = Transaction(schemaChanges: fields.schemaChanges)
        let userID = row.userID
        if let userID, let installationID = row.fields["installationId"]?.stringValue {
            transaction.add(.endSession(of: userID, on: installationID))
        }
        transaction.add(.insert(className: SystemClasses.session, row))
        if let userID { transaction.notify(.user(userID)) }
        _ = try await context.commit(transaction)
        return SaveReply(
            body: ["objectId": .string(row.objectID), "createdAt": .string(now.iso8601)],
            location: .session(row.objectID),
            isNew: true
        )
    }
}

/// Changes fields of a session; what makes it a session is the server's alone.
package struct UpdateSession: Sendable {
    package let sessionID: String
    package let body: JSONObject

    package init(sessionID: String, body: JSONObject) {
        self.sessionID = sessionID
        self.body = body
    }

    package func run(in context: RequestContext) async throws -> SaveReply {
        let app = context.app
        try context.refuseReadOnly("update")
        let isMaster = context.principal.isUnrestricted
        guard isMaster || context.principal.session != nil else { throw ParseError.sessionTokenRequired }
        if body["ACL"] != nil { throw ParseError(.invalidKeyName, "Cannot set ACL on a Session.") }
        for name in ["installationId", "sessionToken"] where body[name] != nil {
            throw ParseError.invalidKeyName(name)
        }
        if !isMaster { try checkClientFields(context.principal.userID) }
        var own = body
        own["objectId"] = nil
        let fields = try ObjectBody(own, className: SystemClasses.session, kind: .update, in: app)
        let owners = try await owners(in: context)
        let now = app.now
        var transaction = Transaction(schemaChanges: fields.schemaChanges)
        if let session = context.principal.session {
            transaction.add(.requireSession(session), orThrow: .invalidSessionToken)
        }
        let position = transaction.add(
            .update(
                RowUpdate(
                    className: SystemClasses.session,
                    predicate: try SessionAccess.reachable(sessionID, by: context.principal),
                    changes: fields.changes,
                    updatedAt: now
                )
            ),
            orThrow: .objectNotFound
        )
        for userID in owners { transaction.notify(.user(userID)) }
        let outcome = try await context.commit(transaction)
        let row = outcome.updatedRows[position].first
        var reply: JSONObject = ["updatedAt": .string(now.iso8601)]
        for member in fields.resultFields(of: row?.fields ?? [:]) { reply[member.key] = member.value }
        return SaveReply(body: reply)
    }

    /// Whose session it is, before the change and after: the master key may give it to another user.
    private func owners(in context: RequestContext) async throws -> Set<String> {
        if let userID = context.principal.userID { return [userID] }
        let query = RowQuery(className: SystemClasses.session, predicate: .id(sessionID), limit: 1)
        let app = context.app
        let rows = try await app.reading { () throws(StorageError) in try await app.storage.find(query) }
        return Set([rows.first?.userID, body["user"]?["objectId"]?.stringValue].compactMap { $0 })
    }

    private func checkClientFields(_ userID: String?) throws(ParseError) {
        if let user = body["user"], user["objectId"]?.stringValue != userID || user["__op"] != nil {
            throw .invalidKeyName("user")
        }
        for name in body.keys where ["expiresAt", "createdWith"].contains(FieldName.root(of: name)) {
            throw .invalidKeyName(name)
        }
    }
}

/// Ends a session; the caller's own too.
package struct DeleteSession: Sendable {
    package let sessionID: String

    package init(sessionID: String) {
        self.sessionID = sessionID
    }

    package func run(in context: RequestContext) async throws -> JSONObject {
        let app = context.app
        let predicate = try SessionAccess.reachable(sessionID, by: context.principal)
        try context.refuseReadOnly("delete")
        let query = RowQuery(className: SystemClasses.session, predicate: predicate, limit: 1)
        let rows = try await app.reading { () throws(StorageError) in try await app.storage.find(query) }
        guard let row = rows.first else { throw ParseError.objectNotFoundForDelete }
        var transaction = Transaction()
        if let session = context.principal.session {
            transaction.add(.requireSession(session), orThrow: .invalidSessionToken)
        }
        transaction.add(
            .delete(RowDeletion(className: SystemClasses.session, predicate: predicate)),
            orThrow: .objectNotFoundForDelete
        )
        if let userID = row.userID { transaction.notify(.user(userID)) }
        _ = try await context.commit(transaction)
        return [:]
    }
}

extension SessionAccess {
    /// The session of that id, if the caller may change it.
    static func reachable(_ sessionID: String, by principal: Principal) throws(ParseError) -> Predicate {
        if principal.isMaintenance { return .id(sessionID) }
        return .all([.id(sessionID), try ownRows(of: principal)])
    }
}
