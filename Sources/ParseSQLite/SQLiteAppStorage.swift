package import ParseCore
package import SQLite
import Locking

/// The database of one app in one SQLite file.
package final class SQLiteAppStorage: AppStorage {
    let database: SQLiteDatabase
    private let current: Locked<StoredSchema>

    /// Opens the file, and makes it when it is not there.
    ///
    /// Blocks the calling thread for as long as it takes to read the schema, and to bring a file of an earlier version
    /// to this one.
    ///
    /// - Throws: ``StorageError/failed(_:)`` for a file that is no app's database or was written by a later
    ///   version, and for whatever SQLite says.
    package init(path: String, configuration: SQLiteDatabaseConfiguration = .init()) throws(StorageError) {
        do {
            let setUp = try SQLiteConnection(path: path, mode: .readWriteCreate, busyTimeout: .seconds(10))
            defer { setUp.close() }
            try DatabaseFile(connection: setUp).prepare()
            let schema = try StoredSchema(setUp)
            var configuration = configuration
            let onOpen = configuration.onOpen
            configuration.onOpen = { connection in
                try SQLFunctions.add(to: connection)
                try onOpen?(connection)
            }
            database = try SQLiteDatabase(path: path, configuration: configuration)
            current = Locked(schema)
        } catch {
            throw Self.translated(error, nil)
        }
    }

    package var schema: SchemaSnapshot {
        stored.snapshot
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
            throw Self.translated(error, published)
        }
        publish(result.schema)
        return result.outcome
    }

    /// One process has the file to itself.
    package var isCoherent: Bool {
        true
    }

    package func observe(_ handler: @escaping @Sendable (ChangeNotice) -> Void) {}

    package func close() async {
        await database.close()
    }

    var stored: StoredSchema {
        current.withLock { $0 }
    }

    private func publish(_ schema: StoredSchema) {
        current.withLock { if schema.version > $0.version { $0 = schema } }
    }
}
