import JSON
import ParseWire

/// Carries out what was decided about a save of an installation.
struct InstallationSave {
    private static let className = SystemClasses.installation
    /// How often a save is decided again that another one overtakes.
    private static let attempts = 4

    let access: ClassAccess
    let context: RequestContext

    /// Runs a decision and its write, again when it fails with one of these, since the database may have changed in
    /// between.
    static func retrying(
        _ codes: Set<ParseErrorCode>,
        in context: RequestContext,
        _ body: () async throws -> SaveReply
    ) async throws -> SaveReply {
        var attempt = 1
        while true {
            do {
                return try await body()
            } catch let error as ParseError {
                guard let code = error.code, codes.contains(code), attempt < attempts,
                    context.jointCommit == nil
                else { throw error }
                attempt += 1
            }
        }
    }

    /// The installations that a save can be about, whoever may read them.
    ///
    /// Of those that share the token no more than it takes to see that there are several.
    func rows(_ sent: InstallationMerge.Sent, objectID: String?) async throws -> [StoredRow] {
        var ids: [Predicate] = []
        if let objectID { ids.append(.id(objectID)) }
        if let id = sent.installationID { ids.append(.equal("installationId", .string(id))) }
        var rows: [StoredRow] = []
        if !ids.isEmpty { rows = try await self.rows(.any(ids), limit: ids.count) }
        if let token = sent.deviceToken {
            let known = rows
            rows += try await self.rows(.equal("deviceToken", .string(token)), limit: 3)
                .filter { row in !known.contains { $0.objectID == row.objectID } }
        }
        return rows
    }

    private func rows(_ predicate: Predicate, limit: Int) async throws -> [StoredRow] {
        try await context.app.rows(
            RowQuery(className: Self.className, predicate: predicate, limit: limit)
        )
    }

    func create(_ sent: InstallationBody, _ cleanUp: InstallationMerge.CleanUp?) async throws -> SaveReply {
        let app = context.app
        var sent = sent
        sent.adopt(sent.ids.installationID)
        let customID = try ObjectID.custom(sent.fields, of: Self.className, in: app)
        let draft = try ObjectDraft(creating: sent.fields, access, in: context)
        let now = app.now
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
        add(cleanUp, to: &transaction)
        transaction.add(.insert(className: Self.className, row))
        draft.fields.addRelations(of: row.objectID, in: Self.className, to: &transaction)
        _ = try await context.commit(transaction)
        var reply: JSONObject = [
            "objectId": .string(row.objectID), "createdAt": .string(row.createdAt.iso8601),
        ]
        for member in draft.replyFields { reply[member.key] = member.value }
        return SaveReply(body: reply, location: .object(Self.className, row.objectID), isNew: true)
    }

    /// Changes the row that stays, when those that clash with it are out of the way.
    ///
    /// - Parameters:
    ///   - objectID: The row that stays.
    ///   - sent: What it gets.
    ///   - cleanUp: The rows that go.
    ///   - installationID: Its id, when none was sent.
    ///   - replaced: The row that the caller addressed, when it is another; it must be the caller's to write.
    /// - Returns: The date of the change, and what the caller cannot know.
    /// - Throws: ``ParseError`` 101 where the row is gone or not the caller's to write, and what a save throws.
    func update(
        _ objectID: String,
        _ sent: InstallationBody,
        _ cleanUp: InstallationMerge.CleanUp?,
        adopting installationID: String?,
        giving replaced: String? = nil
    ) async throws -> SaveReply {
        var sent = sent
        sent.adopt(installationID)
        let fields = try fields(sent.fields)
        let filter = try access.filter(for: .update)
        guard context.app.storage.schema[Self.className] != nil else { throw ParseError.objectNotFound }
        let now = context.app.now
        var transaction = Transaction(schemaChanges: fields.schemaChanges)
        transaction.requireSession(of: context.principal)
        func rowUpdate(_ id: String) -> RowUpdate {
            RowUpdate(
                className: Self.className,
                predicate: Predicate.id(id).and(filter),
                access: context.principal.access,
                updatedAt: now
            )
        }
        if let replaced { transaction.add(.update(rowUpdate(replaced)), orThrow: .objectNotFound) }
        add(cleanUp, to: &transaction)
        var update = rowUpdate(objectID)
        update.changes = fields.changes
        update.acl = fields.acl
        let position = transaction.add(.update(update), orThrow: .objectNotFound)
        fields.addRelations(of: objectID, in: Self.className, to: &transaction)
        let outcome = try await context.commit(transaction)
        var reply = fields.resultFields(of: outcome.updatedRows[position].first?.fields ?? [:])
        reply["updatedAt"] = .string(now.iso8601)
        return SaveReply(body: reply)
    }

    private func fields(_ json: JSONObject) throws(ParseError) -> ObjectBody {
        var own = json
        own["objectId"] = nil
        own["id"] = nil
        let fields = try ObjectBody(
            own,
            className: Self.className,
            kind: .update,
            in: context.app,
            isMaster: context.principal.isUnrestricted
        )
        if fields.addsFields { _ = try access.filter(for: .addField, isUpdate: true) }
        try access.schema?.checkRequired(fields.changes)
        return fields
    }

    private func add(_ cleanUp: InstallationMerge.CleanUp?, to transaction: inout Transaction) {
        guard let cleanUp else { return }
        let options = context.app.options.installation
        let rights: RowAccess =
            options.duplicateDeviceTokenActionEnforceAuth ? context.principal.access : .unrestricted
        switch options.duplicateDeviceTokenAction {
        case .delete:
            transaction.add(
                .delete(
                    RowDeletion(
                        className: Self.className,
                        predicate: cleanUp.rows,
                        access: rights,
                        mustMatch: false
                    )
                )
            )
        case .update:
            transaction.add(
                .update(
                    RowUpdate(
                        className: Self.className,
                        predicate: cleanUp.rows,
                        access: rights,
                        changes: [(cleanUp.field, .unset)],
                        updatedAt: context.app.now,
                        mustMatch: false
                    )
                )
            )
        }
    }
}
