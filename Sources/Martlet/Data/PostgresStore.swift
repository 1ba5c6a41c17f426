import Cryptography
package import EventLoop
package import ParseCore
import ParsePostgres
package import ParseWire
import Postgres

/// Apps and data in a PostgreSQL database that several processes share: the apps in the schema `martlet`, the data of
/// each app in a schema of its own.
package final class PostgresStore: DataStore {
    private let database: PostgresDatabase
    private let problem: DatabaseProblem
    /// Processes that make the tables at once wait for each other by this number.
    private static let lock: Int64 = 0x4D72_746C_0002
    private static let version: Int64 = 1

    /// Connects, and makes what is missing.
    ///
    /// - Parameters:
    ///   - url: `postgres://user:password@host:port/database`, as libpq understands it.
    ///   - loops: Serve the connections.
    /// - Throws: ``ConfigurationError`` for a database that cannot be reached or used; it does not tell the URL, which
    ///   may hold a password.
    package init(url: String, loops: [EventLoop]) async throws(ConfigurationError) {
        database = PostgresDatabase(url: url, loops: loops)
        problem = DatabaseProblem(url: url)
        do {
            try await prepare()
        } catch {
            await database.close()
            throw problem.error(error)
        }
    }

    private func prepare() async throws {
        try await database.checkServer()
        let newest: Int64 = try await database.pool.transaction { transaction in
            _ = try await transaction.run([
                PostgresStatement("SELECT pg_advisory_xact_lock($1)", [.integer(Self.lock)]),
                PostgresStatement("CREATE SCHEMA IF NOT EXISTS martlet", isReusable: false),
                PostgresStatement(
                    """
                    CREATE TABLE IF NOT EXISTS martlet.apps (
                        id text COLLATE "C" PRIMARY KEY, name text NOT NULL, "clientKey" text, "restAPIKey" text,
                        "javascriptKey" text, "masterKeyHash" bytea NOT NULL, "createdAt" bigint NOT NULL)
                    """,
                    isReusable: false
                ),
                PostgresStatement(
                    "CREATE TABLE IF NOT EXISTS martlet.meta (key text PRIMARY KEY, value bigint NOT NULL)",
                    isReusable: false
                ),
                PostgresStatement(
                    "INSERT INTO martlet.meta VALUES ('version', $1), ('changes', 0) ON CONFLICT DO NOTHING",
                    [.integer(Self.version)]
                ),
            ])
            let row = try await transaction.query("SELECT value FROM martlet.meta WHERE key='version'").first
            return try row?.integer(0) ?? 0
        }
        guard newest <= Self.version else {
            throw ConfigurationError("The database was made by a later version of martlet.")
        }
    }

    package func apps() async throws -> [AppRecord] {
        try await reading("SELECT \(Self.columns) FROM martlet.apps ORDER BY \"createdAt\", id")
    }

    package func createApp(named name: String, at now: Timestamp) async throws -> NewAppKeys {
        try AppName.check(name)
        let app = NewAppKeys.make(name: name)
        try await add(app.record, at: now)
        return app
    }

    package func createFirstApp(named name: String, at now: Timestamp) async throws -> NewAppKeys? {
        let app = NewAppKeys.make(name: name)
        let statement = Self.insertion(app.record, at: now, onlyFirst: true)
        let count = try await changing([
            // One process at a time, so that of two first runs one finds the app of the other.
            PostgresStatement("SELECT pg_advisory_xact_lock($1)", [.integer(Self.lock)]), statement,
        ])
        return count == 1 ? app : nil
    }

    package func add(_ app: AppRecord, at now: Timestamp) async throws {
        let count = try await changing([Self.insertion(app, at: now, onlyFirst: false)])
        guard count == 1 else { throw ConfigurationError("There is an app \"\(app.id)\" already.") }
    }

    package func rotateMasterKey(ofApp id: String) async throws -> NewAppKeys? {
        let masterKey = NewAppKeys.key()
        let count = try await changing([
            PostgresStatement(
                "UPDATE martlet.apps SET \"masterKeyHash\"=$1 WHERE id=$2",
                [.bytes(SHA256.hash(masterKey).bytes), .text(id)]
            )
        ])
        guard count == 1, let record = try await app(id: id) else { return nil }
        return NewAppKeys(record: record, masterKey: masterKey)
    }

    package func deleteApp(id: String) async throws -> Bool {
        let statement = PostgresStatement("DELETE FROM martlet.apps WHERE id=$1", [.text(id)])
        guard try await changing([statement]) == 1 else { return false }
        try await discardStorage(ofApp: id)
        return true
    }

    package func changeCounter() async throws -> Int64 {
        do {
            let row = try await database.pool.query(
                "SELECT value FROM martlet.meta WHERE key='changes'"
            ).first
            return try row?.integer(0) ?? 0
        } catch {
            throw problem.error(error)
        }
    }

    package func openStorage(ofApp id: String) async throws -> any AppStorage {
        try await database.storage(ofApp: id)
    }

    package func hasStorage(ofApp id: String) async throws -> Bool {
        do {
            return try await database.hasApp(id)
        } catch {
            throw problem.error(error)
        }
    }

    package func discardStorage(ofApp id: String) async throws {
        try await database.deleteApp(id)
    }

    package func run() async {
        await database.run()
    }

    package func close() async {
        await database.close()
    }

    private static let columns =
        "id,name,\"clientKey\",\"restAPIKey\",\"javascriptKey\",\"masterKeyHash\""

    private static func insertion(
        _ app: AppRecord,
        at now: Timestamp,
        onlyFirst: Bool
    ) -> PostgresStatement {
        let keys = app.credentials
        let condition = onlyFirst ? "WHERE NOT EXISTS (SELECT FROM martlet.apps)" : ""
        return PostgresStatement(
            """
            INSERT INTO martlet.apps (\(columns),"createdAt")
            SELECT $1::text,$2::text,$3::text,$4::text,$5::text,$6::bytea,$7::bigint \(condition)
            ON CONFLICT DO NOTHING
            """,
            [
                .text(app.id), .text(app.name), text(keys.clientKey), text(keys.restAPIKey),
                text(keys.javascriptKey), .bytes(keys.masterKeyHash.bytes), .integer(now.milliseconds),
            ]
        )
    }

    private static func text(_ text: String?) -> PostgresValue {
        text.map(PostgresValue.text) ?? .null
    }

    /// Runs statements in one transaction, and tells the other processes that the apps have changed.
    ///
    /// - Returns: How many rows the last of them touched.
    private func changing(_ statements: [PostgresStatement]) async throws -> Int {
        let change = PostgresStatement("UPDATE martlet.meta SET value=value+1 WHERE key='changes'")
        do {
            return try await database.pool.run(statements + [change])[statements.count - 1].affectedRows
        } catch {
            throw problem.error(error)
        }
    }

    private func reading(_ sql: String) async throws -> [AppRecord] {
        do {
            return try await database.pool.query(sql).rows.map(Self.record)
        } catch {
            throw problem.error(error)
        }
    }

    private static func record(_ row: PostgresRow) throws -> AppRecord {
        guard let hash = Digest256(bytes: try row.bytes(5) ?? []) else {
            throw ConfigurationError("The hash of a master key is malformed.")
        }
        return AppRecord(
            id: try row.text(0) ?? "",
            name: try row.text(1) ?? "",
            credentials: AppCredentials(
                clientKey: try row.text(2),
                restAPIKey: try row.text(3),
                javascriptKey: try row.text(4),
                masterKeyHash: hash
            )
        )
    }
}
