import JSON
import ParseCore
import SQLite

/// The schema of an app as its database holds it, with the tables and columns.
struct StoredSchema: Sendable {
    let snapshot: SchemaSnapshot
    private let layouts: [String: TableLayout]

    var version: Int64 {
        snapshot.version
    }

    /// - Throws: ``StorageError/unknownClass(_:)``.
    func layout(_ className: String) throws(StorageError) -> TableLayout {
        guard let layout = layouts[className] else { throw .unknownClass(className) }
        return layout
    }

    /// `nil` for a class that does not exist.
    func layoutIfPresent(_ className: String) -> TableLayout? {
        layouts[className]
    }

    /// The field that must be unique and is stored in that column of that table.
    func uniqueField(table: String, column: String) -> UniqueValue? {
        for layout in layouts.values where layout.tableName == table {
            let className = layout.schema.className
            let field = SystemClasses.uniqueFields(of: className).first {
                layout.column($0)?.bareNames == [SQLiteIdentifier.quoted(column)]
            }
            if let field { return .field(className: className, field) }
        }
        return nil
    }

    /// Reads it from the tables of this file.
    init(_ connection: SQLiteConnection) throws {
        let fields = try StoredFields(connection)
        let indexes = try Self.indexes(connection)
        var layouts: [String: TableLayout] = [:]
        var classes: [ClassSchema] = []
        try connection.forEach("SELECT className,tableName,permissions FROM \"$classes\"") { row in
            guard let className = row.text(0), let table = row.text(1) else { throw Self.malformed }
            let schema = ClassSchema(
                className: className,
                fields: fields.types[className] ?? [],
                fieldOptions: fields.options[className] ?? [:],
                permissions: try row.text(2).map { ClassPermissions(try Self.object($0)) },
                indexes: indexes[className] ?? [:]
            )
            classes.append(schema)
            layouts[className] = TableLayout(
                schema: schema,
                tableName: table,
                storedNames: fields.columns[className] ?? [:]
            )
            return true
        }
        self.layouts = layouts
        snapshot = SchemaSnapshot(version: try Self.version(connection), classes: classes)
    }

    static func version(_ connection: SQLiteConnection) throws -> Int64 {
        try connection.first("SELECT value FROM \"$meta\" WHERE key='schemaVersion'") { $0.int64(0) } ?? 0
    }

    private static func indexes(
        _ connection: SQLiteConnection
    ) throws -> [String: [String: IndexDefinition]] {
        var indexes: [String: [String: IndexDefinition]] = [:]
        try connection.forEach("SELECT className,name,keys FROM \"$indexes\"") { row in
            guard let className = row.text(0), let name = row.text(1), let keys = row.text(2) else {
                throw malformed
            }
            indexes[className, default: [:]][name] = IndexDefinition(keys: try object(keys))
            return true
        }
        return indexes
    }

    fileprivate static func object(_ text: String) throws -> JSONObject {
        let limits = JSONLimits(bytes: .max, depth: 256, values: .max)
        guard let object = (try? JSONValue.parse(text, limits: limits))?.objectValue else { throw malformed }
        return object
    }

    fileprivate static let malformed = StorageError.failed("a row of the schema is malformed")
}

/// The rows of the table of fields, by class.
private struct StoredFields {
    var types: [String: [(String, FieldType)]] = [:]
    var options: [String: [String: FieldOptions]] = [:]
    /// The column, or the table of links, of each field.
    var columns: [String: [String: String]] = [:]

    init(_ connection: SQLiteConnection) throws {
        try connection.forEach(
            """
            SELECT className,field,type,targetClass,columnName,options FROM "$fields"
            ORDER BY className,position
            """
        ) { row in
            guard let className = row.text(0), let field = row.text(1), let typeName = row.text(2),
                let type = FieldType(wireName: typeName, targetClass: row.text(3)), let column = row.text(4)
            else { throw StoredSchema.malformed }
            types[className, default: []].append((field, type))
            columns[className, default: [:]][field] = column
            if let text = row.text(5) {
                options[className, default: [:]][field] = FieldOptions(stored: try StoredSchema.object(text))
            }
            return true
        }
    }
}

extension FieldOptions {
    fileprivate init(stored: JSONObject) {
        self.init(isRequired: stored["required"] == true, defaultValue: stored["defaultValue"])
    }

    /// What the schema keeps of it; `nil` for nothing.
    var stored: String? {
        guard isRequired || defaultValue != nil else { return nil }
        var object: JSONObject = ["required": .bool(isRequired)]
        if let defaultValue { object.append("defaultValue", defaultValue) }
        return JSONValue.object(object).serializedString()
    }
}
