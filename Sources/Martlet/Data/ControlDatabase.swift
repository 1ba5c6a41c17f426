import Cryptography
import ParseCore
package import ParseWire
import SQLite
import Locking

/// The database that knows the apps: `martlet.db` of the data folder.
///
/// Several processes may have it open: the server reads it, the commands change it.
package final class ControlDatabase: Sendable {
    /// "MrtC".
    private static let format = SQLiteFileFormat(applicationID: 0x4D72_7443, version: 1)
    private static let tables = """
        CREATE TABLE apps (
            id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, clientKey TEXT, restAPIKey TEXT,
            javascriptKey TEXT, masterKeyHash BLOB NOT NULL, createdAt INTEGER NOT NULL);
        """
    private let connection: Locked<Connection>

    /// Opens the database of a folder, and makes it when there is none.
    ///
    /// - Throws: ``ConfigurationError`` for a file that is something else, or cannot be read or written.
    package init(_ folder: DataFolder) throws(ConfigurationError) {
        do {
            let connection = try SQLiteConnection(
                path: folder.controlDatabase,
                mode: .readWriteCreate,
                busyTimeout: .seconds(5)
            )
            try Self.format.prepare(connection) { try connection.execute(Self.tables) }
            self.connection = Locked(Connection(connection))
        } catch {
            throw Self.translated(error, folder)
        }
    }

    /// All apps, oldest first.
    package func apps() throws -> [AppRecord] {
        try connection.withLock {
            try $0.value.query(Self.selection + " ORDER BY createdAt, id", [], Self.record)
        }
    }

    package func app(id: String) throws -> AppRecord? {
        try connection.withLock {
            try $0.value.first(Self.selection + " WHERE id=?", [.text(id)], Self.record)
        }
    }

    /// Makes an app with random keys.
    ///
    /// - Throws: ``ConfigurationError`` for a name that is empty, too long, or holds control characters.
    package func createApp(named name: String, at now: Timestamp) throws -> NewAppKeys {
        try AppName.check(name)
        let app = NewAppKeys.make(name: name)
        try add(app.record, at: now)
        return app
    }

    /// Keeps a record of an app.
    ///
    /// - Throws: ``ConfigurationError`` when there is one of that id.
    package func add(_ app: AppRecord, at now: Timestamp) throws {
        let keys = app.credentials
        let count = try connection.withLock {
            try $0.value.run(
                """
                INSERT INTO apps (id,name,clientKey,restAPIKey,javascriptKey,masterKeyHash,createdAt)
                VALUES (?,?,?,?,?,?,?) ON CONFLICT DO NOTHING
                """,
                [
                    .text(app.id), .text(app.name), Self.text(keys.clientKey), Self.text(keys.restAPIKey),
                    Self.text(keys.javascriptKey), .blob(keys.masterKeyHash.bytes),
                    .integer(now.milliseconds),
                ]
            )
        }
        guard count == 1 else { throw ConfigurationError("There is an app \"\(app.id)\" already.") }
    }

    /// Gives the app another master key; `nil` when there is no such app.
    package func rotateMasterKey(ofApp id: String) throws -> NewAppKeys? {
        let masterKey = NewAppKeys.key()
        let changed = try connection.withLock {
            try $0.value.run(
                "UPDATE apps SET masterKeyHash=? WHERE id=?",
                [.blob(SHA256.hash(masterKey).bytes), .text(id)]
            )
        }
        guard changed > 0, let record = try app(id: id) else { return nil }
        return NewAppKeys(record: record, masterKey: masterKey)
    }

    /// Forgets the app; its data are the caller's to delete.
    ///
    /// - Returns: Whether there was one.
    package func deleteApp(id: String) throws -> Bool {
        try connection.withLock { try $0.value.run("DELETE FROM apps WHERE id=?", [.text(id)]) > 0 }
    }

    /// A number that changes when another process changes the database.
    package func changeCounter() throws -> Int64 {
        try connection.withLock { try $0.value.first("PRAGMA data_version") { $0.int64(0) } ?? 0 }
    }

    package func close() {
        connection.withLock { $0.value.close() }
    }

    private static let selection =
        "SELECT id,name,clientKey,restAPIKey,javascriptKey,masterKeyHash FROM apps"

    private static func record(_ row: borrowing SQLiteRow) throws -> AppRecord {
        guard let hash = Digest256(bytes: row.blob(5) ?? []) else {
            throw SQLiteError(code: 11, message: "the hash of a master key is malformed")
        }
        return AppRecord(
            id: row.text(0) ?? "",
            name: row.text(1) ?? "",
            credentials: AppCredentials(
                clientKey: row.text(2),
                restAPIKey: row.text(3),
                javascriptKey: row.text(4),
                masterKeyHash: hash
            )
        )
    }

    private static func text(_ text: String?) -> SQLiteValue {
        text.map(SQLiteValue.text) ?? .null
    }

    private static func translated(_ error: any Error, _ folder: DataFolder) -> ConfigurationError {
        let reason =
            switch error {
            case SQLiteFileFormat.Mismatch.foreign: "it is another program's database"
            case SQLiteFileFormat.Mismatch.later: "a later version of martlet wrote it"
            case let error as SQLiteError: error.message
            default: String(describing: error)
            }
        return ConfigurationError("The control database \(folder.controlDatabase) cannot be used: \(reason).")
    }
}

/// Carries the connection into the mutex.
///
/// SAFETY: the connection is made by the initialiser that puts it there, and reached through the mutex only.
private struct Connection: @unchecked Sendable {
    let value: SQLiteConnection

    init(_ value: SQLiteConnection) {
        self.value = value
    }
}
