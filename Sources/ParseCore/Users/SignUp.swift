package import JSON
import Cryptography
import ParseWire

/// Makes a user and logs it in; with `authData` of a known account it logs that user in instead.
///
/// (Parse REST guide, "Signing Up" and "Linking Users".)
package struct SignUp: Sendable {
    package let body: JSONObject

    package init(body: JSONObject) {
        self.body = body
    }

    package func run(in context: RequestContext) async throws -> SaveReply {
        let app = context.app
        let access = ClassAccess(SystemClasses.user, in: context)
        try access.requireReachable(for: .create)
        let customID = try ObjectID.custom(body, of: SystemClasses.user, in: app)
        let user = UserBody(body, in: context)
        let authData = try AuthData.ofSignUp(user.authData, in: app)
        if authData == nil {
            if !(context.principal.isMaintenance && user.hidden[HiddenField.passwordHash] != nil) {
                try user.checkCredentials()
            }
            if let json = user.authData, json.objectValue == nil { _ = try AuthData(json) }
        }
        var validated: ValidatedAuthData?
        if let authData {
            switch try await ProviderDecision.make(authData, current: context.principal.userID, in: context) {
            case .nobodysAccount(let data): validated = data
            case .account(let owner):
                return try await ProviderLogIn(user: owner, authData: authData).run(in: context)
            }
        }
        try user.checkEmailVerified(by: context.principal)
        let fields = try ObjectBody(user.fields, className: SystemClasses.user, kind: .create, in: app)
        if fields.addsFields { _ = try access.filter(for: .addField) }
        if let object = user.authData?.objectValue { try app.options.requestKeywordDenylist.check(object) }
        _ = try access.filter(for: .create)
        try await app.checkUnique(user, except: nil)

        let draft = try await draft(user, fields, validated, id: customID, in: context)
        var transaction = Transaction(schemaChanges: fields.schemaChanges)
        transaction.requireSession(of: context.principal)
        transaction.add(.insert(className: SystemClasses.user, draft.row))
        fields.addRelations(of: draft.row.objectID, in: SystemClasses.user, to: &transaction)
        if let validated { transaction.add(validated.steps(for: draft.row.objectID, removing: [])) }
        let session = session(for: draft.row.objectID, validated, in: context)
        if let session { transaction.add(session.steps) }
        _ = try await context.commit(transaction)
        return reply(draft, fields, validated, session)
    }

    private struct Draft {
        var row: StoredRow
        var generatedUsername: String?
        /// Fields that the class filled in.
        var defaults: JSONObject
    }

    private func draft(
        _ user: UserBody,
        _ fields: ObjectBody,
        _ validated: ValidatedAuthData?,
        id: String?,
        in context: RequestContext
    ) async throws -> Draft {
        let app = context.app
        var values = try fields.initialValues()
        values["password"] = nil
        var generated: String?
        if user.username?.isEmpty ?? true {
            let name = SecureRandom.alphanumeric(25)
            generated = name
            values["username"] = .string(name)
        }
        if case .null = values["email"] { values["email"] = nil }
        if let data = try validated?.fieldChange(removing: [])?.applied(to: nil) { values["authData"] = data }
        let schema = app.storage.schema[SystemClasses.user]
        let defaults = try schema?.fillDefaults(&values) ?? [:]
        var present = values
        // A password is there, though no field holds it.
        if let password = user.password { present["password"] = .string(password) }
        try schema?.checkRequired(present)
        var hidden = user.hidden
        if let password = user.password, !password.isEmpty {
            hidden[HiddenField.passwordHash] = .string(try await app.hash(password, context.lane))
        }
        let id = id ?? app.environment.newObjectID()
        var acl = fields.acl ?? .ofNewUser(id, isPublic: !app.options.enforcePrivateUsers)
        acl.grantAll(to: id)
        let now = app.now
        var dates = (created: now, updated: now)
        if context.principal.isMaintenance, let created = fields.createdAt {
            dates = (created, fields.updatedAt ?? created)
            guard dates.updated >= dates.created else {
                throw ParseError(.validationError, "updatedAt cannot occur before createdAt")
            }
        }
        let row = StoredRow(
            objectID: id,
            createdAt: dates.created,
            updatedAt: dates.updated,
            acl: acl,
            fields: values,
            hidden: hidden
        )
        return Draft(row: row, generatedUsername: generated, defaults: defaults)
    }

    /// None for the installation `cloud`, which stands for the server itself, and none for a user that a
    /// logged-in one makes from an account at a provider.
    private func session(
        for userID: String,
        _ validated: ValidatedAuthData?,
        in context: RequestContext
    ) -> NewSession? {
        guard context.installationID != "cloud" else { return nil }
        if validated != nil, context.principal.session != nil { return nil }
        return NewSession(
            for: userID,
            in: context.app,
            createdWith: validated.map { CreatedWith.logIn($0.stored.map(\.provider)) } ?? CreatedWith.signUp,
            installationID: context.installationID
        )
    }

    private func reply(
        _ draft: Draft,
        _ fields: ObjectBody,
        _ validated: ValidatedAuthData?,
        _ session: NewSession?
    ) -> SaveReply {
        var reply: JSONObject = [
            "objectId": .string(draft.row.objectID), "createdAt": .string(draft.row.createdAt.iso8601),
        ]
        for member in fields.resultFields(of: draft.row.fields) { reply[member.key] = member.value }
        for member in draft.defaults { reply[member.key] = member.value }
        if let name = draft.generatedUsername { reply["username"] = .string(name) }
        if let session { reply["sessionToken"] = .string(session.token) }
        if let validated { reply["authDataResponse"] = .object(validated.response) }
        return SaveReply(body: reply, location: .user(draft.row.objectID), isNew: true)
    }
}

/// The values of the field `createdWith` of a session.
package enum CreatedWith {
    package static let signUp: JSONObject = ["action": "signup", "authProvider": "password"]
    package static let logIn: JSONObject = ["action": "login", "authProvider": "password"]
    package static let masterKey: JSONObject = ["action": "login", "authProvider": "masterkey"]
    package static let create: JSONObject = ["action": "create"]
    package static let upgrade: JSONObject = ["action": "upgrade"]

    package static func logIn(_ providers: [String]) -> JSONObject {
        ["action": "login", "authProvider": .string(providers.joined(separator: ","))]
    }
}
