import JSON
import ParseCore
import ParseWire
import TestSupport
import Testing

/// What parse-server 9.10.0 answered, asked of this server.
@Suite(.serialized)
struct ReplayTests {
    private static let file = "users-sessions.jsonl"

    /// How many lines there are of each configuration that is replayed.
    private static let replayed = [
        "base": 175, "readonly": 6, "fakeauth": 6, "no-anonymous": 1, "session2s": 4,
        "idempotency": 2,
    ]

    @Test(arguments: ["/parse", "/1", ""])
    func `the base server answers as recorded`(mount: String) async throws {
        let server = try await TestServer.start()
        try await replay("base", ports: server.ports, mount: mount)
        await server.process.stop()
    }

    @Test func `a read-only master key answers as recorded`() async throws {
        let server = try await TestServer.start(options: ["readOnlyMasterKey": "readonly"])
        try await replay("readonly", ports: server.ports)
        await server.process.stop()
    }

    @Test func `a server without anonymous users answers as recorded`() async throws {
        let server = try await TestServer.start(options: ["enableAnonymousUsers": false])
        try await replay("no-anonymous", ports: server.ports)
        await server.process.stop()
    }

    @Test func `requests with an id answer as recorded`() async throws {
        let options: JSONObject = ["idempotencyOptions": ["paths": ["users"], "ttl": 300]]
        let server = try await TestServer.start(options: options)
        try await replay("idempotency", ports: server.ports)
        await server.process.stop()
    }

    @Test func `a provider answers as recorded`() async throws {
        try await LocalServer.run(providers: [FakeProvider()]) { server in
            try await replay("fakeauth", ports: [server.port])
        }
    }

    @Test func `sessions of two seconds answer as recorded`() async throws {
        try await LocalServer.run(options: ["sessionLength": 2]) { server in
            try await replay("session2s", ports: [server.port]) { line in
                if line.name == "expired session" { server.advanceClock(seconds: 3) }
            }
        }
    }

    @Test func `no line is left out unseen`() throws {
        var counts: [String: Int] = [:]
        for exchange in try RecordedExchange.all(Self.file) {
            counts[exchange.configuration, default: 0] += 1
        }
        var expected = Self.replayed
        for configuration in UnbuiltConfiguration.all { expected[configuration.name] = configuration.lines }
        #expect(counts == expected)
        #expect(counts.values.reduce(0, +) == 244)
    }

    @Test func `every exception names a line`() throws {
        let lines = try RecordedExchange.all(Self.file).map { "\($0.configuration): \($0.name)" }
        for exception in ReplayException.all {
            #expect(lines.filter { $0 == "\(exception.configuration): \(exception.name)" }.count == 1)
        }
    }

    /// When one of them is built, its lines are to be replayed.
    @Test(arguments: UnbuiltConfiguration.all)
    func `an option whose lines are not replayed is not built`(_ configuration: UnbuiltConfiguration)
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path + "/config.json"
        try write(JSONValue.object([configuration.option: configuration.value]).serialized(), to: path)
        let result = try await ProgramRun.martlet("serve", "--data", folder.path + "/data", "--config", path)
        #expect(result.status == 2)
        #expect(
            result.errors == "martlet: The option \"\(configuration.option)\" is known but not built yet.\n"
        )
    }

    private static let objectsFile = "objects.jsonl"

    @Test(arguments: ["/parse", "/1"])
    func `objects, queries, schemas and files answer as recorded`(mount: String) async throws {
        let server = try await TestServer.start()
        try await replay("base", of: Self.objectsFile, lines: 209, ports: server.ports, mount: mount)
        await server.process.stop()
    }

    @Test func `every exception of objects names a line`() throws {
        let lines = try RecordedExchange.all(Self.objectsFile).map(\.name)
        for exception in ReplayException.objects {
            #expect(lines.filter { $0 == exception.name }.count == 1, "\(exception.name)")
        }
    }

    private func replay(
        _ configuration: String,
        of file: String = ReplayTests.file,
        lines: Int? = nil,
        ports: [Int],
        mount: String = "/parse",
        before: (RecordedExchange) -> Void = { _ in }
    ) async throws {
        var replayer = Replayer(ports: ports, mount: mount)
        var count = 0
        for exchange in try RecordedExchange.all(file) where exchange.configuration == configuration {
            before(exchange)
            let reply = try await replayer.send(exchange)
            count += 1
            let exception = ReplayException.find(exchange, of: file, mount: mount)
            let copy = replayer
            let found = replayer.differences(reply, from: exchange)
            guard let exception else {
                #expect(found.isEmpty, "\(exchange.name): \(found)")
                continue
            }
            #expect(!found.isEmpty, "\(exchange.name) is answered as recorded; it is no exception any more")
            replayer = copy
            let left = replayer.differences(
                reply,
                status: exception.status,
                headers: [],
                body: exception.body
            )
            #expect(left.isEmpty, "\(exchange.name), \(exception.reason): \(left)")
        }
        #expect(count == lines ?? Self.replayed[configuration])
    }
}

/// Accepts the token `good`.
struct FakeProvider: AuthProvider {
    var name: String { "fake" }

    func validate(_ data: JSONObject) async throws -> ProviderVerdict {
        guard data["token"] == "good" else {
            throw ParseError(.objectNotFound, "fake auth is invalid for this user.")
        }
        return ProviderVerdict()
    }
}
