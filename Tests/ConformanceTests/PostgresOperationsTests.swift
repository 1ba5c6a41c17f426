import JSON
import Locking
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Several processes on one PostgreSQL database, while they run in order.
@Suite(.enabled(if: PostgresServer.isInstalled), .serialized, .timeLimit(.minutes(3)))
struct PostgresOperationsTests {
    @Test func `of two that start at once on an empty database one makes the first app, and both serve it`()
        async throws
    {
        let server = try await PostgresServer.shared()
        for round in 0..<10 {
            let url = try await server.makeDatabase()
            let folder = try TemporaryFolder()
            let processes = try await concurrently(2) {
                try await ServerProcess(
                    dataFolder: "\(folder.path)/\($0)",
                    arguments: ["--database", url]
                )
            }
            let first = processes.filter { $0.output.contains("Master key") }
            #expect(first.count == 1, "round \(round)")
            let text = try #require(first.first?.output)
            for process in processes {
                var api = API(port: process.port)
                api.applicationID = Self.value("Application id", text)
                api.clientKey = Self.value("Client key", text)
                api.masterKey = try #require(Self.value("Master key", text))
                #expect(try await api.call("GET", "/users", asMaster: true).status == 200, "round \(round)")
            }
            for process in processes { await process.kill() }
        }
    }

    private static func value(_ name: String, _ text: String) -> String? {
        text.split(separator: "\n").first { $0.contains(name) }?.split(separator: " ").last.map(String.init)
    }

    // MARK: What one does and the other knows

    enum Change: String, CaseIterable, CustomTestStringConvertible {
        case logOut, passwordChange, userDeletion, roleChange

        var testDescription: String { rawValue }
    }

    @Test(arguments: Change.allCases)
    func `what ends a right on one process ends it on the other`(change: Change) async throws {
        let pair = try await ProcessPair()
        var times: [Duration] = []
        for round in 0..<15 {
            let account = try await pair.one.signUp("user\(round)")
            let path = try await Self.prepare(change, account, pair)
            let name = "\(change) \(round)"
            // The other has read it, and may remember it.
            for _ in 0..<2 {
                let reply = try await pair.two.call("GET", path, token: account.token)
                #expect(reply.status == 200, "\(name): \(reply.text)")
            }
            try await Self.apply(change, account, pair.one)
            let end = ContinuousClock.now
            while try await pair.two.call("GET", path, token: account.token).status == 200 {
                guard end.duration(to: .now) < .seconds(1) else {
                    Issue.record("\(name): still allowed after a second")
                    break
                }
            }
            times.append(end.duration(to: .now))
        }
        print("\(change): median \(times.sorted()[times.count / 2]), longest \(times.max() ?? .zero)")
        await pair.stop()
    }

    /// What the account can read until the change.
    private static func prepare(
        _ change: Change,
        _ account: Account,
        _ pair: ProcessPair
    ) async throws -> String {
        guard change == .roleChange else { return "/users/me" }
        let role = try await pair.one.call(
            "POST",
            "/roles",
            [
                "name": .string("role-" + account.name), "ACL": [:],
                "users": [
                    "__op": "AddRelation",
                    "objects": [
                        ["__type": "Pointer", "className": "_User", "objectId": .string(account.id)]
                    ],
                ],
            ],
            asMaster: true
        )
        #expect(role.status == 201, "\(role.text)")
        let secret = try await pair.one.call(
            "POST",
            "/classes/Secret",
            ["ACL": .object(["role:role-\(account.name)": ["read": true]])],
            asMaster: true
        )
        guard let id = secret["objectId"]?.stringValue else { throw Unexpected(secret) }
        return "/classes/Secret/\(id)"
    }

    private static func apply(_ change: Change, _ account: Account, _ api: API) async throws {
        let reply =
            switch change {
            case .logOut: try await api.call("POST", "/logout", [:], token: account.token)
            case .passwordChange:
                try await api.call("PUT", "/users/\(account.id)", ["password": "new"], asMaster: true)
            case .userDeletion: try await api.call("DELETE", "/users/\(account.id)", asMaster: true)
            case .roleChange: try await removeFromRole(account, api)
            }
        #expect(reply.status == 200, "\(reply.text)")
    }

    private static func removeFromRole(_ account: Account, _ api: API) async throws -> HTTPReply {
        let filter = #"{"name":"role-\#(account.name)"}"#.percentEncoded
        let roles = try await api.call("GET", "/roles?where=\(filter)", asMaster: true)
        guard let id = roles["results"]?.arrayValue?.first?["objectId"]?.stringValue else {
            throw Unexpected(roles)
        }
        let user: JSONValue = [
            "__type": "Pointer", "className": "_User", "objectId": .string(account.id),
        ]
        return try await api.call(
            "PUT",
            "/roles/\(id)",
            ["users": ["__op": "RemoveRelation", "objects": [user]]],
            asMaster: true
        )
    }

    @Test func `a new class and a new field are of use on the other soon`() async throws {
        let pair = try await ProcessPair()
        var times: [Duration] = []
        for round in 0..<15 {
            let (name, one, two) = ("New\(round)", pair.one, pair.two)
            let made = try await one.call("POST", "/classes/\(name)", ["first": 1], asMaster: true)
            let id = try #require(made["objectId"]?.stringValue)
            times.append(try await Self.time(until: #"{"first":1}"#, finds: name, two))
            let changed = try await one.call("PUT", "/classes/\(name)/\(id)", ["second": "x"], asMaster: true)
            #expect(changed.status == 200)
            times.append(try await Self.time(until: #"{"second":"x"}"#, finds: name, two))
            let wrong = try await two.call("POST", "/classes/\(name)", ["second": 2], asMaster: true)
            #expect(wrong.code == 111, "\(wrong.text)")
        }
        print("schema: median \(times.sorted()[times.count / 2]), longest \(times.max() ?? .zero)")
        await pair.stop()
    }

    private static func time(until filter: String, finds className: String, _ api: API) async throws
        -> Duration
    {
        let start = ContinuousClock.now
        while start.duration(to: .now) < .seconds(1) {
            let found = try await api.call("GET", "/classes/\(className)?where=\(filter.percentEncoded)")
            if found["results"]?.arrayValue?.count == 1 { return start.duration(to: .now) }
        }
        Issue.record("\(filter) finds nothing after a second")
        return .seconds(1)
    }

    @Test func `a class that one has just made can be written on the other at once`() async throws {
        let pair = try await ProcessPair()
        for round in 0..<15 {
            let path = "/classes/New\(round)"
            #expect(try await pair.one.call("POST", path, ["first": 1], asMaster: true).status == 201)
            let second = try await pair.two.call("POST", path, ["first": 2], asMaster: true)
            #expect(second.status == 201, "\(second.text)")
            let wrong = try await pair.two.call("POST", path, ["first": "text"], asMaster: true)
            #expect(wrong.code == 111, "\(wrong.text)")
            #expect(try await pair.one.call("GET", path, asMaster: true)["results"]?.arrayValue?.count == 2)
        }
        await pair.stop()
    }

    @Test func `commands on the database reach all processes`() async throws {
        let pair = try await ProcessPair()
        let flags = ["--database", pair.url, "--data", pair.folder.path + "/one"]
        func run(_ words: String...) async throws -> JSONValue {
            let result = try await ProgramRun.run([ProductPath.martlet, "app"] + words + ["--json"] + flags)
            #expect(result.status == 0, "\(result.errors)")
            return try JSONValue.parse(result.output)
        }
        let app = try await run("create", "Second")
        let id = try #require(app["applicationId"]?.stringValue)
        #expect(try await run("list").arrayValue?.compactMap { $0["applicationId"]?.stringValue } == [id])
        #expect(try await run("show", id)["name"] == "Second")
        var (one, two) = (pair.one, pair.two)
        func become(_ keys: JSONValue) throws {
            one.masterKey = try #require(keys["masterKey"]?.stringValue)
            two.masterKey = one.masterKey
        }
        (one.applicationID, two.applicationID) = (id, id)
        (one.clientKey, two.clientKey) = (nil, nil)
        try become(app)
        for api in [one, two] { #expect(try await soon { try await Self.isMaster(api) }) }
        let old = [one, two]
        try become(try await run("rotate-master-key", id))
        for api in [one, two] { #expect(try await soon { try await Self.isMaster(api) }) }
        for api in old { #expect(try await soon { try await !Self.isMaster(api) }) }
        let deleted = try await ProgramRun.run([ProductPath.martlet, "app", "delete", id, "--yes"] + flags)
        #expect(deleted.output == "Deleted \(id).\n")
        for api in [one, two] { #expect(try await soon { try await !Self.isMaster(api) }) }
        await pair.stop()
    }

    private static func isMaster(_ api: API) async throws -> Bool {
        try await api.call("GET", "/serverInfo", asMaster: true).status == 200
    }

    /// Whether it is so within a second.
    private func soon(_ isSo: () async throws -> Bool) async throws -> Bool {
        let start = ContinuousClock.now
        while start.duration(to: .now) < .seconds(1) {
            if try await isSo() { return true }
            try await Task.sleep(for: .milliseconds(5))
        }
        return false
    }

    @Test func `many apps share eight connections, are closed when idle and opened again`() async throws {
        let url = try await PostgresServer.shared().makeDatabase() + "?application_name=many"
        let ids = (0..<20).map { "app\($0)" }
        var keys: [String] = []
        for id in ids {
            let made = try await ProgramRun.martlet("app", "create", id, "--json", "--database", url)
            keys.append(try #require(try JSONValue.parse(made.output)["applicationId"]?.stringValue))
            let app = try JSONValue.parse(made.output)
            keys.append(try #require(app["masterKey"]?.stringValue))
        }
        let all = keys
        try await LocalServer.run(options: ["databaseURI": .string(url)]) { server in
            let isOver = Locked(false)
            async let closing: Int = {
                var rounds = 0
                while !isOver.withLock({ $0 }) {
                    await server.closeIdleApps()
                    rounds += 1
                    try? await Task.sleep(for: .milliseconds(1))
                }
                return rounds
            }()
            let counts = try await concurrently(20) { number in
                var api = API(port: server.port)
                api.applicationID = all[number * 2]
                api.clientKey = nil
                api.masterKey = all[number * 2 + 1]
                var good = 0
                for round in 0..<15 {
                    let reply = try await api.call(
                        "POST",
                        "/classes/C",
                        ["n": .number(Double(round))],
                        asMaster: true
                    )
                    #expect(reply.status == 201, "\(reply.text)")
                    if reply.status == 201 { good += 1 }
                    try await Task.sleep(for: .milliseconds(3))
                }
                let count = try await api.call("GET", "/classes/C?count=1&limit=0", asMaster: true)
                    .json?["count"]?.numberValue
                #expect(count == Double(good))
                return good
            }
            #expect(counts == Array(repeating: 15, count: 20))
            let open = try await PostgresServer.shared().sql(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name='many'"
            )
            #expect(try #require(Int(open)) <= 8)
            isOver.withLock { $0 = true }
            #expect(await closing > 0)
        }
    }
}

/// Two processes with the app of ``pinnedApp`` on one database.
struct ProcessPair: Sendable {
    let folder: TemporaryFolder
    let url: String
    let processes: [ServerProcess]
    let one: API
    let two: API

    /// A password that the server, which trusts everybody, does not look at.
    static let password = "Pass-w0rd-that-nobody-sees"

    init(_ server: PostgresServer? = nil) async throws {
        let server = if let server { server } else { try await PostgresServer.shared() }
        let url = try await Self.url(server)
        let folder = try TemporaryFolder()
        self.folder = folder
        self.url = url
        processes = try await concurrently(2) {
            try await ServerProcess(
                dataFolder: folder.path + ["/one", "/two"][$0],
                arguments: pinnedApp + ["--database", url + "?application_name=martlet\($0)"]
            )
        }
        one = API(port: processes[0].port)
        two = API(port: processes[1].port)
    }

    static func url(_ server: PostgresServer) async throws -> String {
        var url = try await server.makeDatabase()
        url.replace("martlet@", with: "martlet:\(password)@")
        return url
    }

    func stop() async {
        for process in processes {
            let result = await process.stop()
            #expect(result.status == 0)
            #expect(!result.errors.contains(Self.password))
        }
    }
}
