import Cryptography
import Locking
import ParseCore

/// A storage that lets a test act between a read and what follows from it.
final class HookStorage: AppStorage {
    let afterUsersLookUp = Locked<(@Sendable () async throws -> Void)?>(nil)
    private let storage: any AppStorage

    init(_ storage: any AppStorage) {
        self.storage = storage
    }

    var schema: SchemaSnapshot {
        storage.schema
    }

    func write(_ plan: WritePlan) async throws(StorageError) -> WriteOutcome {
        try await storage.write(plan)
    }

    func find(_ query: RowQuery) async throws(StorageError) -> [StoredRow] {
        try await storage.find(query)
    }

    func count(_ query: RowQuery) async throws(StorageError) -> Int {
        try await storage.count(query)
    }

    func session(tokenHash: Digest256) async throws(StorageError) -> (session: StoredRow, user: StoredRow?)? {
        try await storage.session(tokenHash: tokenHash)
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
