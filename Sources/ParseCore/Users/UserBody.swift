package import Cryptography
package import JSON
import ParseWire

/// What a save says of a user, beyond its plain fields.
package struct UserBody: Sendable {
    /// The text of `username`, if the body has one; `convertUsernameToLowercase` is applied.
    package let username: String?
    package let password: String?
    /// A new address; `nil` when none is given or the present one is taken off.
    package let email: String?
    package let emailVerified: JSONValue?
    package let authData: JSONValue?
    /// Hidden fields that the maintenance key sets.
    package let hidden: [String: FieldValue]
    /// The members that are fields, ready for ``ObjectBody``.
    package let fields: JSONObject
    private let rawUsername: JSONValue?
    private let rawPassword: JSONValue?
    private let rawEmail: JSONValue?

    /// Takes a body apart; what is wrong with it is said by the `check` functions, in the order of the
    /// contract.
    package init(_ body: JSONObject, in context: RequestContext) {
        let options = context.app.options
        rawUsername = body["username"]
        rawPassword = body["password"]
        rawEmail = body["email"]
        authData = body["authData"]
        emailVerified = body["emailVerified"]
        username = rawUsername?.stringValue.map { options.convertUsernameToLowercase ? $0.lowercased() : $0 }
        password = rawPassword?.stringValue
        let address = rawEmail?.stringValue.map { options.convertEmailToLowercase ? $0.lowercased() : $0 }
        email = address.flatMap { $0.isEmpty ? nil : $0 }

        var fields = body
        var hidden: [String: FieldValue] = [:]
        // Replies carry these; a client that sends a user back as it got it must not store them.
        for name in ["authData", "sessionToken", "authDataResponse"] { fields[name] = nil }
        if let username { fields["username"] = .string(username) }
        if let address { fields["email"] = .string(address) }
        if context.principal.isMaintenance {
            if let hash = body[HiddenField.passwordHash]?.stringValue {
                hidden[HiddenField.passwordHash] = .string(hash)
                fields[HiddenField.passwordHash] = nil
            }
            if let token = body[HiddenField.legacyTokenHash]?.stringValue {
                hidden[HiddenField.legacyTokenHash] = LegacyToken.stored(token)
                fields[HiddenField.legacyTokenHash] = nil
            }
        }
        self.hidden = hidden
        self.fields = fields
    }

    /// A sign-up by password needs both.
    package func checkCredentials() throws(ParseError) {
        guard let username, !username.isEmpty else { throw .usernameMissing }
        guard let password, !password.isEmpty else { throw .passwordMissing }
    }

    /// Only the server knows whether an address was confirmed.
    package func checkEmailVerified(by principal: Principal) throws(ParseError) {
        if emailVerified != nil, !principal.isUnrestricted {
            throw ParseError(
                .operationForbidden,
                "Clients aren't allowed to manually update email verification."
            )
        }
    }

    /// Neither name nor password can be taken off a user.
    package func checkRemovals() throws(ParseError) {
        if let rawUsername, Self.isRemoval(rawUsername) { throw .usernameMissing }
        if let rawPassword, Self.isRemoval(rawPassword) { throw .passwordMissing }
    }

    /// Whether an address has the form of one: something, `@`, something.
    package func checkEmailFormat() throws(ParseError) {
        guard let email else { return }
        let characters = Array(email)
        // A line break in an address would end a header line of a mail to it.
        guard !characters.contains(where: \.isNewline) else { throw .invalidEmail }
        guard characters.dropFirst().dropLast().contains("@") else { throw .invalidEmail }
    }

    private static func isRemoval(_ json: JSONValue) -> Bool {
        json.isNull || json == "" || json["__op"] == "Delete"
    }
}

/// Session tokens from before revocable sessions, which imported users may still hold.
package enum LegacyToken {
    /// Only its SHA-256 is kept, as of any token.
    package static func stored(_ token: String) -> FieldValue {
        .binary(SHA256.hash(token).bytes)
    }
}

extension App {
    /// Whether another user than this has the name or the address.
    ///
    /// The unique indexes decide in the end; this is to say so before a password is hashed for nothing, and in
    /// the order of the contract.
    package func checkUnique(_ body: UserBody, except userID: String?) async throws {
        if let username = body.username {
            try await checkFree(.usernameKey(username), except: userID, error: .usernameTaken)
        }
        try body.checkEmailFormat()
        if let email = body.email {
            try await checkFree(.emailKey(email), except: userID, error: .emailTaken)
        }
    }

    private func checkFree(_ key: Predicate, except userID: String?, error: ParseError) async throws {
        let query = RowQuery(className: SystemClasses.user, predicate: key, limit: 2)
        let owners = try await reading { () throws(StorageError) in try await storage.find(query) }
        if owners.contains(where: { $0.objectID != userID }) { throw error }
    }

    /// Hashes a new password.
    package func hash(_ password: String, _ lane: HashingLane) async throws -> String {
        do {
            return try await environment.passwords.hash(password, lane: lane)
        } catch {
            throw Self.translated(error)
        }
    }

    /// Whether the password is the one of that hash; without a hash the same work is done in vain.
    package func verify(_ password: String, _ hash: String?, _ lane: HashingLane) async throws -> Bool {
        do {
            return try await environment.passwords.verify(password, against: hash, lane: lane)
        } catch {
            throw Self.translated(error)
        }
    }

    private static func translated(_ error: PasswordHashError) -> any Error {
        switch error {
        case .queueFull: ParseError.busyHashing
        case .cancelled: CancellationError()
        case .passwordContainsNUL:
            ParseError(.validationError, "A password cannot contain the character NUL.")
        default: error
        }
    }
}
