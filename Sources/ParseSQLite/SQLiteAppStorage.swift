package import JSON
import ParseWire
package import Cryptography
package import ParseCore
package import SQLite
import Locking

/// The database of one app in one SQLite file.
package final class SQLiteAppStorage: AppStorage {
    /// "Mrt1".
    private static let format = SQLiteFileFormat(applicationID: 0x4D72_7431, version: 1)

    /// How long one query may hold a reader.
    private static let queryTime: Duration = .seconds(10)
    /// What one query may bring into memory, in bytes.
    private static let resultBytes = 32 << 20

    private let database: SQLiteDatabase
    private let current: Locked<StoredSchema>

    /// Opens the file, and makes it when it is not there.
    ///
    /// Blocks the calling thread for as long as it takes to read the schema.
    ///
    /// - Throws: ``StorageError/failed(_:)`` for a file that is no app's database or was written by a later
    ///   version, and for whatever SQLite says.
    package init(path: String, configuration: SQLiteDatabaseConfiguration = .init()) throws(StorageError) {
        do {
            let setUp = try SQLiteConnection(path: path, mode: .readWriteCreate, busyTimeout: .seconds(10))
            defer { setUp.close() }
            try Self.format.prepare(setUp) { try SchemaWriter(connection: setUp).createFile() }
            let schema = try StoredSchema(setUp)
            database = try SQLiteDatabase(path: path, configuration: configuration)
            current = Locked(schema)
        } catch {
            throw Self.translated(error)
        }
    }

    package var schema: SchemaSnapshot {
        current.withLock { $0.snapshot }
    }

    package func write(_ plan: WritePlan) async throws(StorageError) -> WriteOutcome {
        let published = stored
        let result: (outcome: WriteOutcome, schema: StoredSchema)
        do {
            result = try await database.write { connection in
                // Another write of the same group may have changed the schema and not be committed yet.
                var schema = published
                if try StoredSchema.version(connection) != schema.version {
                    schema = try StoredSchema(connection)
                }
                if !plan.schemaChanges.isEmpty {
                    try SchemaWriter(connection: connection).apply(plan.schemaChanges)
                    schema = try StoredSchema(connection)
                }
                return (try PlanRunner(connection: connection, schema: schema).run(plan.steps), schema)
            }
        } catch {
            throw Self.translated(error)
        }
        publish(result.schema)
        return result.outcome
    }

    package func find(_ query: RowQuery) async throws(StorageError) -> [StoredRow] {
        let layout = try stored.layout(query.className)
        let condition = SQLCondition.matching(
            query.predicate,
            query.access,
            column: CommonColumn.readers,
            in: layout
        )
        let order = query.order.compactMap { key -> String? in
            guard let column = layout.column(FieldName.root(of: key.field)), column.names.count == 1 else {
                return nil
            }
            return column.name + (key.isDescending ? " DESC" : "")
        }
        let sql = """
            SELECT \(layout.selection.list) FROM \(layout.table) WHERE \(condition.text)
            ORDER BY \((order + ["rowid"]).joined(separator: ",")) LIMIT ? OFFSET ?
            """
        let parameters = condition.parameters + [.integer(Int64(query.limit)), .integer(Int64(query.skip))]
        return try await reading { connection in
            var bytes = 0
            return try connection.withTimeLimit(Self.queryTime) {
                try connection.query(sql, parameters) { row in
                    let found = layout.selection.row(from: row)
                    bytes += ObjectSize.bytes(of: found.fields)
                    guard bytes <= Self.resultBytes else {
                        throw StorageError.refused(
                            ParseError(
                                .objectTooLarge,
                                "The result is too large: ask for fewer objects at once."
                            )
                        )
                    }
                    return found
                }
            }
        }
    }

    package func count(_ query: RowQuery) async throws(StorageError) -> Int {
        let layout = try stored.layout(query.className)
        let condition = SQLCondition.matching(
            query.predicate,
            query.access,
            column: CommonColumn.readers,
            in: layout
        )
        let sql = "SELECT count(*) FROM \(layout.table) WHERE \(condition.text)"
        let parameters = condition.parameters
        return try await reading { connection in
            try connection.withTimeLimit(Self.queryTime) {
                Int(try connection.first(sql, parameters) { $0.int64(0) } ?? 0)
            }
        }
    }

    package func session(
        tokenHash: Digest256
    ) async throws(StorageError) -> SessionRecord? {
        let schema = stored
        let sessions = try schema.layout(SystemClasses.session)
        let users = try schema.layout(SystemClasses.user)
        let condition = SQLCondition(.hidden(HiddenField.tokenHash, .binary(tokenHash.bytes)), in: sessions)
        let sessionSQL = "SELECT \(sessions.selection.list) FROM \(sessions.table) WHERE \(condition.text)"
        let userSQL = "SELECT \(users.selection.list) FROM \(users.table) WHERE \"objectId\"=?"
        let parameters = condition.parameters
        return try await reading { connection in
            let session = try connection.first(sessionSQL, parameters) { sessions.selection.row(from: $0) }
            guard let session else { return nil }
            let user = try session.userID.flatMap { id in
                try connection.first(userSQL, [.text(id)]) { users.selection.row(from: $0) }
            }
            return SessionRecord(session: session, user: user, roles: [])
        }
    }

    package func users(owning identities: [ProviderIdentity]) async throws(StorageError) -> [StoredRow] {
        let users = try stored.layout(SystemClasses.user)
        let userSQL = "SELECT \(users.selection.list) FROM \(users.table) WHERE \"objectId\"=?"
        return try await reading { connection in
            var ids: [String] = []
            for identity in identities {
                let owner = try connection.first(
                    "SELECT userId FROM \"$accounts\" WHERE provider=? AND id=?",
                    [.text(identity.provider), .text(identity.id)]
                ) { $0.text(0) ?? "" }
                if let owner, !ids.contains(owner) { ids.append(owner) }
            }
            return try ids.prefix(2).compactMap { id in
                try connection.first(userSQL, [.text(id)]) { users.selection.row(from: $0) }
            }
        }
    }

    package func distinct(_ query: RowQuery, path: String) async throws(StorageError) -> [JSONValue] {
        throw .failed("not built")
    }

    package func explain(_ query: RowQuery) async throws(StorageError) -> JSONValue {
        throw .failed("not built")
    }

    package func links(
        of relation: RelationField,
        after: RelationLink?,
        limit: Int
    ) async throws(StorageError) -> [RelationLink] {
        throw .failed("not built")
    }

    package func roles(ofUser userID: String) async throws(StorageError) -> [String] {
        []
    }

    /// One process has the file to itself.
    package var isCoherent: Bool {
        true
    }

    package func observe(_ handler: @escaping @Sendable (ChangeNotice) -> Void) {}

    package func close() async {
        await database.close()
    }

    private var stored: StoredSchema {
        current.withLock { $0 }
    }

    private func publish(_ schema: StoredSchema) {
        current.withLock { if schema.version > $0.version { $0 = schema } }
    }

    private func reading<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
    ) async throws(StorageError) -> Result {
        do {
            return try await database.read(body)
        } catch {
            throw Self.translated(error)
        }
    }

    /// The one place where what SQLite says becomes what core understands.
    private static func translated(_ error: any Error) -> StorageError {
        if let error = error as? StorageError { return error }
        switch error as? SQLiteFileFormat.Mismatch {
        case .foreign: return .failed("the file is not the database of an app")
        case .later: return .failed("the file was written by a later version")
        case nil: break
        }
        guard let error = error as? SQLiteError else { return .failed(String(describing: error)) }
        if error == .closed { return .closed }
        if error == .queueFull { return .overloaded }
        if error.isInterrupted { return .refused(ParseError(.timeout, "The query took too long.")) }
        guard error.isUniqueViolation else { return .failed(error.description) }
        let columns = error.uniqueColumns
        if columns.contains(CommonColumn.usernameKey) { return .duplicate(.username) }
        if columns.contains(CommonColumn.emailKey) { return .duplicate(.email) }
        return .duplicate(columns.contains(CommonColumn.objectID) ? .objectID : .other)
    }
}
