/// The classes every app has, with the fields Parse gives them.
package enum SystemClasses {
    package static let user = "_User"
    package static let session = "_Session"

    /// Fields that every class has (Parse REST guide, "Object Format").
    package static let commonFields: [(String, FieldType)] = [
        ("objectId", .string), ("createdAt", .date), ("updatedAt", .date), ("ACL", .acl),
    ]

    private static let userFields: [(String, FieldType)] = [
        ("username", .string), ("password", .string), ("email", .string), ("emailVerified", .boolean),
        ("authData", .object),
    ]

    private static let sessionFields: [(String, FieldType)] = [
        ("user", .pointer(user)), ("installationId", .string), ("sessionToken", .string),
        ("expiresAt", .date), ("createdWith", .object),
    ]

    /// What a new app starts with.
    package static let schemas: [ClassSchema] = [
        ClassSchema(className: user, fields: commonFields + userFields),
        ClassSchema(className: session, fields: commonFields + sessionFields),
    ]

    /// Fields that the API shows but no column of that name holds: a password is stored as a hash, a session
    /// token as its SHA-256.
    package static func isVirtual(_ field: String, of className: String) -> Bool {
        (className == user && field == "password") || (className == session && field == "sessionToken")
    }
}

/// Columns that no client ever sees or names.
package enum HiddenField {
    /// Of a user: the password hash in its own text form, which names algorithm and parameters.
    package static let passwordHash = "_hashed_password"
    /// Of a user: SHA-256 of a session token from before revocable sessions.
    package static let legacyTokenHash = "_session_token"
    /// Of a session: SHA-256 of its token.
    package static let tokenHash = "_token_hash"
    /// Of a session: the last four characters of its token, to tell sessions apart in a list.
    package static let tokenTail = "_token_tail"

    package static func names(of className: String) -> [String] {
        switch className {
        case SystemClasses.user: [passwordHash, legacyTokenHash]
        case SystemClasses.session: [tokenHash, tokenTail]
        default: []
        }
    }
}

/// The form in which names and addresses are compared for uniqueness: without regard to case.
package enum UniqueKey {
    /// Unicode's full lower-casing, the same on every database.
    package static func fold(_ text: String) -> String {
        text.lowercased()
    }
}
