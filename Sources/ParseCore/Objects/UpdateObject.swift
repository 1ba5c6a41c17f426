package import JSON
import ParseWire

/// Changes fields of an object and leaves the others alone (Parse REST guide, "Updating Objects").
package struct UpdateObject: Sendable {
    package let className: String
    package let objectID: String
    package let body: JSONObject

    package init(className: String, objectID: String, body: JSONObject) {
        self.className = className
        self.objectID = objectID
        self.body = body
    }

    /// - Throws: ``ParseError``: 101 where there is no such object or the caller may not write it, 119 where the class
    ///   does not let it, 142 for taking the value off a required field, and what ``ObjectBody`` throws.
    package func run(in context: RequestContext) async throws -> SaveReply {
        let app = context.app
        let access = ClassAccess(className, in: context)
        try access.requireReachable(for: .update)
        try ObjectID.checkUnchanged(body, objectID)
        let fields = try fields(access, in: context)
        guard app.storage.schema[className] != nil else { throw ParseError.objectNotFound }
        let now = context.now
        var transaction = Transaction(schemaChanges: fields.schemaChanges)
        transaction.requireSession(of: context.principal)
        let position = transaction.add(
            .update(
                RowUpdate(
                    className: className,
                    predicate: Predicate.id(objectID).and(try access.filter(for: .update)),
                    access: context.principal.access,
                    changes: fields.changes,
                    acl: fields.acl,
                    updatedAt: now,
                    returnsRow: fields.changes.contains { $0.change.resultIsReturned }
                )
            ),
            orThrow: .objectNotFound
        )
        fields.addRelations(of: objectID, in: className, to: &transaction)
        RoleChange.notify(ofUpdating: fields, in: className, to: &transaction)
        let outcome = try await context.commit(transaction)

        var reply = fields.resultFields(of: outcome.updatedRows[position].first?.fields ?? [:])
        reply["updatedAt"] = .string(now.iso8601)
        return SaveReply(body: reply)
    }

    private func fields(_ access: ClassAccess, in context: RequestContext) throws(ParseError) -> ObjectBody {
        var own = body
        own["objectId"] = nil
        own["id"] = nil
        let fields = try ObjectBody(
            own,
            className: className,
            kind: .update,
            in: context.app,
            isMaster: context.principal.isUnrestricted
        )
        if fields.addsFields { _ = try access.filter(for: .addField, isUpdate: true) }
        try SystemClassRules.checkRemovals(of: className, fields)
        try access.schema?.checkRequired(fields.changes)
        return fields
    }
}

/// Deletes an object (Parse REST guide, "Deleting Objects").
package struct DeleteObject: Sendable {
    package let className: String
    package let objectID: String

    package init(className: String, objectID: String) {
        self.className = className
        self.objectID = objectID
    }

    /// - Throws: ``ParseError``: 101 where there is no such object or the caller may not write it, 119 where the class
    ///   does not let it.
    package func run(in context: RequestContext) async throws -> JSONObject {
        let access = ClassAccess(className, in: context)
        try access.requireReachable(for: .delete)
        let filter = try access.filter(for: .delete)
        guard try access.requireExistence(), context.app.storage.schema[className] != nil else {
            throw ParseError.objectNotFound
        }
        var transaction = Transaction()
        transaction.requireSession(of: context.principal)
        transaction.add(
            .delete(
                RowDeletion(
                    className: className,
                    predicate: Predicate.id(objectID).and(filter),
                    access: context.principal.access
                )
            ),
            orThrow: .objectNotFound
        )
        if className == SystemClasses.role { transaction.notify(.roles) }
        _ = try await context.commit(transaction)
        return [:]
    }
}
