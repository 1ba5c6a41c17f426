import Foundation
import Testing

@testable import ParseSwift

/// All tests of this module share one `initialize`, so they run one after the other in this suite.
@Suite(.serialized) enum SDK {}

/// A store that keeps items in memory, counts calls and fails when told to.
final class RecordingStore: @unchecked Sendable {
    // SAFETY: all mutable state is behind `lock`.
    private let lock = NSLock()
    private var values: [String: Data] = [:]
    private var failure: (any Error)?

    func fail(with error: (any Error)?) { locked { failure = error } }
    func text(_ key: String) -> String? { locked { values[key].map { String(decoding: $0, as: UTF8.self) } } }
    func put(_ text: String, _ key: String) { locked { values[key] = Data(text.utf8) } }

    private func locked<R>(_ body: () throws -> R) rethrows -> R {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    func delete(_ key: String) throws {
        try locked {
            if let failure { throw failure }
            values[key] = nil
        }
    }

    func get<T: Decodable>(_ key: String) throws -> T? {
        try locked {
            if let failure { throw failure }
            return try values[key].map { try JSONDecoder().decode(T.self, from: $0) }
        }
    }

    func set<T: Encodable>(_ object: T, _ key: String) throws {
        try locked {
            if let failure { throw failure }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            values[key] = try encoder.encode(object)
        }
    }
}

/// A `ParseKeyValueStore` as an app would write it.
struct AppStore: ParseKeyValueStore {
    let recording: RecordingStore

    mutating func delete(valueFor key: String) throws { try recording.delete(key) }
    mutating func deleteAll() throws {}
    mutating func get<T: Decodable>(valueFor key: String) throws -> T? { try recording.get(key) }
    mutating func set<T: Encodable>(_ object: T, for key: String) throws { try recording.set(object, key) }
}

/// A server and a freshly initialised SDK that talks to it.
struct Sandbox {
    let server: MockServer
    let store = RecordingStore()

    init(_ handler: @escaping MockServer.Handler = { _ in .json("{}") }) throws {
        server = try MockServer(handler)
        start()
    }

    /// Initialises the SDK, as a new start of the app would.
    func start() {
        ParseSwift.initialize(
            applicationId: "app",
            clientKey: "client",
            serverURL: server.url,
            keyValueStore: AppStore(recording: store)
        )
    }

    /// Logs in a user `u1` whose session token is `r:1`.
    @discardableResult
    func logIn(_ extra: String = "") throws -> User {
        server.answer { _ in .json(Self.user(extra)) }
        return try User.login(username: "ann", password: "secret")
    }

    static func user(_ extra: String = "", id: String = "u1", token: String? = "r:1") -> String {
        let token = token.map { #","sessionToken":"\#($0)""# } ?? ""
        return #"""
            {"objectId":"\#(id)","username":"ann","email":"ann@example.org","age":30,
            "createdAt":"2024-10-24T21:13:17.123Z","updatedAt":"2024-10-24T21:13:17.123Z",
            "ACL":{"\#(id)":{"read":true,"write":true}}\#(token)\#(extra)}
            """#
    }
}
