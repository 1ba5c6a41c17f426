import JSON
import ParseCore
import ParseWire
import SQLite

extension SchemaWriter {
    /// Names of fields as other servers of Parse write them in indexes.
    private static let aliases = ["_id": "objectId", "_created_at": "createdAt", "_updated_at": "updatedAt"]
    /// How many columns one index has at most.
    private static let columnLimit = 32

    /// The order of creation is what lists of the newest ask for.
    ///
    /// Descending, since what is equal stays in the order of insertion: read backwards, an ascending index has that the
    /// wrong way round.
    func createCommonIndexes(_ className: String, _ table: String) throws {
        let quoted = SQLiteIdentifier.quoted(table)
        try connection.execute(
            "CREATE INDEX \(SQLiteIdentifier.quoted(table + "#createdAt")) ON \(quoted) (\"createdAt\" DESC)"
        )
        switch className {
        case SystemClasses.session:
            try connection.execute(
                """
                CREATE UNIQUE INDEX IF NOT EXISTS "_Session_token" ON \(quoted) ("_token_hash");
                CREATE UNIQUE INDEX IF NOT EXISTS "_Session_installation" ON \(quoted) ("user", "installationId")
                    WHERE "installationId" IS NOT NULL;
                CREATE INDEX IF NOT EXISTS "_Session_end" ON \(quoted) ("expiresAt") WHERE "expiresAt" IS NOT NULL;
                """
            )
        case SystemClasses.user:
            try connection.execute(
                """
                CREATE INDEX IF NOT EXISTS "_User_legacy_token" ON \(quoted) ("_session_token")
                    WHERE "_session_token" IS NOT NULL;
                """
            )
        default: break
        }
    }

    /// Who leads where is the commonest question after the id.
    func createPointerIndex(_ table: String, _ column: String) throws {
        try connection.execute(
            "CREATE INDEX \(SQLiteIdentifier.quoted(pointerIndex(table, column))) "
                + "ON \(SQLiteIdentifier.quoted(table)) (\(SQLiteIdentifier.quoted(column)))"
        )
    }

    /// For a class of a file that has none yet.
    func createPointerIndexes(_ className: String, _ table: String) throws {
        let columns = try connection.query(
            "SELECT columnName FROM \"$fields\" WHERE className=? AND type='Pointer'",
            [.text(className)]
        ) { $0.text(0) ?? "" }
        for column in columns { try createPointerIndex(table, column) }
    }

    /// Makes an index that a client asked for.
    ///
    /// All of it is recorded; SQLite gets one on the fields that stand first and have a column with an order.
    ///
    /// - Throws: ``StorageError/refused(_:)`` with 102 for a field that the class does not have, and for a name that
    ///   has another index already.
    func addIndex(_ className: String, _ name: String, _ definition: IndexDefinition) throws {
        guard let table = try tableName(of: className) else { throw StorageError.unknownClass(className) }
        let keys = JSONValue.object(definition.keys).serializedString()
        let existing = try connection.first(
            "SELECT keys FROM \"$indexes\" WHERE className=? AND name=?",
            [.text(className), .text(name)]
        ) { $0.text(0) ?? "" }
        if let existing {
            guard existing == keys else { throw refusal("Index \(name) exists, cannot update.") }
            return
        }
        let columns = try indexColumns(className, definition)
        var indexName: String?
        if !columns.isEmpty {
            // Clients choose names as they like; this one is ours.
            let own = "\(table)#client#\(try StoredSchema.version(connection))"
            try connection.execute(
                "CREATE INDEX \(SQLiteIdentifier.quoted(own)) ON \(SQLiteIdentifier.quoted(table)) "
                    + "(\(columns.joined(separator: ",")))"
            )
            indexName = own
        }
        try connection.run(
            "INSERT INTO \"$indexes\" VALUES (?,?,?,?)",
            [.text(className), .text(name), .text(keys), indexName.map(SQLiteValue.text) ?? .null]
        )
        try raiseVersion()
    }

    func removeIndex(_ className: String, _ name: String) throws {
        let parameters: [SQLiteValue] = [.text(className), .text(name)]
        let indexName = try connection.first(
            "SELECT indexName FROM \"$indexes\" WHERE className=? AND name=?",
            parameters
        ) { $0.text(0) }
        guard let indexName else { return }
        if let own = indexName { try connection.execute("DROP INDEX \(SQLiteIdentifier.quoted(own))") }
        try connection.run("DELETE FROM \"$indexes\" WHERE className=? AND name=?", parameters)
        try raiseVersion()
    }

    /// Removes what clients asked for with that field in it.
    func removeIndexes(naming field: String, of className: String) throws {
        let indexes = try connection.query(
            "SELECT name,keys FROM \"$indexes\" WHERE className=?",
            [.text(className)]
        ) { row in (name: row.text(0) ?? "", keys: row.text(1) ?? "") }
        for index in indexes {
            let keys = (try? JSONValue.parse(index.keys))?.objectValue?.keys ?? []
            let isNamed = try keys.contains {
                FieldName.root(of: try indexedField(className, $0)) == field
            }
            if isNamed { try removeIndex(className, index.name) }
        }
    }

    /// Removes the indexes of our own that have one of these columns in them.
    func dropIndexes(on columns: [String], _ table: String) throws {
        let names = try connection.query(
            """
            SELECT DISTINCT list.name FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS part
            WHERE list.origin='c' AND part.name IN (SELECT value FROM json_each(?))
            """,
            [
                .text(table),
                .text(JSONValue.array(columns.map(JSONValue.string)).serializedString()),
            ]
        ) { $0.text(0) ?? "" }
        for name in names { try connection.execute("DROP INDEX \(SQLiteIdentifier.quoted(name))") }
    }

    private func pointerIndex(_ table: String, _ column: String) -> String {
        "\(table)#\(column)"
    }

    /// The columns of an index with their directions, ready for SQL.
    private func indexColumns(_ className: String, _ definition: IndexDefinition) throws -> [String] {
        var columns: [String] = []
        var isOrdered = true
        for key in definition.keys {
            let field = try indexedField(className, key.key)
            guard let type = try storedType(className, FieldName.root(of: field)) else {
                throw refusal("Field \(key.key) does not exist, cannot add index.")
            }
            let isWhole = !field.utf8.contains(UInt8(ascii: "."))
            guard isOrdered, isWhole, type.isIndexable, key.value != "text",
                !SystemClasses.isVirtual(field, of: className), let name = try storedName(className, field)
            else {
                isOrdered = false
                continue
            }
            let direction = (key.value.numberValue ?? 1) < 0 ? " DESC" : ""
            columns += type.columnNames(name).map { SQLiteIdentifier.quoted($0) + direction }
        }
        return Array(columns.prefix(Self.columnLimit))
    }

    private func indexedField(_ className: String, _ name: String) throws -> String {
        if let alias = Self.aliases[name] { return alias }
        guard name.hasPrefix("_p_"), try storedType(className, name) == nil else { return name }
        return String(name.dropFirst(3))
    }

    private func refusal(_ message: String) -> StorageError {
        .refused(ParseError(.invalidQuery, message))
    }
}

extension FieldType {
    /// Whether the order of its columns is of use to a query.
    fileprivate var isIndexable: Bool {
        switch self {
        case .string, .number, .boolean, .date, .pointer, .geoPoint, .file: true
        case .object, .array, .bytes, .polygon, .acl, .relation: false
        }
    }
}
