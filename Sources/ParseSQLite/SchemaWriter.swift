import JSON
import ParseCore
import SQLite

/// Changes tables so that they hold what the schema says; runs inside the transaction of a write.
struct SchemaWriter {
    let connection: SQLiteConnection

    /// Applies the changes, in order; what is so already is left as it is.
    ///
    /// - Throws: ``StorageError/schemaConflict(_:)`` for a field that has another type,
    ///   ``StorageError/classNotEmpty(_:count:)`` for the removal of a class that has rows.
    func apply(_ changes: [SchemaChange]) throws {
        for change in changes { try apply(change) }
    }

    private func apply(_ change: SchemaChange) throws {
        switch change {
        case .addClass(let className): try addClass(className)
        case .addField(let className, let field, let type):
            try addClass(className)
            try addField(className, field, type)
        case .setOptions(let className, let field, let options):
            try update(
                "UPDATE \"$fields\" SET options=? WHERE className=? AND field=?",
                [options.stored.map(SQLiteValue.text) ?? .null, .text(className), .text(field)]
            )
        case .removeField(let className, let field): try removeField(className, field)
        case .setPermissions(let className, let permissions):
            let json = permissions.map { JSONValue.object($0.json).serializedString() }
            try update(
                "UPDATE \"$classes\" SET permissions=? WHERE className=?",
                [json.map(SQLiteValue.text) ?? .null, .text(className)]
            )
        case .addIndex(let className, let name, let definition):
            try addIndex(className, name, definition)
        case .removeIndex(let className, let name): try removeIndex(className, name)
        case .removeClass(let className): try removeClass(className)
        }
    }

    private func update(_ sql: String, _ parameters: [SQLiteValue]) throws {
        if try connection.run(sql, parameters) > 0 { try raiseVersion() }
    }

    // MARK: Classes

    /// Makes the class if it is not there, one of Parse's own with the fields that it has.
    func addClass(_ className: String) throws {
        guard try tableName(of: className) == nil else { return }
        let table = try freeTableName(className)
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
                "\"_size\" INTEGER",
            ] + hidden + keys
        try connection.execute(
            "CREATE TABLE \(SQLiteIdentifier.quoted(table)) (\(columns.joined(separator: ",")))"
        )
        try connection.run(
            "INSERT INTO \"$classes\" VALUES (?,?,NULL)",
            [.text(className), .text(table)]
        )
        for (position, field) in SystemClasses.commonFields.enumerated() {
            try record(className, field.0, field.1, column: field.0, position: position)
        }
        for (field, type) in SystemClasses.fields(of: className) ?? [] {
            try addField(className, field, type)
        }
        try createCommonIndexes(className, table)
        try raiseVersion()
    }

    /// Removes the class with all that belongs to it.
    ///
    /// One that every app has is there again at once, as new.
    private func removeClass(_ className: String) throws {
        guard let name = try tableName(of: className) else { return }
        let table = SQLiteIdentifier.quoted(name)
        let count = try connection.first("SELECT count(*) FROM \(table)") { Int($0.int64(0)) } ?? 0
        guard count == 0 else { throw StorageError.classNotEmpty(className, count: count) }
        for table in try linkTables(of: className) { try drop(table: table) }
        try drop(table: name)
        for metadata in ["$classes", "$fields", "$indexes"] {
            try connection.run(
                "DELETE FROM \(SQLiteIdentifier.quoted(metadata)) WHERE className=?",
                [.text(className)]
            )
        }
        try raiseVersion()
        if SystemClasses.initial.contains(className) { try addClass(className) }
    }

    private func linkTables(of className: String) throws -> [String] {
        try connection.query(
            "SELECT columnName FROM \"$fields\" WHERE className=? AND type='Relation'",
            [.text(className)]
        ) { $0.text(0) ?? "" }
    }

    // MARK: Names

    /// All classes with their tables.
    func tables() throws -> [(className: String, table: String)] {
        try connection.query("SELECT className,tableName FROM \"$classes\"") { row in
            (row.text(0) ?? "", row.text(1) ?? "")
        }
    }

    func tableName(of className: String) throws -> String? {
        try connection.first("SELECT tableName FROM \"$classes\" WHERE className=?", [.text(className)]) {
            $0.text(0) ?? ""
        }
    }

    /// A name that no table has or had: the wanted one, or with a number behind it.
    ///
    /// SQLite compares names without regard to case, Parse does not.
    func freeTableName(_ wanted: String) throws -> String {
        let isTaken = try connection.first(
            "SELECT 1 FROM sqlite_schema WHERE lower(name)=?1 UNION ALL SELECT 1 FROM \"$dropped\" WHERE name=?1",
            [.text(wanted.lowercased())]
        ) { _ in true }
        return try free(wanted, isTaken: isTaken ?? false)
    }

    /// The name itself, or when it is taken with the version of the schema behind it, which no other has.
    func free(_ wanted: String, isTaken: Bool) throws -> String {
        guard !wanted.isEmpty, !wanted.utf8.contains(0) else {
            throw StorageError.failed("a name that no table or column can have")
        }
        // SQLite keeps names that begin so for itself.
        let isReserved = wanted.lowercased().hasPrefix("sqlite_")
        guard isTaken || isReserved else { return wanted }
        return "\(isReserved ? "_" : "")\(wanted)~\(try StoredSchema.version(connection))"
    }

    func drop(table: String) throws {
        try connection.execute("DROP TABLE \(SQLiteIdentifier.quoted(table))")
        try retire(table)
    }

    /// Remembers a name that is not to be used again.
    func retire(_ name: String) throws {
        try connection.run("INSERT OR IGNORE INTO \"$dropped\" VALUES (?)", [.text(name.lowercased())])
    }

    func raiseVersion() throws {
        try connection.run("UPDATE \"$meta\" SET value=value+1 WHERE key='schemaVersion'")
    }
}
