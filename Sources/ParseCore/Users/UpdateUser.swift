package import JSON
import Cryptography
import ParseWire

/// Changes a user (Parse REST guide, "Updating Users"); a new password ends its sessions.
package struct UpdateUser: Sendable {
    package let userID: String
    package let body: JSONObject

    package init(userID: String, body: JSONObject) {
        self.userID = userID
        self.body = body
    }

    package func run(in context: RequestContext) async throws -> SaveReply {
        do {
            return try await update(in: context)
        } catch let error as ParseError
            where error.code == .objectNotFound && !context.principal.isUnrestricted
        {
            // Whether the user exists, may be written, or a provider refused: a client learns only this.
            throw ParseError.insufficientAuth
        }
    }

    private func update(in context: RequestContext) async throws -> SaveReply {
        let app = context.app
        try context.refuseReadOnly("update")
        let user = UserBody(body, in: context)
        let link = try await link(user, in: context)
        try user.checkEmailVerified(by: context.principal)
        let access = ClassAccess(SystemClasses.user, in: context)
        if body["id"]?.isTruthy == true {
            throw ParseError(.invalidKeyName, "id is an invalid field name.")
        }
        let fields = try ObjectBody(
            withoutID(user.fields),
            className: SystemClasses.user,
            kind: .update,
            in: app
        )
        if let object = user.authData?.objectValue { try app.options.requestKeywordDenylist.check(object) }
        if fields.addsFields { _ = try access.filter(for: .addField, isUpdate: true) }
        try user.checkRemovals()
        try access.schema?.checkRequired(fields.changes)
        try await app.checkUnique(user, except: userID)
        if case .nobody = context.principal {
            throw ParseError(.sessionMissing, "Cannot modify user \(userID).")
        }

        var step = try await rowUpdate(user, fields, link, in: context)
        step.predicate = step.predicate.and(try access.filter(for: .update))
        let session = newSession(user, link, in: context)
        var transaction = Transaction(schemaChanges: fields.schemaChanges)
        transaction.requireSession(of: context.principal)
        let position = transaction.add(.update(step), orThrow: .objectNotFound)
        fields.addRelations(of: userID, in: SystemClasses.user, to: &transaction)
        if let link { transaction.add(link.validated.steps(for: userID, removing: link.removed)) }
        if user.password != nil {
            transaction.add(.unlink(userID: userID, providers: [AnonymousProvider.name]))
            if app.options.revokeSessionOnPasswordReset { transaction.add(.endSessions(of: userID)) }
        }
        if let session { transaction.add(session.steps) }
        transaction.notify(.user(userID))
        let outcome = try await context.commit(transaction)

        let row = outcome.updatedRows[position].first
        var reply: JSONObject = ["updatedAt": .string((step.updatedAt ?? app.now).iso8601)]
        for member in fields.resultFields(of: row?.fields ?? [:]) { reply[member.key] = member.value }
        if let session { reply["sessionToken"] = .string(session.token) }
        if let link { reply["authDataResponse"] = .object(link.validated.response) }
        return SaveReply(body: reply)
    }

    /// What the request changes about accounts at providers.
    private struct Link {
        var validated: ValidatedAuthData
        var removed: [String]
        /// All providers it names.
        var named: [String]
    }

    private func link(_ user: UserBody, in context: RequestContext) async throws -> Link? {
        guard let json = user.authData else { return nil }
        let sent = try AuthData(json)
        guard !sent.isEmpty else { return nil }
        let app = context.app
        let named = (sent.providers + sent.removed).sorted()
        guard !sent.sent.isEmpty else {
            return Link(validated: ValidatedAuthData(), removed: sent.removed, named: named)
        }
        let validated: ValidatedAuthData
        switch try await ProviderDecision.make(sent, current: userID, in: context) {
        case .nobodysAccount(let data): validated = data
        case .account(let owner):
            let stored = owner.fields["authData"]?.objectValue ?? JSONObject()
            validated = try await sent.changes(from: stored).validated(in: app)
        }
        return Link(validated: validated, removed: sent.removed, named: named)
    }

    /// The id in the body of an update says nothing.
    private func withoutID(_ fields: JSONObject) -> JSONObject {
        var fields = fields
        fields["objectId"] = nil
        fields["id"] = nil
        return fields
    }

    private func rowUpdate(
        _ user: UserBody,
        _ fields: ObjectBody,
        _ link: Link?,
        in context: RequestContext
    ) async throws -> RowUpdate {
        var changes = fields.changes.filter { $0.field != "password" }
        for index in changes.indices where changes[index].field == "email" {
            if case .set(.null) = changes[index].change { changes[index].change = .unset }
        }
        if let change = link?.validated.fieldChange(removing: link?.removed ?? []) {
            changes.append(("authData", change))
        }
        var hidden: [String: FieldValue?] = user.hidden.mapValues { $0 }
        if let password = user.password {
            let hash = try await context.app.hash(password, context.lane)
            hidden[HiddenField.passwordHash] = .some(.string(hash))
            // A token from before revocable sessions ends as sessions do.
            if hidden[HiddenField.legacyTokenHash] == nil { hidden[HiddenField.legacyTokenHash] = .some(nil) }
            // Whoever still knows the anonymous id must not get into an account with a password.
            changes.append(("authData", .merge([AnonymousProvider.name: nil])))
        }
        var acl = fields.acl
        if !context.principal.isUnrestricted { acl?.grantAll(to: userID) }
        return RowUpdate(
            className: SystemClasses.user,
            predicate: .id(userID),
            access: context.principal.access,
            changes: changes,
            hidden: hidden,
            acl: acl,
            updatedAt: context.app.now
        )
    }

    /// After a new password the owner goes on with a new session; the master key gets one for a user it links
    /// to an account.
    private func newSession(_ user: UserBody, _ link: Link?, in context: RequestContext) -> NewSession? {
        let createdWith = link.map { CreatedWith.logIn($0.named) }
        let isOwner = context.principal.userID == userID
        let isMasterLink = context.principal.isMaster && link?.validated.stored.isEmpty == false
        guard (isOwner && user.password != nil) || isMasterLink else { return nil }
        guard context.installationID != "cloud" else { return nil }
        return NewSession(
            for: userID,
            in: context.app,
            createdWith: createdWith,
            installationID: context.installationID
        )
    }
}
