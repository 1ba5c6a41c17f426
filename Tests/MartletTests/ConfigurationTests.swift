import Cryptography
import JSON
import Logging
import Martlet
import ParseCore
import ParseWire
import TestSupport
import Testing

@testable import MartletCLI

@Suite struct ConfigurationReaderTests {
    private func read(_ file: String?, _ environment: [String: String] = [:], flags: [(String, String)] = [])
        throws -> ServerOptions
    {
        var reader = ConfigurationReader()
        if let file { try reader.read(file: Array(file.utf8), path: "martlet.json") }
        try reader.read(environment: environment)
        for (option, text) in flags { try reader.set(option, text: text, flag: "--flag") }
        return try reader.finished()
    }

    private func message(_ file: String) -> String? {
        do {
            _ = try read(file)
            return nil
        } catch {
            return (error as? ConfigurationError)?.description
        }
    }

    @Test(arguments: [
        "expireInactiveSessions", "extendSessionOnUse", "revokeSessionOnPasswordReset",
        "enableAnonymousUsers", "enforcePrivateUsers", "allowCustomObjectId",
        "allowClientClassCreation", "convertEmailToLowercase", "convertUsernameToLowercase",
    ])
    func `a switch is true or false and nothing else`(_ name: String) throws {
        #expect(try read("{\"\(name)\":true}").app != read("{\"\(name)\":false}").app)
        for value in ["1", "\"true\"", "null", "[]", "{}"] {
            #expect(message("{\"\(name)\":\(value)}") == "The option \"\(name)\" must be true or false.")
        }
    }

    @Test(arguments: [
        ("sessionLength", ["1", "3153600000", "0.5e1"], ["0", "3153600001", "\"5\"", "true", "-1"]),
        ("port", ["0", "65535"], ["-1", "65536", "1.5", "\"x\""]),
        (
            "maxUploadSize", ["1", "1073741824", "\"20mb\"", "\"1 KB\""],
            ["0", "1073741825", "\"2gb\"", "\"x\"", "true"]
        ),
        ("defaultLimit", ["1", "1000"], ["0", "-1", "1.5", "\"x\"", "null"]),
        ("maxLimit", ["1", "1000000"], ["0", "1000001", "true", "null"]),
        ("masterKeyIps", ["[]", "[\"10.0.0.0/8\"]", "\"::1\""], ["[\"x\"]", "[1]", "true"]),
        ("maintenanceKeyIps", ["[\"::/0\"]"], ["[\"1.2.3.4/33\"]"]),
        (
            "trustProxy", ["true", "false", "1", "100", "\"loopback, 10.0.0.1\"", "[\"10.0.0.0/8\"]"],
            ["-1", "101", "1.5", "\"x\"", "{}"]
        ),
        ("allowOrigin", ["\"*\"", "[\"http://a\",\"http://b\"]"], ["[\"a\\r\\nX: y\"]", "[\"\"]", "5"]),
        ("allowHeaders", ["[\"X-A\"]"], ["[\"X\\n\"]", "{}"]),
        (
            "requestKeywordDenylist", ["[]", "[{\"key\":\"a\"}]", "[{\"value\":1}]"],
            ["{}", "[{}]", "[{\"key\":1}]", "[{\"other\":1}]", "[{\"key\":\"((\"}]"]
        ),
        (
            "requestComplexity", ["{}", "{\"batchRequestLimit\":-1}", "{\"batchRequestLimit\":0}"],
            ["5", "{\"batchRequestLimit\":-2}", "{\"includeDepth\":1}"]
        ),
        (
            "fileUpload",
            [
                "{}", "{\"enableForPublic\":true,\"enableForAnonymousUser\":false}",
                "{\"enableForAuthenticatedUser\":false}", "{\"fileExtensions\":[\"*\"]}",
                "{\"fileExtensions\":[]}", "{\"fileExtensions\":\"^png$\"}",
            ],
            [
                "true", "[]", "{\"enableForPublic\":1}", "{\"fileExtensions\":[\"((\"]}",
                "{\"fileExtensions\":[1]}", "{\"enableForEverybody\":true}",
                "{\"allowedFileUrlDomains\":[\"*\"]}",
            ]
        ), ("preserveFileName", ["true"], ["1", "\"yes\""]),
        (
            "schema", ["{}", "{\"lockSchemas\":true}"],
            ["true", "{\"lockSchemas\":1}", "{\"definitions\":[]}"]
        ),
        (
            "security", ["{}", "{\"enableCheck\":false}"],
            ["true", "{\"enableCheck\":\"yes\"}", "{\"enableCheckLog\":true}"]
        ),
        (
            "idempotencyOptions",
            ["{}", "{\"paths\":[\"users\"],\"ttl\":1}", "{\"paths\":\".*\"}"],
            [
                "[]", "{\"paths\":[1]}", "{\"paths\":[\"((\"]}", "{\"paths\":[],\"ttl\":0}", "{\"other\":1}",
                "{\"ttl\":\"5\"}",
            ]
        ),
        (
            "installation",
            [
                "{}", "{\"duplicateDeviceTokenAction\":\"update\"}",
                "{\"duplicateDeviceTokenMergePriority\":\"installationId\"}",
                "{\"duplicateDeviceTokenActionEnforceAuth\":true}",
            ],
            ["[]", "{\"duplicateDeviceTokenAction\":\"drop\"}", "{\"other\":1}"]
        ),
        ("publicServerURL", ["\"http://a/b\""], ["\"a\"", "\"ftp://a\"", "\"http://a\\r\\n\""]),
        ("serverURL", ["\"https://a\""], ["5"]),
        ("mountPath", ["\"/\"", "\"/parse\"", "\"/1\""], ["\"/api\"", "5"]),
        ("host", ["\"0.0.0.0\""], ["\"\"", "5"]),
        ("passwordHash", ["\"argon2id\"", "\"bcrypt\""], ["\"md5\"", "5"]),
        ("readOnlyMasterKey", ["\"r\""], ["\"\"", "5"]), ("maintenanceKey", ["\"m\""], ["\"\"", "5"]),
        ("clientKey", ["\"\"", "\"c\""], ["5", "null"]), ("appId", ["\"a\""], ["\"\"", "5"]),
        ("masterKey", ["\"m\""], ["\"\"", "5"]),
    ])
    func `an option takes these values and refuses those`(
        _ name: String,
        _ right: [String],
        _ wrong: [String]
    ) {
        for value in right { #expect(message("{\"\(name)\":\(value)}") == nil, "\(value)") }
        for value in wrong {
            #expect(message("{\"\(name)\":\(value)}")?.contains("\"\(name)") == true, "\(value)")
        }
    }

    @Test func `an option that is unknown or not built says which, and no secret is told`() {
        #expect(
            message(#"{"sesionLength":1}"#) == "Unknown option \"sesionLength\" in the configuration file."
        )
        for name in [
            "cloud", "verifyUserEmails", "rateLimit", "passwordPolicy", "accountLockout", "auth",
        ] {
            #expect(message("{\"\(name)\":true}") == "The option \"\(name)\" is known but not built yet.")
        }
        #expect(message(#"{"databaseURI":"mongodb://u:top-secret@h/d"}"#)?.contains("top-secret") == false)
        #expect(message(#"{"databaseURI":"postgres://u:p@h/d"}"#) == nil)
        #expect(message(#"{"masterKey":["top-secret"]}"#)?.contains("top-secret") == false)
        #expect(message("[]") == "The configuration file martlet.json must hold a JSON object.")
        #expect(message("{")?.hasPrefix("The configuration file martlet.json is no JSON: ") == true)
    }

    @Test(arguments: [
        "7", #""app.db""#, #""mysql://u:hidden@h/d""#, #""postgres://u:hidden@x@h/d""#,
        #""postgres://u:hidden/x@h/d""#, #""postgresql://u:hidden?x@h/d""#, #""postgres://u:hidden x@h/d""#,
    ])
    func `an address of a database that would be misread is refused and not told`(value: String) {
        let text = message("{\"databaseURI\":\(value)}")
        #expect(text?.hasPrefix("The option \"databaseURI\" must be a") == true)
        #expect(text?.contains("hidden") == false)
    }

    @Test(arguments: [
        "postgres://h/d", "postgres://u@h:1/d", "postgresql://u:p%40%2F@h1:1,h2/d?application_name=a",
    ])
    func `an address of a database is taken as it stands`(url: String) throws {
        #expect(try read("{\"databaseURI\":\"\(url)\"}").databaseURL == url)
    }

    @Test func `members of fileUpload that are not given stay as they were`() throws {
        let file =
            #"{"fileUpload":{"enableForPublic":true},"apps":{"a":{"fileUpload":{"fileExtensions":["png"]}}}}"#
        let options = try read(file)
        #expect(options.app.fileUpload.enableForPublic && options.app.fileUpload.enableForAuthenticatedUser)
        #expect(options.app.fileUpload.fileExtensions == FileUploadPolicy().fileExtensions)
        let own = options.options(ofApp: "a").fileUpload
        #expect(own.enableForPublic && own.fileExtensions == ["png"])
        let variables = ["PARSE_SERVER_FILE_UPLOAD_OPTIONS": #"{"enableForAnonymousUser":true}"#]
        let mixed = try read(file, variables).app.fileUpload
        #expect(mixed.enableForPublic && mixed.enableForAnonymousUser)
    }

    @Test func `flags stand over the environment, the environment over the file, an app over all`() throws {
        let file = #"{"port":1,"sessionLength":10,"apps":{"a":{"sessionLength":40}}}"#
        #expect(try read(file).port == 1)
        let environment = [
            "PORT": "2", "PARSE_SERVER_SESSION_LENGTH": "20", "PARSE_SERVER_ENFORCE_PRIVATE_USERS": "0",
            "OTHER": "x",
        ]
        let options = try read(file, environment)
        #expect(options.port == 2 && options.app.sessionLength == 20)
        #expect(
            options.options(ofApp: "a").sessionLength == 40 && options.options(ofApp: "b").sessionLength == 20
        )
        #expect(!options.options(ofApp: "a").enforcePrivateUsers)
        #expect(try read(file, environment, flags: [("port", "3")]).port == 3)
        #expect(throws: ConfigurationError.self) { try read(nil, ["PORT": "many"]) }
        #expect(throws: ConfigurationError.self) { try read(nil, [:], flags: [("port", "65536")]) }
        #expect(try read(nil, ["PORT": ""]).port == 1337)
        #expect(
            try read(nil, ["PARSE_SERVER_MASTER_KEY_IPS": "10.0.0.1, ::1"]).app.masterKeyIPs.contains(
                "10.0.0.1"
            )
        )
    }

    @Test(arguments: [
        (#"{"apps":[]}"#, "The option \"apps\" must be an object with an entry for each app."),
        (#"{"apps":{"a":1}}"#, "The option \"apps.a\" must be an object."),
        (
            #"{"apps":{"a":{"port":1}}}"#,
            "The option \"apps.a.port\" holds for the whole server: set it at the top level."
        ),
        (#"{"apps":{"a":{"x":1}}}"#, "Unknown option \"apps.a.x\" in the configuration file."),
        (#"{"apps":{"a":{"cloud":1}}}"#, "The option \"apps.a.cloud\" is known but not built yet."),
        (
            #"{"apps":{"a":{"sessionLength":"x"}}}"#,
            "The option \"apps.a.sessionLength\" must be a number from 1 to 3153600000."
        ),
    ])
    func `settings of one app are checked by their full name`(_ file: String, _ text: String) {
        #expect(message(file) == text)
    }

    @Test func `a pinned app needs a master key that is no other key`() throws {
        func pinned(_ file: String) throws -> AppRecord? { try read(file).pinnedApp() }
        #expect(try pinned("{}") == nil)
        #expect(try pinned(#"{"appId":"a","masterKey":"m","clientKey":"c"}"#)?.credentials.clientKey == "c")
        for file in [
            #"{"appId":"a"}"#, #"{"masterKey":"m"}"#, #"{"clientKey":"c"}"#,
            #"{"appId":"a","masterKey":"m","readOnlyMasterKey":"m"}"#,
            #"{"appId":"a","masterKey":"m","maintenanceKey":"m"}"#,
            #"{"appId":"a","masterKey":"m","apps":{"a":{"masterKey":"n"}}}"#,
        ] { #expect(throws: ConfigurationError.self) { try pinned(file) } }
    }

    @Test(arguments: [
        ("20mb", 20_971_520), ("1kb", 1024), ("1gb", 1_073_741_824), ("5", 5), ("5b", 5), (" 1.5 KB ", 1536),
        ("0", 0), ("2gb", nil), ("-1", nil), ("", nil),
        ("mb", nil), ("1tb", nil), ("nan", nil), ("inf", nil),
    ])
    func `a size as people write it`(_ text: String, _ bytes: Int?) {
        #expect(ByteSize.parse(text) == bytes)
    }
}

@Suite struct ArgumentsTests {
    @Test func `flags, switches and words are told apart`() throws {
        let arguments = try Arguments(
            ["a", "--data", "d", "--port=5", "--yes", "--", "--b"],
            flags: ["--data", "--port"],
            switches: ["--yes"],
            wordLimit: 2
        )
        #expect(arguments.words == ["a", "--b"])
        #expect(arguments["--data"] == "d" && arguments["--port"] == "5" && arguments.has("--yes"))
    }

    @Test(arguments: [
        (["x"], "Unexpected argument \"x\"."), (["--no"], "Unknown flag \"--no\"."),
        (["--data"], "The flag --data needs a value."),
        (["--data", "a", "--data=b"], "The flag --data is given twice."),
        (["--yes=1"], "The flag --yes takes no value."),
    ])
    func `a command line that means nothing says why`(_ words: [String], _ text: String) {
        let error = #expect(throws: UsageError.self) {
            try Arguments(words, flags: ["--data"], switches: ["--yes"])
        }
        #expect(error?.description == text)
    }
}

@Suite struct KeyCheckTests {
    @Test(arguments: ["readOnlyMasterKey", "maintenanceKey"])
    func `a key of one app that is two things ends the start`(name: String) async throws {
        let folder = try TemporaryFolder()
        let data = DataFolder(path: folder.path + "/data")
        try data.prepare()
        let control = try ControlDatabase(data)
        let app = try control.createApp(named: "One", at: .now())
        control.close()
        var reader = ConfigurationReader()
        let file = #"{"\#(name)":"same","apps":{"\#(app.record.id)":{"masterKey":"same"}}}"#
        try reader.read(file: Array(file.utf8), path: "file")
        let options = try reader.finished()
        let error = await #expect(throws: ConfigurationError.self) {
            _ = try await MartletServer(folder: data, options: options, logger: .disabled)
        }
        #expect(error?.description.contains("\"masterKey\" and \"\(name)\" must differ") == true)
    }
}
