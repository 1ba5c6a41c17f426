import ParseCore
import ParseSQLite
import ParseWire
import SQLite
import TestSupport

/// A database in a folder of its own.
final class TestDatabase: Sendable {
    let storage: SQLiteAppStorage
    let folder: TemporaryFolder

    var path: String { folder.path + "/app.db" }

    init() throws {
        folder = try TemporaryFolder()
        storage = try SQLiteAppStorage(path: folder.path + "/app.db")
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
    )
        async throws
    {
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

    /// What the file has in it, asked past the storage.
    func sql(_ query: String) throws -> [String] {
        let connection = try SQLiteConnection(path: path, mode: .readWrite)
        defer { connection.close() }
        return try connection.query(query) { $0.text(0) ?? "" }
    }
}
