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
    private let storages = Locked<[String: PostgresAppStorage]>([:])
    private let listening = Locked(false)
    private let configuration: PostgresConfiguration
    private let loop: EventLoop

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
    package func run() async {
        let listener = PostgresListener(
            configuration,
            channels: [Notification.channel],
            loop: loop,
            onNotification: { [weak self] _, payload in self?.didHear(payload) },
            onChange: { [weak self] isListening in self?.didChange(isListening) }
        )
        await listener.run()
    }

    /// Whether writes of other processes are heard of.
    package var isCoherent: Bool {
        listening.withLock { $0 }
    }

    /// Opens the data of an app, and makes it when there is none.
    ///
    /// - Throws: ``StorageError``, ``StorageError/failed(_:)`` for a server that is too old.
    package func storage(ofApp applicationID: String) async throws(StorageError) -> PostgresAppStorage {
        if let storage = storages.withLock({ $0[applicationID] }) { return storage }
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
        return storages.withLock { storages in
            if let first = storages[applicationID] { return first }
            storages[applicationID] = storage
            return storage
        }
    }

    /// Deletes the data of an app, if there is any.
    package func deleteApp(_ applicationID: String) async throws(StorageError) {
        forget(applicationID)
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

    func forget(_ applicationID: String) {
        storages.withLock { $0[applicationID] = nil }
    }

    // MARK: Notifications

    private func didHear(_ payload: String) {
        guard let notification = Notification(payload: payload), notification.processID != processID,
            let storage = storages.withLock({ $0[notification.applicationID] })
        else { return }
        storage.didHear(notification)
    }

    private func didChange(_ isListening: Bool) {
        guard isListening else {
            listening.withLock { $0 = false }
            return
        }
        // Whatever was notified meanwhile is lost; nobody may rely on anything before everybody knows that.
        for storage in storages.withLock({ Array($0.values) }) { storage.didLoseNotices() }
        listening.withLock { $0 = true }
    }

    // MARK: Making tables

    private func installFunctions() async throws {
        let namespace = DatabaseFunctions.namespace
        let row = try await pool.query(
            "SELECT current_setting('server_version_num')::int8, to_regnamespace($1) IS NOT NULL",
            [.text(namespace)]
        ).first
        let version = try row?.integer(0) ?? 0
        guard version >= Self.oldestServer else {
            throw StorageError.failed("PostgreSQL 15 or later is needed, this is \(version / 10_000)")
        }
        guard try row?.bool(1) != true else { return }
        try await pool.transaction { transaction in
            _ = try await transaction.query("SELECT pg_advisory_xact_lock($1)", [.integer(Self.installationLock)])
            let isThere = try await transaction.query(
                "SELECT to_regnamespace($1) IS NOT NULL",
                [.text(namespace)]
            ).first?.bool(0)
            guard isThere != true else { return }
            _ = try await transaction.run(DatabaseFunctions.installation)
        }
    }

    private func openSchema(_ applicationID: String, _ namespace: String) async throws -> StoredSchema {
        let query = StoredSchema.query(namespace)
        do {
            let result = try await pool.query(query.sql)
            return try StoredSchema(result, namespace: namespace)
        } catch let error as PostgresError where error.isUndefinedTable || error.isUndefinedSchema {
            return try await createSchema(applicationID, namespace)
        }
    }

    private func createSchema(_ applicationID: String, _ namespace: String) async throws -> StoredSchema {
        try await pool.transaction { transaction in
            _ = try await transaction.query("SELECT pg_advisory_xact_lock($1)", [.integer(Self.installationLock)])
            let writer = SchemaWriter(transaction: transaction, namespace: namespace)
            let isThere = try await writer.first("SELECT to_regclass($1) IS NOT NULL", [.text(writer.metadata("$meta"))]) {
                try $0.bool(0)
            }
            if isThere != true { try await writer.create(applicationID: applicationID) }
            let result = try await transaction.run([StoredSchema.query(namespace)])
            return try StoredSchema(result[0], namespace: namespace)
        }
    }
}
