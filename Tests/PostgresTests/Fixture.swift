import EventLoop
import Locking
import Postgres
import TestSupport

/// Loops of one test.
enum Loops {
    /// Shared by all tests of the process, which ends with them.
    static let group = Result { try EventLoopGroup(count: 2) }

    static func all() throws -> [EventLoop] { try group.get().loops }
}

extension PostgresConnection {
    /// Opens a connection to an empty database of the shared server.
    static func test(
        _ change: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> PostgresConnection {
        var configuration = PostgresConfiguration(url: try await PostgresServer.shared().url())
        change(&configuration)
        return try await open(configuration, on: try Loops.all()[0])
    }

    func query(_ sql: String, _ parameters: [PostgresValue] = []) async throws -> PostgresResult {
        try await run([PostgresStatement(sql, parameters)], effect: .reads)[0]
    }
}

extension PostgresPool {
    /// A pool on the shared server, or another.
    static func test(
        _ url: String? = nil,
        _ change: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> PostgresPool {
        let shared = url == nil ? try await PostgresServer.shared().url() : nil
        var configuration = PostgresConfiguration(url: url ?? shared ?? "")
        change(&configuration)
        return PostgresPool(configuration, loops: try Loops.all())
    }
}

/// The error a call ends with.
func failure<T>(_ body: () async throws -> T) async -> PostgresError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? PostgresError
    }
}

/// Waits until something has become true, but not for ever.
func eventually(within limit: Duration = .seconds(20), _ condition: () async throws -> Bool) async throws
    -> Bool
{
    let start = ContinuousClock.now
    while !(try await condition()) {
        guard start.duration(to: .now) < limit else { return false }
        try await Task.sleep(for: .milliseconds(5))
    }
    return true
}

/// Keeps a connection of a pool until it is told to let go.
final class Holder: Sendable {
    private let isReleased = Locked(false)
    private let task: Task<Void, any Error>

    /// Returns when it has the connection.
    init(_ pool: PostgresPool) async throws {
        let isHeld = Locked(false)
        let isReleased = isReleased
        task = Task {
            try await pool.withConnection { _ in
                isHeld.withLock { $0 = true }
                _ = try await eventually { isReleased.withLock { $0 } }
            }
        }
        _ = try await eventually { isHeld.withLock { $0 } }
    }

    func release() async throws {
        isReleased.withLock { $0 = true }
        try await task.value
    }
}
