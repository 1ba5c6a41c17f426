import Cryptography
import EventLoop
import ParseCore
import ParsePostgres
import ParseWire
import Postgres
import TestSupport

/// An app of its own in a database that all tests of the process share.
final class TestDatabase: Sendable {
    let storage: PostgresAppStorage
    let database: PostgresDatabase
    let applicationID: String

    /// The database, with its listener under way.
    private static let shared = Task { try await open(try await PostgresServer.shared().makeDatabase()) }
    private static let loops = Result { try EventLoopGroup(count: 2) }

    /// As another process on the same server would.
    static func open(_ url: String) async throws -> PostgresDatabase {
        let database = PostgresDatabase(url: url, loops: try loops.get().loops) {
            // Many tests at once on a busy machine wait longer than a client should.
            $0.queueTimeout = .seconds(60)
        }
        Task(executorPreference: try loops.get().loops[0]) { await database.run() }
        while !database.isCoherent { try await Task.sleep(for: .milliseconds(5)) }
        return database
    }

    convenience init(_ applicationID: String = "app-" + SecureRandom.alphanumeric(12)) async throws {
        try await self.init(applicationID, in: try await Self.shared.value)
    }

    init(_ applicationID: String, in database: PostgresDatabase) async throws {
        self.applicationID = applicationID
        self.database = database
        storage = try await database.storage(ofApp: applicationID)
    }

    /// The same app, opened by another process.
    func again() async throws -> TestDatabase {
        try await TestDatabase(applicationID, in: try await Self.open(database.pool.configuration.url))
    }

    static func row(_ id: String, _ fields: [String: FieldValue] = [:], acl: AccessControlList? = nil)
        -> StoredRow
    {
        let now = Timestamp(milliseconds: 1_700_000_000_000)
        return StoredRow(objectID: id, createdAt: now, updatedAt: now, acl: acl, fields: fields)
    }

    /// Stores rows of a class, whose fields are made first.
    func store(_ className: String, _ fields: [(String, FieldType)], _ rows: [StoredRow]) async throws {
        let changes = fields.map { SchemaChange.addField(className: className, field: $0.0, type: $0.1) }
        _ = try await storage.write(
            WritePlan(
                schemaChanges: [.addClass(className)] + changes,
                steps: rows.map { .insert(className: className, $0) }
            )
        )
    }

    func find(_ className: String, _ predicate: Predicate = .everything) async throws -> [StoredRow] {
        try await storage.find(RowQuery(className: className, predicate: predicate, limit: 100_000))
    }

    func ids(_ className: String, _ predicate: Predicate) async throws -> [String] {
        try await find(className, predicate).map(\.objectID)
    }

    func change(_ changes: SchemaChange...) async throws {
        _ = try await storage.write(WritePlan(schemaChanges: changes, steps: []))
    }

    func write(_ steps: WriteStep...) async throws {
        _ = try await storage.write(WritePlan(steps: steps))
    }

    /// Links one object to others.
    func relate(
        _ className: String,
        _ field: String,
        _ owner: String,
        _ related: [String],
        remove: Bool = false
    ) async throws {
        try await write(
            .relate(
                RelationChange(
                    className: className,
                    field: field,
                    ownerID: owner,
                    relatedIDs: related,
                    isRemoval: remove
                )
            )
        )
    }
}
