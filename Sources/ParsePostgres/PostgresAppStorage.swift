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
        /// Calls that have begun and not ended, and who waits for their end.
        var calls = 0
        var closing: [CheckedContinuation<Void, Never>] = []
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
        guard database.release(self) else { return }
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                state.isClosed = true
                if state.calls > 0 { state.closing.append(continuation) }
                return state.calls == 0
            }
            if isOver { continuation.resume() }
        }
    }

    private func begin() throws(StorageError) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.calls += 1 }
            return state.isClosed
        }
        if isClosed { throw .closed }
    }

    private func end() {
        let waiting = state.withLock { state in
            state.calls -= 1
            guard state.calls == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.closing = [] }
            return state.closing
        }
        for continuation in waiting { continuation.resume() }
    }

    package func write(_ plan: WritePlan) async throws(StorageError) -> WriteOutcome {
        var attempt = 1
        while true {
            do {
                return try await withSchema { schema in try await self.write(plan, schema) }
            } catch {
                // What it replaces was not there when it looked, and then somebody else replaced it first.
                guard case .duplicate = error, plan.replacesRows, attempt < Self.replaceLimit else {
                    throw error
                }
                attempt += 1
            }
        }
    }

    /// Of so many that replace the same row at once, the last must get through.
    private static let replaceLimit = 50

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
        let known = try await transaction.run([
            PostgresStatement(
                "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
                [.text("martlet schema \(applicationID)")]
            ),
            SchemaContent.query(namespace), SchemaDraft.namesQuery(namespace),
        ])
        let taken = Set(try known[2].first?.textArray(0) ?? [])
        let content = try SchemaContent(known[1])
        var draft = SchemaDraft(content, namespace: namespace, taken: taken)
        for change in changes {
            // One that is made by this plan has no table yet, and no rows.
            if case .removeClass(let className) = change, let table = content.classes[className]?.table,
                draft.content.classes[className]?.table == table
            {
                try await requireEmpty(className, table, in: transaction)
            }
            try draft.apply(change)
        }
        if !draft.finished.isEmpty { _ = try await transaction.run(draft.finished) }
        return StoredSchema(draft.content, namespace: namespace)
    }

    /// Makes sure that a class has no rows, and gets none until the commit.
    private func requireEmpty(
        _ className: String,
        _ table: String,
        in transaction: PostgresTransaction
    ) async throws {
        let quoted = "\(namespace).\(PostgresIdentifier.quoted(table))"
        let results = try await transaction.run([
            PostgresStatement("LOCK TABLE \(quoted) IN ACCESS EXCLUSIVE MODE", isReusable: false),
            PostgresStatement("SELECT count(*) FROM \(quoted)", isReusable: false),
        ])
        let count = Int(try results[1].first?.integer(0) ?? 0)
        guard count == 0 else { throw StorageError.classNotEmpty(className, count: count) }
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

    /// How often something is tried while the schema changes under it.
    private static let attemptLimit = 8

    /// Runs a body with the schema as it is known, and again with the one that the database has if a table or column
    /// turns out to be gone, or a class to be unknown here.
    func withSchema<Result>(
        _ body: (StoredSchema) async throws -> Result
    ) async throws(StorageError) -> Result {
        try begin()
        defer { end() }
        var known = state.withLock { $0.schema }
        do {
            known = try await current()
            for _ in 1..<Self.attemptLimit {
                do {
                    return try await body(known)
                } catch {
                    guard Self.isOutOfDate(error) else { throw error }
                    let schema = try await reload()
                    guard schema.version != known.version else { throw error }
                    known = schema
                }
            }
            return try await body(known)
        } catch {
            throw Self.translated(error, known)
        }
    }

    /// Whether the statement names what is not there, or a class is so new that nobody told us yet.
    private static func isOutOfDate(_ error: any Error) -> Bool {
        if case StorageError.unknownClass = error { return true }
        guard let error = error as? PostgresError else { return false }
        return error.isUndefinedTable || error.isUndefinedColumn || error.isUndefinedSchema
            // A column of that name has another type now.
            || error.sqlState == "42804"
    }

    private func current() async throws -> StoredSchema {
        let (schema, isStale) = state.withLock { ($0.schema, $0.isStale) }
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
        let result = try await database.pool.query(SchemaContent.query(namespace).sql)
        let schema = try StoredSchema(result, namespace: namespace)
        publish(schema)
        return schema
    }

    private func publish(_ schema: StoredSchema) {
        state.withLock { if schema.version > $0.schema.version { $0.schema = schema } }
    }

    // MARK: Notices

    /// Looks at the schema again, for whoever looks at ``schema`` without asking anything of the database.
    func refresh() async {
        // What fails here is tried again by the next call.
        _ = try? await current()
    }

    func didHear(_ notification: Notification) {
        let handler = state.withLock { state in
            if notification.isSchemaChanged { state.isStale = true }
            return state.handler
        }
        for notice in notification.notices { handler?(notice) }
    }

    func didLoseNotices() {
        let handler = state.withLock { state in
            state.isStale = true
            return state.handler
        }
        handler?(.everything)
    }
}

extension WritePlan {
    /// Whether it deletes rows of a class and then makes one.
    fileprivate var replacesRows: Bool {
        var deleted: Set<String> = []
        for step in steps {
            switch step {
            case .delete(let deletion): deleted.insert(deletion.className)
            case .insert(let className, _): if deleted.contains(className) { return true }
            default: break
            }
        }
        return false
    }
}
