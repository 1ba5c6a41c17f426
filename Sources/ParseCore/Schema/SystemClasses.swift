/// The classes every app has, with the fields Parse gives them.
package enum SystemClasses {
    package static let user = "_User"
    package static let session = "_Session"
    package static let role = "_Role"
    package static let installation = "_Installation"
    package static let product = "_Product"
    package static let config = "_GlobalConfig"
    package static let idempotency = "_Idempotency"

    /// Fields that every class has (Parse REST guide, "Object Format").
    package static let commonFields: [(String, FieldType)] = [
        ("objectId", .string), ("createdAt", .date), ("updatedAt", .date), ("ACL", .acl),
    ]

    /// The fields that a class of Parse's own has beyond these; `nil` for a class that clients made.
    package static func fields(of className: String) -> [(String, FieldType)]? {
        systemFields[className]
    }

    /// Whether Parse gives the class that field, so that clients can neither define nor drop it.
    package static func isDefault(_ field: String, of className: String) -> Bool {
        commonFields.contains { $0.0 == field } || (systemFields[className] ?? []).contains { $0.0 == field }
    }

    /// Classes that an app has from the start; the other system classes are made when they are first used.
    package static let initial = [user, session, role]

    /// What a new app starts with.
    package static let schemas: [ClassSchema] = initial.map(schema)

    /// A system class as it is when nobody has added to it.
    package static func schema(of className: String) -> ClassSchema {
        ClassSchema(className: className, fields: commonFields + (systemFields[className] ?? []))
    }

    package static func isSystem(_ className: String) -> Bool {
        systemFields[className] != nil
    }

    /// Classes of the server's own bookkeeping, which only the master key reaches.
    package static let volatile: Set<String> = [
        "_JobStatus", "_PushStatus", "_Hooks", "_GlobalConfig", "_GraphQLConfig", "_JobSchedule", "_Audience",
        "_Idempotency",
    ]

    /// Fields that no two rows of a class have the same value in; those without a value do not count.
    package static func uniqueFields(of className: String) -> [String] {
        switch className {
        case role: ["name"]
        case installation: ["installationId"]
        case idempotency: ["reqId"]
        default: []
        }
    }

    private static let systemFields: [String: [(String, FieldType)]] = [
        user: [
            ("username", .string), ("password", .string), ("email", .string), ("emailVerified", .boolean),
            ("authData", .object),
        ],
        session: [
            ("user", .pointer(user)), ("installationId", .string), ("sessionToken", .string),
            ("expiresAt", .date), ("createdWith", .object),
        ],
        role: [("name", .string), ("users", .relation(user)), ("roles", .relation(role))],
        installation: [
            ("installationId", .string), ("deviceToken", .string), ("channels", .array),
            ("deviceType", .string), ("pushType", .string), ("GCMSenderId", .string), ("timeZone", .string),
            ("localeIdentifier", .string), ("badge", .number), ("appVersion", .string), ("appName", .string),
            ("appIdentifier", .string), ("parseVersion", .string),
        ],
        product: [
            ("productIdentifier", .string), ("download", .file), ("downloadName", .string), ("icon", .file),
            ("order", .number), ("title", .string), ("subtitle", .string),
        ],
        "_PushStatus": [
            ("pushTime", .string), ("source", .string), ("query", .string), ("payload", .string),
            ("title", .string), ("expiry", .number), ("expiration_interval", .number), ("status", .string),
            ("numSent", .number), ("numFailed", .number), ("pushHash", .string), ("errorMessage", .object),
            ("sentPerType", .object), ("failedPerType", .object), ("sentPerUTCOffset", .object),
            ("failedPerUTCOffset", .object), ("count", .number),
        ],
        "_JobStatus": [
            ("jobName", .string), ("source", .string), ("status", .string), ("message", .string),
            ("params", .object), ("finishedAt", .date),
        ],
        "_JobSchedule": [
            ("jobName", .string), ("description", .string), ("params", .string), ("startAfter", .string),
            ("daysOfWeek", .array), ("timeOfDay", .string), ("lastRun", .number), ("repeatMinutes", .number),
        ],
        "_Hooks": [
            ("functionName", .string), ("className", .string), ("triggerName", .string), ("url", .string),
        ],
        config: [("params", .object), ("masterKeyOnly", .object)],
        "_GraphQLConfig": [("config", .object)],
        "_Audience": [
            ("name", .string), ("query", .string), ("lastUsed", .date), ("timesUsed", .number),
        ],
        idempotency: [("reqId", .string), ("expire", .date)],
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
