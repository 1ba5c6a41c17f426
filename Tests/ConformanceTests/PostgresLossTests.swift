import JSON
import Locking
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What happens when the database, a connection to it, or a process is lost.
@Suite(.enabled(if: PostgresServer.isInstalled), .serialized, .timeLimit(.minutes(3)))
struct PostgresLossTests {
    enum Loss: String, CaseIterable, CustomTestStringConvertible {
        case kill, stop

        var testDescription: String { rawValue }
    }

    @Test(arguments: Loss.allCases)
    func `a database that goes away and comes back loses nothing, and nothing hangs`(loss: Loss) async throws
    {
        let server = try await PostgresServer()
        let folder = try TemporaryFolder()
        let process = try await ServerProcess(
            dataFolder: folder.path,
            arguments: pinnedApp + ["--database", try await ProcessPair.url(server)]
        )
        let api = API(port: process.port)
        for name in ["Left", "Right"] {
            #expect(try await api.call("POST", "/classes/\(name)", ["n": -1], asMaster: true).status == 201)
        }
        let load = PairLoad(port: process.port)
        async let running: Void = load.run(writers: 8)
        try await Task.sleep(for: .seconds(1))
        #expect(load.created > 10)
        switch loss {
        case .kill: try await server.kill()
        case .stop: try await server.stop()
        }
        try await Task.sleep(for: .seconds(2))
        let away = try await api.call("GET", "/classes/Left")
        #expect(away.status == 503, "\(away.text)")
        #expect(away.header("Retry-After") != nil)
        #expect(away.error == "The database cannot be reached. Try again shortly.")
        #expect(try await api.call("GET", "/health").status == 200)
        let before = load.created
        try await server.start()
        let start = ContinuousClock.now
        while load.created < before + 50, start.duration(to: .now) < .seconds(15) {
            try await Task.sleep(for: .milliseconds(10))
        }
        print("\(loss): fifty more after \(start.duration(to: .now))")
        #expect(load.created >= before + 50)
        load.end()
        try await running
        try await load.check(api)
        print("\(loss): \(load.summary)")
        // What was under way when it went away may have been done or not; whatever came later is told to come again.
        #expect(load.refused > 0)
        #expect(load.unknown <= 16)
        let result = await process.stop()
        #expect(result.status == 0)
        #expect(!result.errors.contains(ProcessPair.password))
    }

    @Test func `a process that is killed in the middle leaves nothing half-written`() async throws {
        let server = try await PostgresServer.shared()
        let pair = try await ProcessPair()
        for name in ["Left", "Right"] {
            #expect(
                try await pair.two.call("POST", "/classes/\(name)", ["n": -1], asMaster: true).status == 201
            )
        }
        for round in 0..<4 {
            let process =
                round == 0
                ? pair.processes[0]
                : try await ServerProcess(
                    dataFolder: pair.folder.path + "/one",
                    arguments: pinnedApp + ["--database", pair.url + "?application_name=killed"]
                )
            let load = PairLoad(port: process.port, firstNumber: (round + 1) * 1_000_000)
            async let running: Void = load.run(writers: 4)
            try await Task.sleep(for: .milliseconds(400 + 37 * round))
            await process.kill()
            load.end()
            try await running
            #expect(load.created > 0)
            // What the server had received whole it may still commit, and the two reads are no snapshot.
            let application = round == 0 ? "martlet0" : "killed"
            let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name='\(application)'"
            while try await server.sql(count) != "0" { try await Task.sleep(for: .milliseconds(5)) }
            try await load.check(pair.two)
        }
        await pair.processes[1].stop()
    }

    enum Cut: String, CaseIterable, CustomTestStringConvertible {
        case terminate, suspend

        var testDescription: String { rawValue }
    }

    @Test(arguments: Cut.allCases)
    func `who does not hear the others trusts nothing it remembers`(cut: Cut) async throws {
        let server = try await PostgresServer.shared()
        let pair = try await ProcessPair()
        var suspended: [Int32] = []
        for round in 0..<(cut == .terminate ? 10 : 2) {
            let account = try await pair.one.signUp("user\(round)")
            for _ in 0..<3 {
                #expect(try await pair.two.call("GET", "/users/me", token: account.token).status == 200)
            }
            let listener = try await Self.listener(server, "martlet1")
            switch cut {
            case .terminate: try await server.sql("SELECT pg_terminate_backend(\(listener))")
            case .suspend:
                kill(listener, SIGSTOP)
                suspended.append(listener)
                // It is noticed within two seconds.
                try await Task.sleep(for: .milliseconds(2200))
            }
            #expect(try await pair.one.call("POST", "/logout", [:], token: account.token).status == 200)
            let reply = try await pair.two.call("GET", "/users/me", token: account.token)
            #expect(reply.code == 209, "\(cut) \(round): \(reply.text)")
        }
        for process in suspended { kill(process, SIGCONT) }
        await pair.stop()
    }

    /// The process of the server that serves the listening connection.
    private static func listener(_ server: PostgresServer, _ application: String) async throws -> Int32 {
        for _ in 0..<100 {
            let text = try await server.sql(
                """
                SELECT pid FROM pg_stat_activity WHERE application_name='\(application)'
                AND (query LIKE 'LISTEN%' OR query='SELECT 1') ORDER BY backend_start DESC LIMIT 1
                """
            )
            if let process = Int32(text) { return process }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("nobody listens")
        throw CancellationError()
    }

    // MARK: A start that is refused

    @Test func `a database that cannot be used is told in one line without the password`() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        let name = try #require(database.split(separator: "/").last)
        try await server.sql(
            """
            CREATE ROLE guarded LOGIN PASSWORD 'right'; CREATE ROLE powerless LOGIN;
            """
        )
        // Everybody else is still trusted.
        let file = try await server.sql("SHOW hba_file")
        let rules = try await server.sql(
            "SELECT pg_read_file('\(file)')"
        ).split(separator: "\n").filter { !$0.hasPrefix("#") && !$0.isEmpty }.map(String.init)
        let lines = ["host all guarded 127.0.0.1/32 scram-sha-256"] + rules
        try await server.sql(
            "COPY (SELECT unnest(ARRAY[\(lines.map { "'\($0)'" }.joined(separator: ","))])) TO '\(file)'"
        )
        try await server.sql("SELECT pg_reload_conf()")
        try await Task.sleep(for: .milliseconds(200))
        let at = "127.0.0.1:\(server.port)"
        let secret = "Hidden-w0rd"
        let cases: [(String, String)] = [
            ("postgres://u:\(secret)@127.0.0.1:1/x", "Connection refused"),
            ("postgres://u:\(secret)@no-such-host.invalid/x", "no-such-host.invalid"),
            (
                "postgres://guarded:\(secret)@\(at)/\(name)",
                "password authentication failed for user \"guarded\""
            ),
            ("postgres://martlet:\(secret)@\(at)/nowhere", "database \"nowhere\" does not exist"),
            ("postgres://powerless:\(secret)@\(at)/\(name)", "must be allowed to create schemas"),
            ("postgres://u:\(secret)%zz@\(at)/\(name)", "invalid percent-encoded token"),
            ("postgres://u:\(secret)@@\(at)/\(name)", "percent-encoded"),
            ("postgres://u:\(secret)/x@\(at)/\(name)", "percent-encoded"),
            ("postgres://u:\(secret)?x@\(at)/\(name)", "percent-encoded"),
            ("postgres://martlet:\(secret)@\(at)/\(name)?nope=1", "nope"),
            ("mysql://martlet:\(secret)@\(at)/\(name)", "must be an address that starts with postgres://"),
            ("", "must be an address that starts with postgres://"),
        ]
        let folder = try TemporaryFolder()
        for (url, text) in cases {
            for command in [["serve", "--port", "0"], ["app", "list"]] {
                let result = try await ProgramRun.run(
                    [ProductPath.martlet] + command + ["--data", folder.path, "--database", url]
                )
                let what = "\(command[0]) \(url): \(result.status) \(result.errors)"
                #expect(result.status == 2, "\(what)")
                #expect(result.errors.contains(text), "\(what)")
                #expect(result.errors.filter(\.isNewline).count == 1, "\(what)")
                #expect(!result.errors.contains(secret) && !result.output.contains(secret), "\(what)")
            }
        }
    }
}

/// Creates of pairs, each pair in one transaction, until told to end; what was answered is remembered.
final class PairLoad: Sendable {
    private struct State {
        var isOver = false
        var next: Int
        var created: [Int] = []
        var statuses: [Int: Int] = [:]
        var longest = Duration.zero
    }

    private let state: Locked<State>
    private let firstNumber: Int
    private let port: Int

    init(port: Int, firstNumber: Int = 0) {
        self.port = port
        self.firstNumber = firstNumber
        state = Locked(State(next: firstNumber))
    }

    var created: Int { state.withLock { $0.created.count } }
    var refused: Int { state.withLock { $0.statuses[503] ?? 0 } }
    var unknown: Int { state.withLock { $0.statuses[500] ?? 0 } }
    var summary: String { state.withLock { "\($0.statuses), longest \($0.longest)" } }

    func end() {
        state.withLock { $0.isOver = true }
    }

    func run(writers: Int) async throws {
        _ = try await concurrently(writers) { _ in try await self.write() }
    }

    private func write() async throws {
        let api = API(port: port)
        while let number = state.withLock({ state -> Int? in
            state.next += 1
            return state.isOver ? nil : state.next
        }) {
            let start = ContinuousClock.now
            let reply: HTTPReply
            do {
                reply = try await api.call("POST", "/batch", Self.batch(number))
            } catch {
                // The process was killed.
                return
            }
            let time = start.duration(to: .now)
            // A batch has a status for each of its parts.
            let status = Self.status(reply)
            state.withLock { state in
                state.longest = max(state.longest, time)
                state.statuses[status, default: 0] += 1
                if status == 201 { state.created.append(number) }
            }
            #expect(time < .seconds(15))
            #expect([201, 500, 503].contains(status), "\(reply.status) \(reply.text)")
            if reply.status == 503 {
                #expect(reply.header("Retry-After") != nil)
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    private static func batch(_ number: Int) -> JSONValue {
        let parts = ["Left", "Right"].map { name -> JSONValue in
            [
                "method": "POST", "path": .string("/parse/classes/\(name)"),
                "body": ["n": .number(Double(number))],
            ]
        }
        return ["transaction": true, "requests": .array(parts)]
    }

    private static func status(_ reply: HTTPReply) -> Int {
        guard reply.status == 200 else { return reply.status }
        return reply.json?.arrayValue?.allSatisfy { $0["success"] != nil } == true ? 201 : 0
    }

    /// Everything that was answered is there, and no half of a pair.
    func check(_ api: API) async throws {
        let left = try await numbers("Left", api)
        let right = try await numbers("Right", api)
        #expect(left == right)
        let missing = state.withLock { $0.created }.filter { !left.contains($0) }
        #expect(missing.isEmpty)
    }

    private func numbers(_ className: String, _ api: API) async throws -> Set<Int> {
        let filter = #"{"n":{"$gte":\#(firstNumber)}}"#.percentEncoded
        let reply = try await api.call(
            "GET",
            "/classes/\(className)?where=\(filter)&limit=100000&keys=n",
            asMaster: true
        )
        guard let results = reply["results"]?.arrayValue else { throw Unexpected(reply) }
        let numbers = results.compactMap { $0["n"]?.numberValue.map { Int($0) } }
        #expect(Set(numbers).count == numbers.count)
        return Set(numbers)
    }
}
