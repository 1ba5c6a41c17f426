import ParseCore
import SQLite

/// The schema of an app as its database holds it, with the tables and columns.
struct StoredSchema: Sendable {
    let snapshot: SchemaSnapshot
    private let layouts: [String: TableLayout]

    var version: Int64 {
        snapshot.version
    }

    func layout(_ className: String) throws(StorageError) -> TableLayout {
        guard let layout = layouts[className] else { throw .failed("the class \(className) has no table") }
        return layout
    }

    /// Reads it from the tables of this file.
    init(_ connection: SQLiteConnection) throws {
        var fields: [String: [(String, FieldType)]] = [:]
        var columns: [String: [String: String]] = [:]
        try connection.forEach(
            "SELECT className,field,type,targetClass,columnName FROM \"$fields\" ORDER BY className,position"
        ) { row in
            guard let className = row.text(0), let field = row.text(1), let typeName = row.text(2),
                let type = FieldType(wireName: typeName, targetClass: row.text(3)), let column = row.text(4)
            else { throw StorageError.failed("a row of the schema is malformed") }
            fields[className, default: []].append((field, type))
            columns[className, default: [:]][field] = column
            return true
        }
        var layouts: [String: TableLayout] = [:]
        var classes: [ClassSchema] = []
        for (className, table) in try Self.tables(connection) {
            let schema = ClassSchema(className: className, fields: fields[className] ?? [])
            classes.append(schema)
            layouts[className] = TableLayout(
                schema: schema,
                tableName: table,
                columnNames: columns[className] ?? [:]
            )
        }
        self.layouts = layouts
        snapshot = SchemaSnapshot(version: try Self.version(connection), classes: classes)
    }

    static func version(_ connection: SQLiteConnection) throws -> Int64 {
        try connection.first("SELECT value FROM \"$meta\" WHERE key='schemaVersion'") { $0.int64(0) } ?? 0
    }

    private static func tables(_ connection: SQLiteConnection) throws -> [(String, String)] {
        try connection.query("SELECT className,tableName FROM \"$classes\"") { row in
            (row.text(0) ?? "", row.text(1) ?? "")
        }
    }
}

/// Changes tables so that they hold what the schema says; runs inside the transaction of a write.
struct SchemaWriter {
    let connection: SQLiteConnection

    /// Makes the tables of a file that has none yet.
    func createFile() throws {
        try connection.execute(
            """
            CREATE TABLE "$meta" (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
            CREATE TABLE "$classes" (className TEXT PRIMARY KEY, tableName TEXT NOT NULL) WITHOUT ROWID;
            CREATE TABLE "$fields" (
                className TEXT NOT NULL, field TEXT NOT NULL, position INTEGER NOT NULL, type TEXT NOT NULL,
                targetClass TEXT, columnName TEXT NOT NULL, PRIMARY KEY (className, field)) WITHOUT ROWID;
            CREATE TABLE "$accounts" (
                provider TEXT NOT NULL, id TEXT NOT NULL, userId TEXT NOT NULL,
                PRIMARY KEY (provider, id)) WITHOUT ROWID;
            CREATE INDEX "$accountsByUser" ON "$accounts" (userId);
            INSERT INTO "$meta" VALUES ('schemaVersion', 0);
            """
        )
        for schema in SystemClasses.schemas {
            try addClass(schema.className)
            for field in schema.fieldNames where !CommonColumn.fields.contains(field) {
                guard let type = schema.type(of: field) else { continue }
                try addField(schema.className, field, type)
            }
        }
        try createSystemIndexes()
    }

    /// Applies the changes that are not there yet.
    ///
    /// - Throws: ``StorageError/schemaConflict(_:)`` for a field that has another type.
    func apply(_ changes: [SchemaChange]) throws {
        for change in changes {
            switch change {
            case .addClass(let className): try addClass(className)
            case .addField(let className, let field, let type):
                try addClass(className)
                try addField(className, field, type)
            case .setOptions, .removeField, .setPermissions, .addIndex, .removeIndex, .removeClass:
                throw StorageError.failed("not built")
            }
        }
    }

    private func addClass(_ className: String) throws {
        let existing = try connection.first(
            "SELECT tableName FROM \"$classes\" WHERE className=?",
            [.text(className)]
        ) { _ in true }
        guard existing == nil else { return }
        // SQLite compares names of tables without regard to case, Parse does not.
        let taken = Set(try connection.query("SELECT lower(name) FROM sqlite_schema") { $0.text(0) ?? "" })
        let table = Self.free(className, taken)
        let hidden = HiddenField.names(of: className).map { name in
            SQLiteIdentifier.quoted(name)
                + (name.hasSuffix("hash") || name == HiddenField.legacyTokenHash ? " BLOB" : " TEXT")
        }
        let keys =
            className == SystemClasses.user
            ? [CommonColumn.usernameKey, CommonColumn.emailKey].map {
                SQLiteIdentifier.quoted($0) + " TEXT UNIQUE"
            }
            : []
        let columns =
            [
                "\"objectId\" TEXT PRIMARY KEY NOT NULL", "\"createdAt\" INTEGER NOT NULL",
                "\"updatedAt\" INTEGER NOT NULL", "\"_readers\" TEXT", "\"_writers\" TEXT", "\"_nulls\" TEXT",
            ] + hidden + keys
        try connection.execute(
            "CREATE TABLE \(SQLiteIdentifier.quoted(table)) (\(columns.joined(separator: ",")))"
        )
        try connection.run("INSERT INTO \"$classes\" VALUES (?,?)", [.text(className), .text(table)])
        for (position, field) in SystemClasses.commonFields.enumerated() {
            try record(className, field.0, field.1, column: field.0, position: position)
        }
        try raiseVersion()
    }

    private func addField(_ className: String, _ field: String, _ type: FieldType) throws {
        let existing = try connection.first(
            "SELECT type,targetClass FROM \"$fields\" WHERE className=? AND field=?",
            [.text(className), .text(field)]
        ) { row in FieldType(wireName: row.text(0) ?? "", targetClass: row.text(1)) }
        if let existing {
            guard existing == type else {
                throw StorageError.schemaConflict(
                    SchemaConflict(
                        className: className,
                        field: field,
                        existing: existing ?? .object,
                        requested: type
                    )
                )
            }
            return
        }
        let table = try table(of: className)
        let taken = try columnNames(of: className)
        // A column of one of these names would hide the number of the row.
        let column = Self.free(field, taken.union(["rowid", "oid"]))
        if !SystemClasses.isVirtual(field, of: className) {
            for declaration in type.columnDeclarations(column) {
                try connection.execute("ALTER TABLE \(table) ADD COLUMN \(declaration)")
            }
        }
        try record(className, field, type, column: column, position: taken.count)
        try raiseVersion()
    }

    private func record(
        _ className: String,
        _ field: String,
        _ type: FieldType,
        column: String,
        position: Int
    ) throws {
        try connection.run(
            "INSERT INTO \"$fields\" VALUES (?,?,?,?,?,?)",
            [
                .text(className), .text(field), .integer(Int64(position)), .text(type.wireName),
                type.targetClass.map(SQLiteValue.text) ?? .null, .text(column),
            ]
        )
    }

    private func table(of className: String) throws -> String {
        let name = try connection.first(
            "SELECT tableName FROM \"$classes\" WHERE className=?",
            [.text(className)]
        ) { $0.text(0) ?? "" }
        guard let name else { throw StorageError.failed("the class \(className) has no table") }
        return SQLiteIdentifier.quoted(name)
    }

    private func columnNames(of className: String) throws -> Set<String> {
        Set(
            try connection.query("SELECT columnName FROM \"$fields\" WHERE className=?", [.text(className)]) {
                ($0.text(0) ?? "").lowercased()
            }
        )
    }

    /// The name itself, or with a number behind it when another differs from it only by case.
    private static func free(_ name: String, _ taken: Set<String>) -> String {
        guard taken.contains(name.lowercased()) else { return name }
        var number = 2
        while taken.contains("\(name.lowercased())~\(number)") { number += 1 }
        return "\(name)~\(number)"
    }

    private func raiseVersion() throws {
        try connection.run("UPDATE \"$meta\" SET value=value+1 WHERE key='schemaVersion'")
    }

    private func createSystemIndexes() throws {
        try connection.execute(
            """
            CREATE UNIQUE INDEX "_Session_token" ON "_Session" ("_token_hash");
            CREATE INDEX "_Session_user" ON "_Session" ("user");
            CREATE UNIQUE INDEX "_Session_installation" ON "_Session" ("user", "installationId")
                WHERE "installationId" IS NOT NULL;
            CREATE INDEX "_Session_end" ON "_Session" ("expiresAt") WHERE "expiresAt" IS NOT NULL;
            CREATE INDEX "_User_legacy_token" ON "_User" ("_session_token") WHERE "_session_token" IS NOT NULL;
            """
        )
    }
}
