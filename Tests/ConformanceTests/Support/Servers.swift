import HTTP
import JSON
import Locking
import Logging
import Martlet
import ParseCore
import ParseWire
import TestSupport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Flags of the app that most tests use.
let pinnedApp = [
    "--app-id", "app", "--client-key", "client", "--rest-key", "rest", "--javascript-key", "js",
    "--master-key",
    "master",
]

/// A server process, or several, with no data and the app of ``pinnedApp``.
struct TestServer: Sendable {
    let folder: TemporaryFolder
    let process: ServerProcess
    /// The others on the same database.
    let more: [ServerProcess]
    let api: API
    /// Flags that name the database.
    let database: [String]

    var port: Int { process.port }

    static func start(
        options: JSONObject? = nil,
        arguments: [String] = [],
        folder: TemporaryFolder? = nil,
        database: [String]? = nil
    ) async throws -> TestServer {
        let folder = try folder ?? TemporaryFolder()
        var arguments = pinnedApp + arguments
        if let options {
            let path = folder.path + "/config.json"
            try write(JSONValue.object(options).serialized(), to: path)
            arguments += ["--config", path]
        }
        let backend = Backend.current
        let database = if let database { database } else { try await backend.makeArguments() }
        arguments += database
        var processes: [ServerProcess] = []
        for _ in 0..<backend.serverCount {
            processes.append(
                try await ServerProcess(dataFolder: folder.path + "/data", arguments: arguments)
            )
        }
        return TestServer(
            folder: folder,
            process: processes[0],
            more: Array(processes.dropFirst()),
            api: API(ports: processes.map(\.port)),
            database: database
        )
    }

    /// Starts again on the same data, when this one has ended.
    func startAgain() async throws -> TestServer {
        try await TestServer.start(folder: folder, database: database)
    }

    var ports: [Int] {
        [process.port] + more.map(\.port)
    }

    /// The same app over another connection.
    func connect() -> API {
        api.another()
    }
}

/// A server in this process, for what flags cannot say: providers, the clock, deadlines, a small queue.
final class LocalServer: Sendable {
    let api: API
    let port: Int
    private let folder: TemporaryFolder
    private let server: MartletServer
    /// Milliseconds that its clock is ahead.
    private let ahead: Locked<Int64>

    /// Runs a server while the body runs.
    static func run<Value: Sendable>(
        options: JSONObject = [:],
        providers: [any AuthProvider] = [],
        tune: (inout HTTPServerConfiguration) -> Void = { _ in },
        hashQueueLimit: Int = 1024,
        _ body: (LocalServer) async throws -> Value
    ) async throws -> Value {
        let local = try await LocalServer(options, providers, tune, hashQueueLimit)
        do {
            let value = try await body(local)
            await local.server.shutdown(grace: .seconds(2))
            return value
        } catch {
            await local.server.shutdown(grace: .zero)
            throw error
        }
    }

    private init(
        _ options: JSONObject,
        _ providers: [any AuthProvider],
        _ tune: (inout HTTPServerConfiguration) -> Void,
        _ hashQueueLimit: Int
    ) async throws {
        folder = try TemporaryFolder()
        var all: JSONObject = [
            "appId": "app", "clientKey": "client", "restAPIKey": "rest", "javascriptKey": "js",
            "masterKey": "master", "port": 0,
        ]
        for member in options { all[member.key] = member.value }
        var reader = ConfigurationReader()
        try reader.read(file: JSONValue.object(all).serialized(), path: "test")
        let ahead = Locked<Int64>(0)
        self.ahead = ahead
        server = try await MartletServer(
            folder: DataFolder(path: folder.path + "/data"),
            options: try reader.finished(),
            logger: .disabled,
            providers: providers,
            tune: tune,
            hashQueueLimit: hashQueueLimit,
            now: { Timestamp(milliseconds: Timestamp.now().milliseconds + ahead.withLock { $0 }) }
        )
        port = try await server.start()
        api = API(port: port)
    }

    func advanceClock(seconds: Int64) {
        ahead.withLock { $0 += seconds * 1000 }
    }

    func connect() -> API {
        api.another()
    }

    func closeIdleApps() async {
        await server.closeIdleApps()
    }
}

/// Writes a file.
func write(_ bytes: [UInt8], to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw ConfigurationError("cannot write \(path)") }
    defer { close(file) }
    guard write(file, bytes, bytes.count) == bytes.count else {
        throw ConfigurationError("cannot write \(path)")
    }
}

/// Does the same so many times at once; the results in order.
func concurrently<Value: Sendable>(
    _ count: Int,
    _ body: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: (Int, Value).self) { group in
        for number in 0..<count { group.addTask { (number, try await body(number)) } }
        var results = [Value?](repeating: nil, count: count)
        for try await (number, value) in group { results[number] = value }
        return results.compactMap { $0 }
    }
}

/// Waits on the thread that calls it; for drips and polls of what has no event.
func pause(milliseconds: UInt32) {
    usleep(milliseconds * 1000)
}
