import JSON
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The program `martlet` as its users meet it.
@Suite(.serialized)
struct CommandLineTests {
    @Test func `the first run prints a line that signs a user up`() async throws {
        let folder = try TemporaryFolder()
        let process = try await ServerProcess(dataFolder: folder.path + "/data")
        let text = process.output
        let start = try #require(text.firstRange(of: "curl -X POST"))
        let end = try #require(text[start.lowerBound...].firstRange(of: "}'"))
        let line = String(text[start.lowerBound..<end.upperBound])
        let result = try await ProgramRun.run(["bash", "-c", line])
        #expect(result.status == 0, "\(result.errors)")
        let reply = try JSONValue.parse(result.output)
        #expect(reply["sessionToken"]?.stringValue?.hasPrefix("r:") == true)

        for mark in ["Application id  ", "Client key      ", "Master key      ", "Server URL      "] {
            #expect(text.contains(mark))
        }
        #expect(text.contains("import ParseSwift"))
        await process.stop()

        // The master key is shown once.
        let again = try await ServerProcess(dataFolder: folder.path + "/data")
        #expect(again.output == "Martlet is ready at http://127.0.0.1:\(again.port)\n")
        await again.stop()
    }

    @Test func `an app that is made while the server runs works within a second`() async throws {
        let folder = try TemporaryFolder()
        let process = try await ServerProcess(dataFolder: folder.path + "/data")
        let made = try await ProgramRun.martlet(
            "app",
            "create",
            "Second",
            "--json",
            "--data",
            process.dataFolder
        )
        #expect(made.status == 0)
        let app = try JSONValue.parse(made.output)
        #expect(
            Set(app.objectValue?.keys ?? [])
                == ["name", "applicationId", "clientKey", "restKey", "javascriptKey", "masterKey"]
        )
        let id = try #require(app["applicationId"]?.stringValue)
        var api = API(port: process.port)
        api.applicationID = id
        api.clientKey = try #require(app["clientKey"]?.stringValue)
        api.masterKey = try #require(app["masterKey"]?.stringValue)
        #expect(try await within(.seconds(1)) { try await api.call("GET", "/users").status == 200 })
        let alice = try await api.signUp("alice")

        let listed = try JSONValue.parse(
            try await ProgramRun.martlet("app", "list", "--json", "--data", process.dataFolder).output
        )
        #expect(listed.arrayValue?.map { $0["name"] } == ["My App", "Second"])
        let shown = try JSONValue.parse(
            try await ProgramRun.martlet("app", "show", id, "--json", "--data", process.dataFolder).output
        )
        #expect(
            Set(shown.objectValue?.keys ?? []) == [
                "name", "applicationId", "clientKey", "restKey", "javascriptKey",
            ]
        )
        let plain = try await ProgramRun.martlet("app", "list", "--data", process.dataFolder)
        #expect(plain.output.contains("\(id)  Second\n"))

        let rotated = try JSONValue.parse(
            try await ProgramRun.martlet(
                "app",
                "rotate-master-key",
                id,
                "--json",
                "--data",
                process.dataFolder
            ).output
        )
        var renewed = api
        renewed.masterKey = try #require(rotated["masterKey"]?.stringValue)
        #expect(renewed.masterKey != api.masterKey)
        let isRenewed = try await within(.seconds(1)) {
            try await renewed.call("GET", "/serverInfo", asMaster: true).status == 200
        }
        #expect(isRenewed)
        #expect(try await api.call("GET", "/serverInfo", asMaster: true).status == 403)
        #expect(try await api.call("GET", "/users/me", token: alice.token).status == 200)

        let deleted = try await ProgramRun.martlet("app", "delete", id, "--yes", "--data", process.dataFolder)
        #expect(deleted.status == 0)
        #expect(deleted.output == "Deleted \(id).\n")
        let isGone = try await within(.seconds(1)) {
            let reply = try await api.call("GET", "/users/me", token: alice.token)
            return reply.status == 403 && reply.text == #"{"error":"unauthorized"}"#
        }
        #expect(isGone)
        let files = try await ProgramRun.run(["ls", process.dataFolder + "/apps"])
        #expect(!files.output.contains(id))
        await process.stop()
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal ends the server in order, after the requests in flight`(signal: Int32) async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice")
        let part: JSONValue = [
            "method": "POST", "path": "/parse/login",
            "body": ["username": "alice", "password": .string(alice.password)],
        ]
        let batcher = server.connect()
        async let batch = batcher.call(
            "POST",
            "/batch",
            ["requests": .array(Array(repeating: part, count: 40))]
        )
        // It is in flight once a session of it is there.
        let isUnderWay = try await within(.seconds(10)) {
            let reply = try await server.api.call("GET", "/sessions?count=1&limit=0", asMaster: true)
            return (reply["count"]?.numberValue ?? 0) > 1
        }
        #expect(isUnderWay)
        server.process.signal(signal)
        let results = try await batch.json?.arrayValue ?? []
        #expect(results.count == 40)
        #expect(results.allSatisfy { $0["success"] != nil })
        let result = await server.process.result()
        #expect(result.status == 0)
        #expect(result.errors.contains("\"message\":\"stopped\""))
        await #expect(throws: ConnectionFailure.self) { try await server.connect().call("GET", "/health") }
    }

    @Test(arguments: [
        (["--help"], "Usage: martlet COMMAND"), (["-h"], "Usage: martlet COMMAND"),
        (["help"], "Usage: martlet COMMAND"),
        (["serve", "--help"], "Usage: martlet serve"),
        (["serve", "--port", "1", "-h"], "Usage: martlet serve"),
        (["app", "--help"], "Usage: martlet app create"),
        (["app", "create", "--help"], "Usage: martlet app create"),
        (["app", "list", "-h"], "Usage: martlet app create"), (["version"], "martlet "),
        (["--version"], "martlet "),
    ])
    func `help is printed and nothing else is done`(words: [String], text: String) async throws {
        let result = try await ProgramRun.run([ProductPath.martlet] + words)
        #expect(result.status == 0)
        #expect(result.output.contains(text))
        #expect(result.errors.isEmpty)
    }

    @Test(arguments: [
        (["serve", "--nope"], "martlet: Unknown flag \"--nope\".\n"),
        (["serve", "--port"], "martlet: The flag --port needs a value.\n"),
        (["serve", "--port", "1", "--port", "2"], "martlet: The flag --port is given twice.\n"),
        (["serve", "extra"], "martlet: Unexpected argument \"extra\".\n"),
        (
            ["serve", "--log-level", "loud"],
            "martlet: The flag --log-level must be debug, info, warning or error.\n"
        ),
        (["nope"], "martlet: Unknown command \"nope\": there are serve, app and version.\n"),
        (
            ["app"],
            "martlet: The command \"app\" needs one of: create, list, show, rotate-master-key, delete, export, import.\n"
        ),
        (["app", "create"], "martlet: The command \"app create\" needs a name.\n"),
        (["app", "show"], "martlet: The command \"app show\" needs an application id.\n"),
        (["app", "list", "--yes"], "martlet: Unknown flag \"--yes\".\n"),
        (
            ["app", "rename"],
            "martlet: Unknown command \"app rename\": there are create, list, show, rotate-master-key, delete, "
                + "export and import.\n"
        ),
        (["app", "export"], "martlet: The command \"app export\" needs an application id.\n"),
        (["app", "export", "x"], "martlet: The command \"app export\" needs a file to write.\n"),
        (["app", "export", "x", "--json"], "martlet: Unknown flag \"--json\".\n"),
        (["app", "import"], "martlet: The command \"app import\" needs a file to read.\n"),
        (["app", "import", "x", "y"], "martlet: Unexpected argument \"y\".\n"),
        (["app", "list", "--database"], "martlet: The flag --database needs a value.\n"),
        (
            ["app", "list", "--database", "app.db"],
            "martlet: The option \"--database\" must be an address that starts with postgres://; "
                + "without it the data folder holds the data.\n"
        ),
        (
            ["serve", "--database=app.db"],
            "martlet: The option \"--database\" must be an address that starts with postgres://; "
                + "without it the data folder holds the data.\n"
        ),
    ])
    func `a command line that means nothing is told in one line`(words: [String], text: String) async throws {
        let folder = try TemporaryFolder()
        let result = try await ProgramRun.run(
            [ProductPath.martlet] + words,
            environment: ["MARTLET_DATA": folder.path + "/data"]
        )
        #expect(result.status == 2)
        #expect(result.errors == text)
        #expect(result.output.isEmpty)
    }

    @Test func `a command on a folder without data is refused`() async throws {
        let folder = try TemporaryFolder()
        for words in [
            ["list"], ["show", "x"], ["delete", "x", "--yes"], ["rotate-master-key", "x"],
            ["export", "x", "-"],
        ] {
            let result = try await ProgramRun.run(
                [ProductPath.martlet, "app"] + words + ["--data", folder.path]
            )
            #expect(result.status == 2)
            #expect(result.errors == "martlet: The folder \(folder.path) is no data folder of martlet.\n")
        }
    }

    @Test func `an app is pinned by variables`() async throws {
        let folder = try TemporaryFolder()
        let process = try await ServerProcess(
            dataFolder: folder.path + "/data",
            environment: [
                "PARSE_SERVER_APPLICATION_ID": "app", "PARSE_SERVER_MASTER_KEY": "master",
                "PARSE_SERVER_CLIENT_KEY": "client", "PARSE_SERVER_SESSION_LENGTH": "100",
            ]
        )
        let api = API(port: process.port)
        let alice = try await api.signUp("alice")
        #expect(try await api.call("GET", "/users", asMaster: true)["results"]?.arrayValue?.count == 1)
        let session = try await api.call("GET", "/sessions/me", token: alice.token)
        let expiry = try #require(session["expiresAt"]?["iso"]?.stringValue)
        let created = try #require(session["createdAt"]?.stringValue)
        #expect(expiry.prefix(13) == created.prefix(13) || expiry > created)
        await process.stop()
    }

    @Test func `a flag beats a variable, which beats the file`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/config.json"
        try write(Array(#"{"appId":"app","masterKey":"file","clientKey":"file"}"#.utf8), to: path)
        let process = try await ServerProcess(
            dataFolder: folder.path + "/data",
            arguments: ["--config", path, "--master-key", "flag"],
            environment: ["PARSE_SERVER_MASTER_KEY": "variable", "PARSE_SERVER_CLIENT_KEY": "variable"]
        )
        var api = API(port: process.port)
        api.clientKey = "variable"
        api.masterKey = "flag"
        #expect(try await api.call("GET", "/serverInfo", asMaster: true).status == 200)
        for other in ["variable", "file"] {
            api.masterKey = other
            #expect(try await api.call("GET", "/serverInfo", asMaster: true).status == 403)
        }
        api.clientKey = "file"
        #expect(try await api.call("GET", "/users").status == 403)
        await process.stop()
    }

    @Test(arguments: [
        (#"{"sesionLength":1}"#, "Unknown option \"sesionLength\" in the configuration file."),
        (#"{"sessionLength":"long"}"#, "sessionLength"),
        (#"{"enableAnonymousUsers":7}"#, "enableAnonymousUsers"),
        (#"{"masterKeyIps":["nowhere"]}"#, "masterKeyIps"), (#"{"apps":{"a":{"port":1}}}"#, "apps.a.port"),
        (#"{"apps":{"a":{"nope":1}}}"#, "apps.a.nope"), (#"{"maxUploadSize":"big"}"#, "maxUploadSize"),
        (#"{"publicServerURL":"ftp://x"}"#, "publicServerURL"), (#"{"mountPath":"/other"}"#, "mountPath"),
        (#"{"liveQuery":{}}"#, "The option \"liveQuery\" is known but not built yet."),
        ("[]", "must hold a JSON object"),
        ("{", "is no JSON"), (#"{"masterKey":"m"}"#, "masterKey"),
        (#"{"appId":"a","masterKey":"m","maintenanceKey":"m"}"#, "maintenanceKey"),
    ])
    func `a fault in the configuration is told by its option`(text: String, naming: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/config.json"
        try write(Array(text.utf8), to: path)
        let result = try await ProgramRun.martlet("serve", "--data", folder.path + "/data", "--config", path)
        #expect(result.status == 2)
        #expect(result.errors.contains(naming), "\(result.errors)")
        #expect(result.errors.filter(\.isNewline).count == 1)
    }

    @Test func `a configuration file that is not there is told`() async throws {
        let folder = try TemporaryFolder()
        let result = try await ProgramRun.martlet(
            "serve",
            "--data",
            folder.path,
            "--config",
            folder.path + "/none"
        )
        #expect(result.status == 2)
        #expect(
            result.errors.hasPrefix("martlet: The configuration file \(folder.path)/none cannot be read: ")
        )
    }

    @Test func `a port that is taken is told in one line`() async throws {
        let server = try await TestServer.start()
        let folder = try TemporaryFolder()
        let result = try await ProgramRun.martlet(
            "serve",
            "--data",
            folder.path + "/data",
            "--port",
            String(server.port)
        )
        #expect(result.status == 2)
        #expect(result.errors.hasPrefix("martlet: Cannot listen on 127.0.0.1:\(server.port): "))
        #expect(result.errors.filter(\.isNewline).count == 1)
        await server.process.stop()

        // The start that failed made no app, so the next one is the first run and shows the keys.
        let next = try await ServerProcess(dataFolder: folder.path + "/data")
        #expect(next.output.contains("Master key"))
        await next.stop()
    }

    @Test func `a stop soon after the start ends in order, every time`() async throws {
        let folder = try TemporaryFolder()
        for round in 0..<25 {
            let process = try await ServerProcess(dataFolder: folder.path + "/data")
            process.signal(round.isMultiple(of: 2) ? SIGTERM : SIGINT)
            let result = await process.result()
            #expect(result.status == 0, "round \(round): \(result.errors)")
        }
    }

    /// Asks until the answer is yes or the time is over.
    private func within(_ time: Duration, _ isSo: () async throws -> Bool) async throws -> Bool {
        let start = ContinuousClock.now
        while true {
            if try await isSo() { return true }
            if start.duration(to: .now) > time { return false }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
