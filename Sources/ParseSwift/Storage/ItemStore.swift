import Locking
import Foundation

/// Where the module keeps its few items.
///
/// A read has three outcomes: a value, `nil` (there is certainly none), or an error (nobody knows now).
/// Implementations may be called from any thread.
protocol ItemStore: Sendable {
    func read<Value: Decodable>(_ type: Value.Type, for key: ItemKey) throws -> Value?
    func write<Value: Encodable>(_ value: Value, for key: ItemKey) throws
    /// Writes unless there is a value, in one step also between processes; returns what is there afterwards.
    func create<Value: Codable>(_ value: Value, for key: ItemKey) throws -> Value
    func remove(_ key: ItemKey) throws
}

/// The names of the items, as older versions of the SDK chose them.
enum ItemKey: String, Sendable {
    case user = "_currentUser"
    case installation = "_currentInstallation"
    case defaultACL = "_defaultACL"

    /// Whether the item holds a session token.
    var isSecret: Bool { self == .user }
}

/// A store of bytes; the coding is added by an extension.
protocol DataStore: ItemStore {
    func readData(_ key: ItemKey) throws -> Data?
    func writeData(_ data: Data, _ key: ItemKey) throws
    func createData(_ data: Data, _ key: ItemKey) throws -> Data
    func remove(_ key: ItemKey) throws
}

extension DataStore {
    func read<Value: Decodable>(_ type: Value.Type, for key: ItemKey) throws -> Value? {
        try readData(key).map { try ParseCoding.jsonDecoder().decode(type, from: $0) }
    }

    func write<Value: Encodable>(_ value: Value, for key: ItemKey) throws {
        try writeData(TreeEncoder(children: .whole).encode(value).data, key)
    }

    func create<Value: Codable>(_ value: Value, for key: ItemKey) throws -> Value {
        let data = try createData(TreeEncoder(children: .whole).encode(value).data, key)
        return try ParseCoding.jsonDecoder().decode(Value.self, from: data)
    }
}

/// Keeps items as long as the process lives.
final class MemoryStore: DataStore {
    private let items = Locked<[ItemKey: Data]>([:])

    func readData(_ key: ItemKey) -> Data? { items.withLock { $0[key] } }
    func writeData(_ data: Data, _ key: ItemKey) { items.withLock { $0[key] = data } }
    func remove(_ key: ItemKey) { items.withLock { $0[key] = nil } }

    func createData(_ data: Data, _ key: ItemKey) -> Data {
        items.withLock { items in
            let kept = items[key] ?? data
            items[key] = kept
            return kept
        }
    }
}

/// Speaks to the app's own store.
final class KeyValueStoreAdapter: ItemStore, @unchecked Sendable {
    // SAFETY: the store is only reached under `lock`.
    private let lock = NSLock()
    private var store: any ParseKeyValueStore

    init(_ store: any ParseKeyValueStore) {
        self.store = store
    }

    func read<Value: Decodable>(_ type: Value.Type, for key: ItemKey) throws -> Value? {
        lock.lock()
        defer { lock.unlock() }
        return try store.get(valueFor: key.rawValue)
    }

    func write<Value: Encodable>(_ value: Value, for key: ItemKey) throws {
        lock.lock()
        defer { lock.unlock() }
        try store.set(value, for: key.rawValue)
    }

    func create<Value: Codable>(_ value: Value, for key: ItemKey) throws -> Value {
        lock.lock()
        defer { lock.unlock() }
        if let kept: Value = try store.get(valueFor: key.rawValue) { return kept }
        try store.set(value, for: key.rawValue)
        return value
    }

    func remove(_ key: ItemKey) throws {
        lock.lock()
        defer { lock.unlock() }
        try store.delete(valueFor: key.rawValue)
    }
}
