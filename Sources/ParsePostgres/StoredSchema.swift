import JSON
import ParseCore
import Postgres

/// The schema of an app as its database holds it, with the tables and columns.
struct StoredSchema: Sendable {
    let snapshot: SchemaSnapshot
    /// The quoted PostgreSQL schema of the app.
    let namespace: String
    private let layouts: [String: TableLayout]
    /// Names of the constraints of our own that a client hears of.
    private let uniqueness: [String: UniqueValue]

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

    /// What must be unique by that constraint; `nil` for one that is not ours.
    func uniqueValue(constraint: String) -> UniqueValue? {
        uniqueness[constraint]
    }

    /// A table of the app's own bookkeeping.
    func metadata(_ table: String) -> String {
        "\(namespace).\(PostgresIdentifier.quoted(table))"
    }

    /// One statement, so that everything is as of one moment.
    static func query(_ namespace: String) -> PostgresStatement {
        func table(_ name: String) -> String { "\(namespace).\(PostgresIdentifier.quoted(name))" }
        return PostgresStatement(
            """
            SELECT version,
            (SELECT coalesce(json_agg(json_build_array(class_name, table_name, permissions)), '[]')
            FROM \(table("$classes"))),
            (SELECT coalesce(json_agg(json_build_array(class_name, field, type, target_class, column_name, options)
            ORDER BY class_name, position), '[]') FROM \(table("$fields"))),
            (SELECT coalesce(json_agg(json_build_array(class_name, name, keys)), '[]') FROM \(table("$indexes")))
            FROM \(table("$meta"))
            """
        )
    }

    /// Reads the result of ``query(_:)``.
    init(_ result: PostgresResult, namespace: String) throws(StorageError) {
        do {
            guard let row = result.first, let version = try row.integer(0) else { throw Self.malformed }
            self = try Self(
                version: version,
                namespace: namespace,
                classes: try Self.entries(row, 1),
                fields: try Self.entries(row, 2),
                indexes: try Self.entries(row, 3)
            )
        } catch let error as StorageError {
            throw error
        } catch {
            throw .failed("the schema cannot be read: \(error)")
        }
    }

    private init(
        version: Int64,
        namespace: String,
        classes: [[JSONValue]],
        fields: [[JSONValue]],
        indexes: [[JSONValue]]
    ) throws(StorageError) {
        let stored = try StoredFields(fields)
        var definitions: [String: [String: IndexDefinition]] = [:]
        for entry in indexes {
            guard let className = entry[0].stringValue, let name = entry[1].stringValue,
                let keys = entry[2].objectValue
            else { throw Self.malformed }
            definitions[className, default: [:]][name] = IndexDefinition(keys: keys)
        }
        var layouts: [String: TableLayout] = [:]
        var uniqueness: [String: UniqueValue] = [:]
        for entry in classes {
            guard let className = entry[0].stringValue, let table = entry[1].stringValue else {
                throw Self.malformed
            }
            let schema = ClassSchema(
                className: className,
                fields: stored.types[className] ?? [],
                fieldOptions: stored.options[className] ?? [:],
                permissions: entry[2].objectValue.map { ClassPermissions($0) },
                indexes: definitions[className] ?? [:]
            )
            layouts[className] = TableLayout(
                schema: schema,
                namespace: namespace,
                tableName: table,
                storedNames: stored.columns[className] ?? [:]
            )
            uniqueness.merge(ConstraintName.all(of: className, table: table)) { first, _ in first }
        }
        self.namespace = namespace
        self.layouts = layouts
        self.uniqueness = uniqueness
        snapshot = SchemaSnapshot(version: version, classes: layouts.values.map(\.schema))
    }

    private static func entries(_ row: PostgresRow, _ column: Int) throws -> [[JSONValue]] {
        let limits = JSONLimits(bytes: .max, depth: 256, values: .max)
        let json = try row.text(column).map { try JSONValue.parse($0, limits: limits) }
        return (json?.arrayValue ?? []).compactMap(\.arrayValue)
    }

    fileprivate static let malformed = StorageError.failed("a row of the schema is malformed")
}

/// The entries of the table of fields, by class.
private struct StoredFields {
    var types: [String: [(String, FieldType)]] = [:]
    var options: [String: [String: FieldOptions]] = [:]
    /// The column, or the table of links, of each field.
    var columns: [String: [String: String]] = [:]

    init(_ entries: [[JSONValue]]) throws(StorageError) {
        for entry in entries {
            guard entry.count == 6, let className = entry[0].stringValue, let field = entry[1].stringValue,
                let type = FieldType(
                    wireName: entry[2].stringValue ?? "",
                    targetClass: entry[3].stringValue
                ),
                let column = entry[4].stringValue
            else { throw StoredSchema.malformed }
            types[className, default: []].append((field, type))
            columns[className, default: [:]][field] = column
            if let stored = entry[5].objectValue {
                options[className, default: [:]][field] = FieldOptions(stored: stored)
            }
        }
    }
}

/// Names of constraints, by which a refusal tells what was there already.
enum ConstraintName {
    static func id(_ table: String) -> String { table + "#id" }
    static func username(_ table: String) -> String { table + "#username" }
    static func email(_ table: String) -> String { table + "#email" }
    static func field(_ table: String, _ field: String) -> String { "\(table)#\(field)#" }

    static func all(of className: String, table: String) -> [String: UniqueValue] {
        var names: [String: UniqueValue] = [id(table): .objectID]
        if className == SystemClasses.user {
            names[username(table)] = .username
            names[email(table)] = .email
        }
        for field in SystemClasses.uniqueFields(of: className) {
            names[Self.field(table, field)] = .field(className: className, field)
        }
        return names
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
