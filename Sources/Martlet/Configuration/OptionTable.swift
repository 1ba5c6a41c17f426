import Cryptography
import JSON
import ParseCore

/// One option of the server, by parse-server's name or our own.
struct OptionDefinition: Sendable {
    /// How a value in the environment, which is always text, is read.
    enum Form: Sendable {
        case bool, number, text, list, json
    }

    /// Where the option acts.
    enum Effect: Sendable {
        /// On every app, or on one.
        case app(@Sendable (inout AppOptions, OptionValue) throws -> Void)
        /// On the keys of an app.
        case keys(@Sendable (inout AppKeyOptions, OptionValue) throws -> Void)
        /// On the process; not to be set for one app.
        case server(@Sendable (inout ServerOptions, OptionValue) throws -> Void)
        /// The option exists in parse-server; here it does nothing yet.
        case notBuilt
    }

    let name: String
    let environmentName: String?
    let form: Form
    let effect: Effect

    init(_ name: String, _ environmentName: String?, _ form: Form, _ effect: Effect) {
        self.name = name
        self.environmentName = environmentName
        self.form = form
        self.effect = effect
    }

    /// Every option that is known, whether it is built or not.
    static let all: [OptionDefinition] = appOptions + keyOptions + serverOptions + notBuilt

    static let byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    private static func prefixed(_ suffix: String) -> String {
        "PARSE_SERVER_" + suffix
    }

    private static let appOptions: [OptionDefinition] = [
        .init(
            "sessionLength",
            prefixed("SESSION_LENGTH"),
            .number,
            .app {
                $0.sessionLength = try $1.number(in: 1...3_153_600_000)
            }
        ),
        .init(
            "expireInactiveSessions",
            prefixed("EXPIRE_INACTIVE_SESSIONS"),
            .bool,
            .app {
                $0.expireInactiveSessions = try $1.bool()
            }
        ),
        .init(
            "extendSessionOnUse",
            prefixed("EXTEND_SESSION_ON_USE"),
            .bool,
            .app {
                $0.extendSessionOnUse = try $1.bool()
            }
        ),
        .init(
            "revokeSessionOnPasswordReset",
            prefixed("REVOKE_SESSION_ON_PASSWORD_RESET"),
            .bool,
            .app {
                $0.revokeSessionOnPasswordReset = try $1.bool()
            }
        ),
        .init(
            "enableAnonymousUsers",
            prefixed("ENABLE_ANON_USERS"),
            .bool,
            .app {
                $0.enableAnonymousUsers = try $1.bool()
            }
        ),
        .init(
            "enforcePrivateUsers",
            prefixed("ENFORCE_PRIVATE_USERS"),
            .bool,
            .app {
                $0.enforcePrivateUsers = try $1.bool()
            }
        ),
        .init(
            "allowCustomObjectId",
            prefixed("ALLOW_CUSTOM_OBJECT_ID"),
            .bool,
            .app {
                $0.allowCustomObjectId = try $1.bool()
            }
        ),
        .init(
            "allowClientClassCreation",
            prefixed("ALLOW_CLIENT_CLASS_CREATION"),
            .bool,
            .app {
                $0.allowClientClassCreation = try $1.bool()
            }
        ),
        .init(
            "convertEmailToLowercase",
            prefixed("CONVERT_EMAIL_TO_LOWERCASE"),
            .bool,
            .app {
                $0.convertEmailToLowercase = try $1.bool()
            }
        ),
        .init(
            "convertUsernameToLowercase",
            prefixed("CONVERT_USERNAME_TO_LOWERCASE"),
            .bool,
            .app {
                $0.convertUsernameToLowercase = try $1.bool()
            }
        ),
        .init(
            "masterKeyIps",
            prefixed("MASTER_KEY_IPS"),
            .list,
            .app {
                $0.masterKeyIPs = try $1.addresses()
            }
        ),
        .init(
            "maintenanceKeyIps",
            prefixed("MAINTENANCE_KEY_IPS"),
            .list,
            .app {
                $0.maintenanceKeyIPs = try $1.addresses()
            }
        ),
        .init(
            "allowOrigin",
            prefixed("ALLOW_ORIGIN"),
            .list,
            .app {
                $0.allowOrigin = try $1.headerValues()
                if $0.allowOrigin == ["*"] { $0.allowOrigin = [] }
            }
        ),
        .init(
            "allowHeaders",
            prefixed("ALLOW_HEADERS"),
            .list,
            .app { $0.allowHeaders = try $1.headerValues() }
        ),
        .init("trustProxy", prefixed("TRUST_PROXY"), .json, .app { $0.trustProxy = try $1.proxyTrust() }),
        .init(
            "maxUploadSize",
            prefixed("MAX_UPLOAD_SIZE"),
            .text,
            .app { $0.maxUploadSize = try $1.bytes() }
        ),
        .init(
            "defaultLimit",
            prefixed("DEFAULT_LIMIT"),
            .number,
            .app { $0.defaultLimit = try $1.integer(in: 1...1_000_000) }
        ),
        .init(
            "maxLimit",
            prefixed("MAX_LIMIT"),
            .number,
            .app { $0.maxLimit = try $1.integer(in: 1...1_000_000) }
        ),
        .init(
            "fileUpload",
            prefixed("FILE_UPLOAD_OPTIONS"),
            .json,
            .app { $0.fileUpload = try $1.fileUpload(over: $0.fileUpload) }
        ),
        .init(
            "preserveFileName",
            prefixed("PRESERVE_FILE_NAME"),
            .bool,
            .app { $0.preserveFileName = try $1.bool() }
        ),
        .init(
            "requestKeywordDenylist",
            prefixed("REQUEST_KEYWORD_DENYLIST"),
            .json,
            .app {
                $0.requestKeywordDenylist = try $1.denylist()
            }
        ),
        .init(
            "requestComplexity",
            prefixed("REQUEST_COMPLEXITY"),
            .json,
            .app {
                $0.batchRequestLimit = try $1.batchRequestLimit(otherwise: $0.batchRequestLimit)
            }
        ),
        .init(
            "protectedFields",
            prefixed("PROTECTED_FIELDS"),
            .json,
            .app { $0.protectedFields = try $1.protectedFields(over: $0.protectedFields) }
        ),
        .init(
            "schema",
            prefixed("SCHEMA"),
            .json,
            .app {
                $0.lockSchemas = try $1.flag("lockSchemas", otherwise: $0.lockSchemas)
            }
        ),
        .init(
            "security",
            prefixed("SECURITY"),
            .json,
            .app {
                $0.enableSecurityCheck = try $1.flag("enableCheck", otherwise: $0.enableSecurityCheck)
            }
        ),
        .init(
            "idempotencyOptions",
            prefixed("EXPERIMENTAL_IDEMPOTENCY_OPTIONS"),
            .json,
            .app {
                $0.idempotency = try $1.idempotency()
            }
        ),
        .init(
            "installation",
            prefixed("INSTALLATION"),
            .json,
            .app {
                try $1.readInstallation(&$0.installation)
            }
        ),
        .init(
            "publicServerURL",
            "PARSE_PUBLIC_SERVER_URL",
            .text,
            .app {
                $0.publicServerURL = try $1.webAddress()
            }
        ),
    ]

    private static let keyOptions: [OptionDefinition] = [
        .init("clientKey", prefixed("CLIENT_KEY"), .text, .keys { $0.clientKey = try $1.string() }),
        .init("restAPIKey", prefixed("REST_API_KEY"), .text, .keys { $0.restAPIKey = try $1.string() }),
        .init(
            "javascriptKey",
            prefixed("JAVASCRIPT_KEY"),
            .text,
            .keys { $0.javascriptKey = try $1.string() }
        ),
        .init("dotNetKey", prefixed("DOT_NET_KEY"), .text, .keys { $0.dotNetKey = try $1.string() }),
        .init("masterKey", prefixed("MASTER_KEY"), .text, .keys { $0.masterKey = try $1.nonEmptyString() }),
        .init(
            "readOnlyMasterKey",
            prefixed("READ_ONLY_MASTER_KEY"),
            .text,
            .keys {
                $0.readOnlyMasterKey = try $1.nonEmptyString()
            }
        ),
        .init(
            "maintenanceKey",
            prefixed("MAINTENANCE_KEY"),
            .text,
            .keys { $0.maintenanceKey = try $1.nonEmptyString() }
        ),
    ]

    private static let serverOptions: [OptionDefinition] = [
        .init(
            "appId",
            prefixed("APPLICATION_ID"),
            .text,
            .server {
                let id = try $1.nonEmptyString()
                guard id.utf8.count <= DataFolder.appIDLimit else {
                    throw $1.error("a text of at most \(DataFolder.appIDLimit) bytes")
                }
                $0.pinnedAppID = id
            }
        ),
        .init("appName", prefixed("APP_NAME"), .text, .server { $0.pinnedAppName = try $1.string() }),
        .init("serverURL", prefixed("URL"), .text, .server { $0.serverURL = try $1.webAddress() }),
        .init(
            "mountPath",
            prefixed("MOUNT_PATH"),
            .text,
            .server { _, value in
                guard ["/", "/parse", "/1"].contains(try value.string()) else {
                    throw value.error("\"/\", \"/parse\" or \"/1\": the API answers at these three")
                }
            }
        ),
        .init("host", prefixed("HOST"), .text, .server { $0.host = try $1.nonEmptyString() }),
        .init("port", "PORT", .number, .server { $0.port = try $1.integer(in: 0...65535) }),
        .init(
            "databaseURI",
            prefixed("DATABASE_URI"),
            .text,
            .server { $0.databaseURL = try $1.databaseURL() }
        ),
        .init(
            "passwordHash",
            "MARTLET_PASSWORD_HASH",
            .text,
            .server {
                guard let algorithm = PasswordAlgorithm(configurationName: try $1.string()) else {
                    throw $1.error("\"argon2id\" or \"bcrypt\"")
                }
                $0.passwordAlgorithm = algorithm
            }
        ),
    ]

    private static let notBuilt: [OptionDefinition] = [
        ("accountLockout", "ACCOUNT_LOCKOUT"), ("allowExpiredAuthDataToken", "ALLOW_EXPIRED_AUTH_DATA_TOKEN"),
        ("auth", "AUTH_PROVIDERS"), ("cacheMaxSize", "CACHE_MAX_SIZE"), ("cacheTTL", "CACHE_TTL"),
        ("cloud", "CLOUD"), ("customPages", "CUSTOM_PAGES"),
        ("emailAdapter", "EMAIL_ADAPTER"),
        ("emailVerifySuccessOnInvalidEmail", "EMAIL_VERIFY_SUCCESS_ON_INVALID_EMAIL"),
        ("emailVerifyTokenReuseIfValid", "EMAIL_VERIFY_TOKEN_REUSE_IF_VALID"),
        ("emailVerifyTokenValidityDuration", "EMAIL_VERIFY_TOKEN_VALIDITY_DURATION"),
        ("enableCollationCaseComparison", "ENABLE_COLLATION_CASE_COMPARISON"),
        ("enableExpressErrorHandler", "ENABLE_EXPRESS_ERROR_HANDLER"),
        ("enableSanitizedErrorResponse", "ENABLE_SANITIZED_ERROR_RESPONSE"),
        ("filesAdapter", "FILES_ADAPTER"), ("graphQLPath", "GRAPHQL_PATH"),
        ("liveQuery", "LIVE_QUERY"),
        ("mountGraphQL", "MOUNT_GRAPHQL"), ("objectIdSize", "OBJECT_ID_SIZE"),
        ("pages", "PAGES"), ("passwordPolicy", "PASSWORD_POLICY"),
        ("preventLoginWithUnverifiedEmail", "PREVENT_LOGIN_WITH_UNVERIFIED_EMAIL"),
        ("preventSignupWithUnverifiedEmail", "PREVENT_SIGNUP_WITH_UNVERIFIED_EMAIL"),
        ("push", "PUSH"), ("rateLimit", "RATE_LIMIT"),
        ("readOnlyMasterKeyIps", "READ_ONLY_MASTER_KEY_IPS"), ("scheduledPush", "SCHEDULED_PUSH"),
        ("sendUserEmailVerification", "SEND_USER_EMAIL_VERIFICATION"),
        ("startLiveQueryServer", "START_LIVE_QUERY_SERVER"),
        ("userSensitiveFields", "USER_SENSITIVE_FIELDS"), ("verifyUserEmails", "VERIFY_USER_EMAILS"),
        ("webhookKey", "WEBHOOK_KEY"),
    ].map { OptionDefinition($0.0, prefixed($0.1), .json, .notBuilt) }
}

extension OptionValue {
    /// Texts that can stand in a header line.
    fileprivate func headerValues() throws(ConfigurationError) -> [String] {
        let texts = try strings()
        guard texts.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } && !$0.isEmpty }) else {
            throw error("a list of texts of printable ASCII characters")
        }
        return texts
    }

    fileprivate func proxyTrust() throws(ConfigurationError) -> ProxyTrust {
        if let flag = json.boolValue { return flag ? .everybody : .nobody }
        if json.numberValue != nil { return .hops(try integer(in: 0...100)) }
        let presets = [
            "loopback": ["127.0.0.1/8", "::1/128"], "linklocal": ["169.254.0.0/16", "fe80::/10"],
            "uniquelocal": ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
        ]
        var ranges: [IPRange] = []
        for text in try strings() {
            for part in text.split(separator: ",") {
                let entry = String(part.filter { $0 != " " })
                for address in presets[entry] ?? [entry] {
                    guard let range = IPRange(address) else {
                        throw error("true, false, a number of proxies, or a list of addresses")
                    }
                    ranges.append(range)
                }
            }
        }
        return ranges.isEmpty ? .nobody : .ranges(ranges)
    }

    fileprivate func denylist() throws(ConfigurationError) -> KeywordDenylist {
        let rule = "a list of objects with the keys \"key\" and \"value\""
        guard let elements = json.arrayValue else { throw error(rule) }
        var rules: [KeywordDenylist.Rule] = []
        for element in elements {
            guard let object = element.objectValue, Set(object.keys).isSubset(of: ["key", "value"]),
                !object.isEmpty,
                object["key"] == nil || object["key"]?.stringValue != nil
            else { throw error(rule) }
            for pattern in [object["key"]?.stringValue, object["value"]?.stringValue].compactMap({ $0 }) {
                guard KeywordDenylist.isUsable(pattern) else {
                    throw error("a list of rules whose texts are regular expressions; \"\(pattern)\" is none")
                }
            }
            rules.append(KeywordDenylist.Rule(key: object["key"]?.stringValue, value: object["value"]))
        }
        return KeywordDenylist(rules: rules)
    }

    /// Members that are not given stay as they were.
    fileprivate func fileUpload(over present: FileUploadPolicy) throws(ConfigurationError) -> FileUploadPolicy
    {
        guard let object = json.objectValue else { throw error("an object") }
        var policy = present
        for member in object {
            let value = OptionValue(name: "\(name).\(member.key)", json: member.value)
            switch member.key {
            case "enableForPublic": policy.enableForPublic = try value.bool()
            case "enableForAnonymousUser": policy.enableForAnonymousUser = try value.bool()
            case "enableForAuthenticatedUser": policy.enableForAuthenticatedUser = try value.bool()
            case "fileExtensions": policy.fileExtensions = try value.patterns()
            case "allowedFileUrlDomains":
                throw ConfigurationError("The option \"\(value.name)\" is known but not built yet.")
            default: throw ConfigurationError("Unknown option \"\(value.name)\".")
            }
        }
        return policy
    }

    /// Regular expressions, or `*` for everything.
    private func patterns() throws(ConfigurationError) -> [String] {
        let texts = try strings()
        if let wrong = texts.first(where: { $0 != "*" && !ConfiguredPattern.isUsable($0) }) {
            throw error("a list of regular expressions; \"\(wrong)\" is none")
        }
        return texts
    }

    /// The one member of an object option that is built.
    fileprivate func flag(_ member: String, otherwise present: Bool) throws(ConfigurationError) -> Bool {
        guard let object = json.objectValue else { throw error("an object") }
        for key in object.keys where key != member {
            throw ConfigurationError("The option \"\(name).\(key)\" is known but not built yet.")
        }
        guard let json = object[member] else { return present }
        return try OptionValue(name: "\(name).\(member)", json: json).bool()
    }

    fileprivate func readInstallation(_ options: inout InstallationOptions) throws(ConfigurationError) {
        guard let object = json.objectValue else { throw error("an object") }
        for member in object {
            let value = OptionValue(name: "\(name).\(member.key)", json: member.value)
            switch member.key {
            case "duplicateDeviceTokenAction": options.duplicateDeviceTokenAction = try value.choice()
            case "duplicateDeviceTokenMergePriority":
                options.duplicateDeviceTokenMergePriority = try value.choice()
            case "duplicateDeviceTokenActionEnforceAuth":
                options.duplicateDeviceTokenActionEnforceAuth = try value.bool()
            default: throw ConfigurationError("Unknown option \"\(value.name)\".")
            }
        }
    }

    /// One of a few words.
    private func choice<Choice: RawRepresentable<String> & CaseIterable>() throws(ConfigurationError)
        -> Choice
    {
        guard let choice = json.stringValue.flatMap(Choice.init(rawValue:)) else {
            throw error(Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or "))
        }
        return choice
    }

    fileprivate func idempotency() throws(ConfigurationError) -> IdempotencyOptions? {
        guard let object = json.objectValue, Set(object.keys).isSubset(of: ["paths", "ttl"]) else {
            throw error("an object with the keys \"paths\" and \"ttl\"")
        }
        let paths = try object["paths"].map { (json) throws(ConfigurationError) in
            try OptionValue(name: "\(name).paths", json: json).strings()
        }
        for path in paths ?? [] where !IdempotencyOptions.isUsable(path) {
            throw ConfigurationError(
                "The option \"\(name).paths\" must be a list of regular expressions; \"\(path)\" is none."
            )
        }
        let ttl = try object["ttl"].map { (json) throws(ConfigurationError) in
            try OptionValue(name: "\(name).ttl", json: json).number(in: 1...31_536_000)
        }
        guard let paths, !paths.isEmpty else { return nil }
        return IdempotencyOptions(paths: paths, ttl: ttl ?? IdempotencyOptions.standardTTL)
    }

    fileprivate func batchRequestLimit(otherwise present: Int?) throws(ConfigurationError) -> Int? {
        guard let object = json.objectValue else { throw error("an object") }
        for key in object.keys where key != "batchRequestLimit" {
            throw ConfigurationError("The option \"\(name).\(key)\" is known but not built yet.")
        }
        guard let json = object["batchRequestLimit"] else { return present }
        let limit = OptionValue(name: "\(name).batchRequestLimit", json: json)
        let number = try limit.integer(in: -1...1_000_000)
        return number == -1 ? nil : number
    }

    /// Lists of fields by class and group.
    ///
    /// A class that is not named keeps what it has.
    fileprivate func protectedFields(
        over present: [String: [String: [String]]]
    ) throws(ConfigurationError) -> [String: [String: [String]]] {
        let rule = "an object of classes, each an object of groups, each a list of fields"
        guard let classes = json.objectValue else { throw error(rule) }
        var result = present
        for entry in classes {
            guard let groups = entry.value.objectValue else { throw error(rule) }
            var lists: [String: [String]] = [:]
            for group in groups {
                guard let fields = group.value.arrayValue else { throw error(rule) }
                let names = fields.compactMap(\.stringValue)
                guard names.count == fields.count else { throw error(rule) }
                lists[group.key] = names
            }
            result[entry.key] = lists
        }
        return result
    }

    fileprivate func databaseURL() throws(ConfigurationError) -> String {
        let text = try string()
        guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") else {
            throw error("an address that starts with postgres://; without it the data folder holds the data")
        }
        let rest = text[text.index(text.startIndex, offsetBy: text.hasPrefix("postgres://") ? 11 : 13)...]
        let login = rest.lastIndex(of: "@").map { rest[..<$0] } ?? ""
        guard !login.contains(where: { "/?#[]@ ".contains($0) }) else {
            throw error(
                "an address whose name and password have special characters percent-encoded (@ is %40, / is %2F)"
            )
        }
        return text
    }

    fileprivate func webAddress() throws(ConfigurationError) -> String {
        let text = try string()
        guard text.hasPrefix("http://") || text.hasPrefix("https://"),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw error("an address that starts with http:// or https://") }
        return text.last == "/" ? String(text.dropLast()) : text
    }
}
