import Locking
package import ParseCore
import Postgres

/// The database of one app in a schema of a PostgreSQL database.
package final class PostgresAppStorage: AppStorage {
    let database: PostgresDatabase
    package let applicationID: String
    let namespace: String
    private let state: Locked<State>

    private struct State {
        var schema: StoredSchema
        /// Another process may have changed the schema.
        var isStale = false
        var isClosed = false
        var handler: (@Sendable (ChangeNotice) -> Void)?
    }

    init(database: PostgresDatabase, applicationID: String, schema: StoredSchema) {
        self.database = database
        self.applicationID = applicationID
        namespace = schema.namespace
        state = Locked(State(schema: schema))
    }

    package var schema: SchemaSnapshot {
        state.withLock { $0.schema.snapshot }
    }

    package var isCoherent: Bool {
        database.isCoherent
    }

    package func observe(_ handler: @escaping @Sendable (ChangeNotice) -> Void) {
        state.withLock { $0.handler = handler }
    }

    package func close() async {
        state.withLock { $0.isClosed = true }
        database.forget(applicationID)
    }

    package func write(_ plan: WritePlan) async throws(StorageError) -> WriteOutcome {
        try await withSchema { schema in try await self.write(plan, schema) }
    }

    private func write(_ plan: WritePlan, _ published: StoredSchema) async throws -> WriteOutcome {
        let searches = try await searchResults(for: plan.steps, published)
        let (outcome, schema) = try await database.pool.transaction { transaction in
            var schema = published
            if !plan.schemaChanges.isEmpty {
                schema = try await self.apply(plan.schemaChanges, in: transaction)
            }
            var runner = PlanRunner(transaction: transaction, schema: schema, searches: searches)
            let ending = self.notification(of: plan, schema.version != published.version)
            return (try await runner.run(plan.steps, ending: ending), schema)
        }
        publish(schema)
        return outcome
    }

    private func apply(
        _ changes: [SchemaChange],
        in transaction: PostgresTransaction
    ) async throws -> StoredSchema {
        // One at a time for each app: who comes second sees what the first has made.
        _ = try await transaction.query(
            "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
            [.text("martlet schema \(applicationID)")]
        )
        try await SchemaWriter(transaction: transaction, namespace: namespace).apply(changes)
        let result = try await transaction.run([StoredSchema.query(namespace)])
        return try StoredSchema(result[0], namespace: namespace)
    }

    private func notification(of plan: WritePlan, _ isSchemaChanged: Bool) -> [PostgresStatement] {
        let notification = Notification(
            processID: database.processID,
            applicationID: applicationID,
            isSchemaChanged: isSchemaChanged,
            notices: plan.notices
        )
        guard !notification.isEmpty else { return [] }
        return [
            PostgresStatement(
                "SELECT pg_notify($1, $2)",
                [.text(Notification.channel), .text(notification.payload)]
            )
        ]
    }

    // MARK: The schema

    /// Runs a body with the schema as it is known, and once more with the one that the database has if a table or
    /// column turns out to be gone.
    func withSchema<Result>(
        _ body: (StoredSchema) async throws -> Result
    ) async throws(StorageError) -> Result {
        var known = state.withLock { $0.schema }
        do {
            known = try await current()
            return try await body(known)
        } catch let error as PostgresError where error.isOutOfDate {
            do {
                let schema = try await reload()
                guard schema.version != known.version else { throw error }
                known = schema
                return try await body(schema)
            } catch {
                throw Self.translated(error, known)
            }
        } catch StorageError.unknownClass(let className) {
            // It may be so new that nobody told us yet.
            do {
                let schema = try await reload()
                guard schema.version != known.version else { throw StorageError.unknownClass(className) }
                return try await body(schema)
            } catch {
                throw Self.translated(error, known)
            }
        } catch {
            throw Self.translated(error, known)
        }
    }

    private func current() async throws -> StoredSchema {
        let (schema, isStale, isClosed) = state.withLock { ($0.schema, $0.isStale, $0.isClosed) }
        guard !isClosed else { throw StorageError.closed }
        // While nobody tells us of changes we look for ourselves.
        guard isStale || !isCoherent else { return schema }
        state.withLock { $0.isStale = false }
        do {
            let version = try await database.pool.query("SELECT version FROM \(schema.metadata("$meta"))")
            guard try version.first?.integer(0) != schema.version else { return schema }
            return try await reload()
        } catch {
            state.withLock { $0.isStale = true }
            throw error
        }
    }

    @discardableResult
    private func reload() async throws -> StoredSchema {
        let result = try await database.pool.query(StoredSchema.query(namespace).sql)
        let schema = try StoredSchema(result, namespace: namespace)
        publish(schema)
        return schema
    }

    private func publish(_ schema: StoredSchema) {
        state.withLock { if schema.version > $0.schema.version { $0.schema = schema } }
    }

    // MARK: Notices

    func didHear(_ notification: Notification) {
        let handler = state.withLock { state in
            if notification.isSchemaChanged { state.isStale = true }
            return state.handler
        }
        if notification.isSchemaChanged {
            // Whoever looks at the schema without asking anything of the database is to see it soon.
            Task { _ = try? await current() }
        }
        for notice in notification.notices { handler?(notice) }
    }

    func didLoseNotices() {
        let handler = state.withLock { state in
            state.isStale = true
            return state.handler
        }
        Task { _ = try? await current() }
        handler?(.everything)
    }
}

extension PostgresError {
    /// Whether the statement names what is not there, or the client's picture of it is old.
    fileprivate var isOutOfDate: Bool {
        isUndefinedTable || isUndefinedColumn || isUndefinedSchema || sqlState == "42804"
    }
}
