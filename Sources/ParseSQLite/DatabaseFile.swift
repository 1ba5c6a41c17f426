import JSON
import ParseCore
import SQLite

/// The tables of an app's file that are not classes, and how an older file becomes one of today.
struct DatabaseFile {
    let connection: SQLiteConnection

    /// "Mrt1".
    static let format = SQLiteFileFormat(applicationID: 0x4D72_7431, version: 2)

    /// Makes or upgrades the tables in one transaction.
    func prepare() throws {
        try Self.format.prepare(connection, create: create, upgrade: upgrade)
        // Whoever knew these names has ended.
        try connection.run("DELETE FROM \"$dropped\"")
    }

    private func create() throws {
        try connection.execute(
            """
            CREATE TABLE "$meta" (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
            CREATE TABLE "$classes" (
                className TEXT PRIMARY KEY, tableName TEXT NOT NULL, permissions TEXT) WITHOUT ROWID;
            CREATE TABLE "$fields" (
                className TEXT NOT NULL, field TEXT NOT NULL, position INTEGER NOT NULL, type TEXT NOT NULL,
                targetClass TEXT, columnName TEXT NOT NULL, options TEXT,
                PRIMARY KEY (className, field)) WITHOUT ROWID;
            CREATE TABLE "$accounts" (
                provider TEXT NOT NULL, id TEXT NOT NULL, userId TEXT NOT NULL,
                PRIMARY KEY (provider, id)) WITHOUT ROWID;
            CREATE INDEX "$accountsByUser" ON "$accounts" (userId);
            INSERT INTO "$meta" VALUES ('schemaVersion', 0);
            """
        )
        try createIndexTable()
        try createInitialClasses()
    }

    private func createIndexTable() throws {
        // `dropped` has names that were in use, so that what was read of the schema before never means
        // another table or column.
        try connection.execute(
            """
            CREATE TABLE "$indexes" (
                className TEXT NOT NULL, name TEXT NOT NULL, keys TEXT NOT NULL, indexName TEXT,
                PRIMARY KEY (className, name)) WITHOUT ROWID;
            CREATE TABLE "$dropped" (name TEXT PRIMARY KEY) WITHOUT ROWID;
            """
        )
    }

    private func createInitialClasses() throws {
        let writer = SchemaWriter(connection: connection)
        for className in SystemClasses.initial { try writer.addClass(className) }
    }

    private func upgrade(from version: Int64) throws {
        guard version < 2 else { return }
        try connection.execute(
            """
            ALTER TABLE "$classes" ADD COLUMN permissions TEXT;
            ALTER TABLE "$fields" ADD COLUMN options TEXT;
            DROP INDEX "_Session_user";
            """
        )
        try createIndexTable()
        let writer = SchemaWriter(connection: connection)
        for (className, table) in try writer.tables() {
            try connection.execute(
                "ALTER TABLE \(SQLiteIdentifier.quoted(table)) "
                    + "ADD COLUMN \(SQLiteIdentifier.quoted(CommonColumn.size)) INTEGER"
            )
            try writer.createCommonIndexes(className, table)
            try writer.createPointerIndexes(className, table)
        }
        try createInitialClasses()
    }
}
