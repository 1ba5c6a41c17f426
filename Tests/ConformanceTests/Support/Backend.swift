import Foundation
import Locking
import TestSupport

/// Where the servers of these tests keep their data: the same cases run on each.
///
/// Chosen by the variable `MARTLET_TEST_DATABASE`: `folder` (or nothing), `postgres`, or `postgres-pair` for two servers
/// on one database that get the requests in turn.
enum Backend: String {
    case folder
    case postgres
    case pair = "postgres-pair"

    static let current: Backend = {
        let name = ProcessInfo.processInfo.environment["MARTLET_TEST_DATABASE"] ?? "folder"
        guard let backend = Backend(rawValue: name) else {
            fatalError("MARTLET_TEST_DATABASE is folder, postgres or postgres-pair, not \(name)")
        }
        return backend
    }()

    var serverCount: Int {
        self == .pair ? 2 : 1
    }

    /// Flags for a server on an empty database of its own.
    func makeArguments() async throws -> [String] {
        guard self != .folder else { return [] }
        return ["--database", try await PostgresServer.shared().makeDatabase()]
    }

    /// What servers tell each other is heard within this time; half of what is promised.
    static let noticeMilliseconds: UInt32 = 25
}

/// Picks a server for each request, in turn, and waits until it has heard of the last change.
final class Turns: Sendable {
    private let count: Int
    private let state = Locked((next: 0, hasChanged: false))

    init(count: Int) {
        self.count = count
    }

    func next(_ method: String) -> Int {
        guard count > 1 else { return 0 }
        let (turn, waits) = state.withLock { state in
            defer {
                state.next = (state.next + 1) % count
                state.hasChanged = method != "GET"
            }
            return (state.next, state.hasChanged)
        }
        if waits { pause(milliseconds: Backend.noticeMilliseconds) }
        return turn
    }
}
