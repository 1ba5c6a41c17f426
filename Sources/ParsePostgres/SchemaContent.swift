import JSON
import ParseCore
import Postgres

/// What the tables of an app's own bookkeeping say.
struct SchemaContent: Sendable {
    var version: Int64 = 0
    var classes: [String: ClassContent] = [:]

    struct ClassContent: Sendable {
        var table: String
        var permissions: JSONObject?
        /// In the order of their positions.
        var fields: [FieldContent] = []
        var indexes: [String: IndexContent] = [:]

        func field(_ name: String) -> FieldContent? {
            fields.first { $0.name == name }
        }
    }

    struct FieldContent: Sendable {
        var name: String
        var type: FieldType
        /// The column, or the table of links.
        var column: String
        var position: Int
        var options: FieldOptions?
    }

    struct IndexContent: Sendable {
        var definition: IndexDefinition
        /// `nil` for one that PostgreSQL has nothing for.
        var indexName: String?
    }

    init() {}

    /// One statement, so that everything is as of one moment.
    static func query(_ namespace: String) -> PostgresStatement {
        func table(_ name: String) -> String { "\(namespace).\(PostgresIdentifier.quoted(name))" }
        return PostgresStatement(
            """
            SELECT version,
            (SELECT coalesce(json_agg(json_build_array(class_name, table_name, permissions)), '[]')
            FROM \(table("$classes"))),
            (SELECT coalesce(json_agg(json_build_array(class_name, field, type, target_class, column_name, position,
            options) ORDER BY class_name, position), '[]') FROM \(table("$fields"))),
            (SELECT coalesce(json_agg(json_build_array(class_name, name, keys, index_name)), '[]')
            FROM \(table("$indexes")))
            FROM \(table("$meta"))
            """
        )
    }

    /// Reads the result of ``query(_:)``.
    init(_ result: PostgresResult) throws {
        guard let row = result.first, let version = try row.integer(0) else { throw Self.malformed }
        self.version = version
        for entry in try Self.entries(row, 1) {
            guard entry.count == 3, let name = entry[0].stringValue, let table = entry[1].stringValue else {
                throw Self.malformed
            }
            classes[name] = ClassContent(table: table, permissions: entry[2].objectValue)
        }
        for entry in try Self.entries(row, 2) { try add(field: entry) }
        for entry in try Self.entries(row, 3) {
            guard entry.count == 4, let className = entry[0].stringValue, let name = entry[1].stringValue,
                let keys = entry[2].objectValue
            else { throw Self.malformed }
            classes[className]?.indexes[name] = IndexContent(
                definition: IndexDefinition(keys: keys),
                indexName: entry[3].stringValue
            )
        }
    }

    private mutating func add(field entry: [JSONValue]) throws {
        guard entry.count == 7, let className = entry[0].stringValue, let name = entry[1].stringValue,
            let type = FieldType(wireName: entry[2].stringValue ?? "", targetClass: entry[3].stringValue),
            let column = entry[4].stringValue, let position = entry[5].numberValue
        else { throw Self.malformed }
        classes[className]?.fields.append(
            FieldContent(
                name: name,
                type: type,
                column: column,
                position: Int(position),
                options: entry[6].objectValue.map { FieldOptions(stored: $0) }
            )
        )
    }

    private static func entries(_ row: PostgresRow, _ column: Int) throws -> [[JSONValue]] {
        let limits = JSONLimits(bytes: .max, depth: 256, values: .max)
        let json = try row.text(column).map { try JSONValue.parse($0, limits: limits) }
        return (json?.arrayValue ?? []).compactMap(\.arrayValue)
    }

    private static let malformed = StorageError.failed("a row of the schema is malformed")
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
