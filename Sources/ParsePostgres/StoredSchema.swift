import ParseCore
import Postgres

/// The schema of an app as its database holds it, with the tables and columns.
struct StoredSchema: Sendable {
    let snapshot: SchemaSnapshot
    let content: SchemaContent
    /// The quoted PostgreSQL schema of the app.
    let namespace: String
    private let layouts: [String: TableLayout]
    /// Names of the constraints of our own that a client hears of.
    private let uniqueness: [String: UniqueValue]

    var version: Int64 {
        snapshot.version
    }

    init(_ content: SchemaContent, namespace: String) {
        var layouts: [String: TableLayout] = [:]
        var uniqueness: [String: UniqueValue] = [:]
        for (className, stored) in content.classes {
            let options = stored.fields.compactMap { field in field.options.map { (field.name, $0) } }
            let schema = ClassSchema(
                className: className,
                fields: stored.fields.map { ($0.name, $0.type) },
                fieldOptions: Dictionary(options) { first, _ in first },
                permissions: stored.permissions.map { ClassPermissions($0) },
                indexes: stored.indexes.mapValues(\.definition)
            )
            layouts[className] = TableLayout(
                schema: schema,
                namespace: namespace,
                tableName: stored.table,
                storedNames: Dictionary(stored.fields.map { ($0.name, $0.column) }) { first, _ in first }
            )
            uniqueness.merge(ConstraintName.all(of: className, table: stored.table)) { first, _ in first }
        }
        self.content = content
        self.namespace = namespace
        self.layouts = layouts
        self.uniqueness = uniqueness
        snapshot = SchemaSnapshot(version: content.version, classes: layouts.values.map(\.schema))
    }

    /// Reads the result of ``SchemaContent/query(_:)``.
    init(_ result: PostgresResult, namespace: String) throws {
        self.init(try SchemaContent(result), namespace: namespace)
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
