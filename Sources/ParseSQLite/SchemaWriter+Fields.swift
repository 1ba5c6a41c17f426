import ParseCore
import SQLite

extension SchemaWriter {
    /// Adds a field to a class that is there.
    func addField(_ className: String, _ field: String, _ type: FieldType) throws {
        if let existing = try storedType(className, field) {
            guard existing == type else {
                throw StorageError.schemaConflict(
                    SchemaConflict(className: className, field: field, existing: existing, requested: type)
                )
            }
            return
        }
        guard let table = try tableName(of: className) else { throw StorageError.unknownClass(className) }
        let name: String
        if case .relation = type {
            name = try addLinkTable(className, field)
        } else {
            name = try freeColumnName(className, table, field)
            if !SystemClasses.isVirtual(field, of: className) { try addColumns(name, type, to: table) }
        }
        try record(className, field, type, column: name, position: try nextPosition(className))
        if SystemClasses.uniqueFields(of: className).contains(field) {
            try connection.execute(
                "CREATE UNIQUE INDEX \(SQLiteIdentifier.quoted("\(table)#unique#\(name)")) "
                    + "ON \(SQLiteIdentifier.quoted(table)) (\(SQLiteIdentifier.quoted(name)))"
            )
        }
        try raiseVersion()
    }

    /// Removes a field with what it holds, and the indexes that it is part of.
    func removeField(_ className: String, _ field: String) throws {
        guard !CommonColumn.fields.contains(field), let type = try storedType(className, field),
            let table = try tableName(of: className), let name = try storedName(className, field)
        else { return }
        try removeIndexes(naming: field, of: className)
        if case .relation = type {
            try drop(table: name)
        } else if !SystemClasses.isVirtual(field, of: className) {
            try dropIndexes(on: type.columnNames(name), table)
            for column in type.columnNames(name) {
                try connection.execute(
                    "ALTER TABLE \(SQLiteIdentifier.quoted(table)) DROP COLUMN \(SQLiteIdentifier.quoted(column))"
                )
            }
            try forgetNulls(of: field, in: table)
            try retire("\(table).\(name)")
        }
        try connection.run(
            "DELETE FROM \"$fields\" WHERE className=? AND field=?",
            [.text(className), .text(field)]
        )
        try raiseVersion()
    }

    func record(
        _ className: String,
        _ field: String,
        _ type: FieldType,
        column: String,
        position: Int
    ) throws {
        try connection.run(
            "INSERT INTO \"$fields\" VALUES (?,?,?,?,?,?,NULL)",
            [
                .text(className), .text(field), .integer(Int64(position)), .text(type.wireName),
                type.targetClass.map(SQLiteValue.text) ?? .null, .text(column),
            ]
        )
    }

    /// The column, or the table of links, of a field.
    func storedName(_ className: String, _ field: String) throws -> String? {
        try connection.first(
            "SELECT columnName FROM \"$fields\" WHERE className=? AND field=?",
            [.text(className), .text(field)]
        ) { $0.text(0) ?? "" }
    }

    func storedType(_ className: String, _ field: String) throws -> FieldType? {
        try connection.first(
            "SELECT type,targetClass FROM \"$fields\" WHERE className=? AND field=?",
            [.text(className), .text(field)]
        ) { row in
            guard let type = FieldType(wireName: row.text(0) ?? "", targetClass: row.text(1)) else {
                throw StorageError.failed("a row of the schema is malformed")
            }
            return type
        }
    }

    private func addColumns(_ name: String, _ type: FieldType, to table: String) throws {
        for declaration in type.columnDeclarations(name) {
            try connection.execute("ALTER TABLE \(SQLiteIdentifier.quoted(table)) ADD COLUMN \(declaration)")
        }
        if case .pointer = type { try createPointerIndex(table, name) }
    }

    /// Links are found from both sides.
    private func addLinkTable(_ className: String, _ field: String) throws -> String {
        let name = try freeTableName("_Join:\(field):\(className)")
        try connection.execute(
            """
            CREATE TABLE \(SQLiteIdentifier.quoted(name)) (
                owningId TEXT NOT NULL, relatedId TEXT NOT NULL, PRIMARY KEY (owningId, relatedId)) WITHOUT ROWID;
            CREATE INDEX \(SQLiteIdentifier.quoted(name + "#related")) ON \(SQLiteIdentifier.quoted(name)) (relatedId);
            """
        )
        return name
    }

    private func nextPosition(_ className: String) throws -> Int {
        try connection.first(
            "SELECT coalesce(max(position),-1)+1 FROM \"$fields\" WHERE className=?",
            [.text(className)]
        ) { Int($0.int64(0)) } ?? 0
    }

    private func freeColumnName(_ className: String, _ table: String, _ field: String) throws -> String {
        let wanted = field.lowercased()
        // A column of one of these names would hide the number of the row.
        var isTaken = ["rowid", "oid", "_rowid_"].contains(wanted)
        if !isTaken {
            isTaken =
                try connection.first(
                    """
                    SELECT 1 FROM pragma_table_info(?1) WHERE lower(name) IN (?2,?2||'~latitude')
                    UNION ALL SELECT 1 FROM "$fields" WHERE className=?3 AND lower(columnName)=?2
                    UNION ALL SELECT 1 FROM "$dropped" WHERE name=?4
                    """,
                    [.text(table), .text(wanted), .text(className), .text("\(table).\(field)".lowercased())]
                ) { _ in true } ?? false
        }
        return try free(field, isTaken: isTaken)
    }

    /// A field of that name that is added again has no value anywhere.
    private func forgetNulls(of field: String, in table: String) throws {
        let nulls = SQLiteIdentifier.quoted(CommonColumn.nulls)
        let needle = SQLiteValue.text(KeyList.needle(field))
        let separator = SQLiteValue.text(KeyList.encode([]))
        try connection.run(
            """
            UPDATE \(SQLiteIdentifier.quoted(table)) SET \(nulls)=nullif(replace(\(nulls),?1,?2),?2)
            WHERE \(nulls) IS NOT NULL AND instr(\(nulls),?1)>0
            """,
            [needle, separator]
        )
    }
}
