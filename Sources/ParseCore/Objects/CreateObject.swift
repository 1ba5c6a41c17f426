package import JSON
import ParseWire

/// Makes an object (Parse REST guide, "Creating Objects").
package struct CreateObject: Sendable {
    package let className: String
    package let body: JSONObject

    package init(className: String, body: JSONObject) {
        self.className = className
        self.body = body
    }

    /// - Throws: ``ParseError``: 119 where the caller may not, 101 where it would have to log in, 104 or 105 for an id,
    ///   111 for a value of another type or a missing column of a system class, 137 for a value that is taken, 142 for a
    ///   missing required field, and what ``ObjectBody`` throws.
    package func run(in context: RequestContext) async throws -> SaveReply {
        let app = context.app
        let access = ClassAccess(className, in: context)
        try access.requireReachable(for: .create)
        let customID = try ObjectID.custom(body, of: className, in: app)
        let draft = try ObjectDraft(creating: body, access, in: context)
        let now = context.now
        let row = try draft.dated(
            StoredRow(
                objectID: customID ?? app.environment.newObjectID(),
                createdAt: now,
                updatedAt: now,
                acl: draft.acl,
                fields: draft.values
            ),
            by: context.principal
        )
        var transaction = Transaction(schemaChanges: draft.fields.schemaChanges)
        transaction.requireSession(of: context.principal)
        transaction.add(.insert(className: className, row))
        draft.fields.addRelations(of: row.objectID, in: className, to: &transaction)
        RoleChange.notify(ofCreating: draft.fields, in: className, to: &transaction)
        _ = try await context.commit(transaction)

        var reply: JSONObject = [
            "objectId": .string(row.objectID), "createdAt": .string(row.createdAt.iso8601),
        ]
        for member in draft.replyFields { reply[member.key] = member.value }
        return SaveReply(body: reply, location: .object(className, row.objectID), isNew: true)
    }
}

extension Transaction {
    /// A request whose session ended while it was on its way writes nothing more.
    package mutating func requireSession(of principal: Principal) {
        guard let session = principal.session else { return }
        add(.requireSession(session), orThrow: .invalidSessionToken)
    }
}
