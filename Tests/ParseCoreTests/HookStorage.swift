import Cryptography
import JSON
import Locking
import ParseCore

/// A storage that lets a test act between a read and what follows from it.
final class HookStorage: AppStorage {
    let afterUsersLookUp = Locked<(@Sendable () async throws -> Void)?>(nil)
    /// Runs before each write, and may refuse it.
    let beforeWrite = Locked<(@Sendable (WritePlan) async throws(StorageError) -> Void)?>(nil)
    private let storage: any AppStorage

    init(_ storage: any AppStorage) {
        self.storage = storage
    }

    var schema: SchemaSnapshot {
        storage.schema
    }

    func write(_ plan: WritePlan) async throws(StorageError) -> WriteOutcome {
        if let hook = beforeWrite.withLock({ $0 }) { try await hook(plan) }
        return try await storage.write(plan)
    }

    func find(_ query: RowQuery) async throws(StorageError) -> [StoredRow] {
        try await storage.find(query)
    }

    func count(_ query: RowQuery) async throws(StorageError) -> Int {
        try await storage.count(query)
    }

    func distinct(_ query: RowQuery, path: String) async throws(StorageError) -> [JSONValue] {
        try await storage.distinct(query, path: path)
    }

    func explain(_ query: RowQuery) async throws(StorageError) -> JSONValue {
        try await storage.explain(query)
    }

    func session(tokenHash: Digest256) async throws(StorageError) -> SessionRecord? {
        try await storage.session(tokenHash: tokenHash)
    }

    func links(of relation: RelationField, after: RelationLink?, limit: Int) async throws(StorageError)
        -> [RelationLink]
    {
        try await storage.links(of: relation, after: after, limit: limit)
    }

    func roles(ofUser userID: String) async throws(StorageError) -> [String] {
        try await storage.roles(ofUser: userID)
    }

    var isCoherent: Bool {
        storage.isCoherent
    }

    func observe(_ handler: @escaping @Sendable (ChangeNotice) -> Void) {
        storage.observe(handler)
    }

    func users(owning identities: [ProviderIdentity]) async throws(StorageError) -> [StoredRow] {
        let users = try await storage.users(owning: identities)
        if let hook = afterUsersLookUp.withLock({ $0 }) {
            do {
                try await hook()
            } catch {
                throw .failed(String(describing: error))
            }
        }
        return users
    }

    func close() async {
        await storage.close()
    }
}
