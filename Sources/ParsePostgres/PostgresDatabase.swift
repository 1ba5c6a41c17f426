import Cryptography
package import EventLoop
import Locking
package import ParseCore
package import Postgres

/// One PostgreSQL database with the data of many apps, each in a schema of its own, shared by many processes.
package final class PostgresDatabase: Sendable {
    /// For whatever else is kept in the database.
    package let pool: PostgresPool
    /// Tells our own notifications from those of others.
    let processID = SecureRandom.hex(byteCount: 12)
    /// The apps that are open, and how many have opened them and not closed again.
    private let storages = Locked<[String: (storage: PostgresAppStorage, users: Int)]>([:])
    private let listening = Locked(false)
    private let configuration: PostgresConfiguration
    private let loop: EventLoop
    /// Apps whose schema is to be looked at again.
    private let refreshes = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(4096))

    /// Processes that make functions or apps at once wait for each other by this number.
    static let installationLock: Int64 = 0x4D72_746C_0001
    private static let oldestServer = 150_000

    /// Makes the pool; it connects when it is used.
    ///
    /// - Parameters:
    ///   - url: As libpq understands it; see ``PostgresConfiguration/url``.
    ///   - loops: Serve the connections.
    ///   - change: May change limits and time-outs.
    package init(
        url: String,
        loops: [EventLoop],
        _ change: (inout PostgresConfiguration) -> Void = { _ in }
    ) {
        var configuration = PostgresConfiguration(url: url)
        // Compiling a query costs more than most of ours take.
        configuration.settings = [("jit", "off"), ("search_path", "pg_catalog")]
        change(&configuration)
        self.configuration = configuration
        loop = loops[0]
        pool = PostgresPool(configuration, loops: loops)
    }

    /// Listens to other processes until the task is cancelled; without it ``isCoherent`` is never true.
    ///
    /// To be called once.
    package func run() async {
        let listener = PostgresListener(
            configuration,
            channels: [Notification.channel],
            loop: loop,
            onNotification: { [weak self] _, payload in self?.didHear(payload) },
            onChange: { [weak self] isListening in self?.didChange(isListening) }
        )
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await listener.run() }
            for await applicationID in refreshes.stream {
                guard let storage = storages.withLock({ $0[applicationID]?.storage }) else { continue }
                await storage.refresh()
            }
        }
    }

    /// Whether writes of other processes are heard of.
    package var isCoherent: Bool {
        listening.withLock { $0 }
    }

    /// Makes sure that the server is one that we know how to use.
    ///
    /// - Throws: ``StorageError/failed(_:)`` for one that is too old; ``PostgresError``.
    package func checkServer() async throws {
        let row = try await pool.query("SELECT current_setting('server_version_num')::int8").first
        try Self.check(serverVersion: try row?.integer(0) ?? 0)
    }

    /// - Throws: ``StorageError/failed(_:)`` for a version that is too old, in the form of `server_version_num`.
    package static func check(serverVersion version: Int64) throws(StorageError) {
        guard version >= oldestServer else {
            throw StorageError.failed("PostgreSQL 15 or later is needed, this is \(version / 10_000)")
        }
    }

    /// Opens the data of an app, and makes it when there is none.
    ///
    /// Whoever opens it closes it; it is closed for all when the last of them does.
    ///
    /// - Throws: ``StorageError``, ``StorageError/failed(_:)`` for a server that is too old.
    package func storage(ofApp applicationID: String) async throws(StorageError) -> PostgresAppStorage {
        if let storage = retained(applicationID, orAdding: nil) { return storage }
        let namespace = PostgresIdentifier.quoted(SchemaName.of(applicationID: applicationID))
        let schema: StoredSchema
        do {
            try await installFunctions()
            schema = try await openSchema(applicationID, namespace)
        } catch {
            throw PostgresAppStorage.translated(error, nil)
        }
        let storage = PostgresAppStorage(database: self, applicationID: applicationID, schema: schema)
        // Somebody may have been quicker; there is one object for each app, so that all hear the same.
        return retained(applicationID, orAdding: storage) ?? storage
    }

    private func retained(
        _ applicationID: String,
        orAdding storage: PostgresAppStorage?
    ) -> PostgresAppStorage? {
        storages.withLock { storages in
            guard let first = storages[applicationID]?.storage ?? storage else { return nil }
            storages[applicationID, default: (first, 0)].users += 1
            return first
        }
    }

    /// Whether there are data of an app.
    package func hasApp(_ applicationID: String) async throws -> Bool {
        let sql = "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname=$1)"
        let result = try await pool.query(sql, [.text(SchemaName.of(applicationID: applicationID))])
        return try result.first?.bool(0) == true
    }

    /// Deletes the data of an app, if there is any.
    package func deleteApp(_ applicationID: String) async throws(StorageError) {
        storages.withLock { $0[applicationID] = nil }
        let namespace = PostgresIdentifier.quoted(SchemaName.of(applicationID: applicationID))
        do {
            try await pool.run([
                PostgresStatement("DROP SCHEMA IF EXISTS \(namespace) CASCADE", isReusable: false)
            ])
        } catch {
            throw PostgresAppStorage.translated(error, nil)
        }
    }

    /// Closes the connections once what is under way is done.
    package func close() async {
        storages.withLock { $0 = [:] }
        await pool.close()
    }

    /// Forgets the storage, unless others have opened it too.
    ///
    /// An app that has been idle may be asked for again in the moment in which it is closed.
    ///
    /// - Returns: Whether it is to be closed.
    func release(_ storage: PostgresAppStorage) -> Bool {
        storages.withLock { storages in
            guard let entry = storages[storage.applicationID], entry.storage === storage else { return true }
            storages[storage.applicationID] = entry.users > 1 ? (storage, entry.users - 1) : nil
            return entry.users == 1
        }
    }

    // MARK: Notifications

    private func didHear(_ payload: String) {
        guard let notification = Notification(payload: payload), notification.processID != processID,
            let storage = storages.withLock({ $0[notification.applicationID]?.storage })
        else { return }
        storage.didHear(notification)
        if notification.isSchemaChanged { refreshes.continuation.yield(storage.applicationID) }
    }

    private func didChange(_ isListening: Bool) {
        guard isListening else {
            listening.withLock { $0 = false }
            return
        }
        // Whatever was notified meanwhile is lost; nobody may rely on anything before everybody knows that.
        for storage in storages.withLock({ $0.values.map(\.storage) }) {
            storage.didLoseNotices()
            refreshes.continuation.yield(storage.applicationID)
        }
        listening.withLock { $0 = true }
    }

    // MARK: Making tables

    private func installFunctions() async throws {
        // A look at the table itself: what functions like `to_regnamespace` say may be out of date.
        let query = PostgresStatement(
            "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname=$1)",
            [.text(DatabaseFunctions.name)]
        )
        guard try await pool.query(query.sql, query.parameters).first?.bool(0) != true else { return }
        try await checkServer()
        try await pool.transaction { transaction in
            let lock = PostgresStatement(
                "SELECT pg_advisory_xact_lock($1)",
                [.integer(Self.installationLock)]
            )
            let found = try await transaction.run([lock, query])
            guard try found[1].first?.bool(0) != true else { return }
            _ = try await transaction.run(DatabaseFunctions.installation)
        }
    }

    private func openSchema(_ applicationID: String, _ namespace: String) async throws -> StoredSchema {
        let query = SchemaContent.query(namespace)
        do {
            let result = try await pool.query(query.sql)
            return try StoredSchema(result, namespace: namespace)
        } catch let error as PostgresError where error.isUndefinedTable || error.isUndefinedSchema {
            return try await createSchema(applicationID, namespace)
        }
    }

    private func createSchema(_ applicationID: String, _ namespace: String) async throws -> StoredSchema {
        try await pool.transaction { transaction in
            let known = try await transaction.run([
                PostgresStatement(
                    "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))",
                    [.text("martlet app \(applicationID)")]
                ),
                PostgresStatement(
                    "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname=$1)",
                    [.text(SchemaName.of(applicationID: applicationID))]
                ),
            ])
            if try known[1].first?.bool(0) != true {
                let draft = try SchemaDraft.ofNewApp(applicationID, namespace: namespace)
                _ = try await transaction.run(draft.finished)
            }
            let result = try await transaction.run([SchemaContent.query(namespace)])
            return try StoredSchema(result[0], namespace: namespace)
        }
    }
}
