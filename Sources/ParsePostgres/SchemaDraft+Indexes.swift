import JSON
import ParseCore
import ParseWire
import Postgres

extension SchemaDraft {
    /// Names of fields as other servers of Parse write them in indexes.
    private static let aliases = ["_id": "objectId", "_created_at": "createdAt", "_updated_at": "updatedAt"]
    /// How many columns one index has at most.
    private static let columnLimit = 32

    mutating func createIndex(
        on tableName: String,
        _ columns: String,
        isUnique: Bool = false,
        where condition: String = ""
    ) {
        execute(
            """
            CREATE \(isUnique ? "UNIQUE " : "")INDEX \(PostgresIdentifier.quoted(newIndexName())) \
            ON \(table(tableName)) (\(columns))\(condition.isEmpty ? "" : " WHERE " + condition)
            """
        )
    }

    /// The order of creation is what lists of the newest ask for.
    mutating func createCommonIndexes(_ className: String, _ tableName: String) {
        createIndex(on: tableName, CommonColumn.createdAt)
        switch className {
        case SystemClasses.session:
            createIndex(on: tableName, "\"_token_hash\"", isUnique: true)
            let installation = "\"installationId\" IS NOT NULL"
            createIndex(on: tableName, "\"user\",\"installationId\"", isUnique: true, where: installation)
            createIndex(on: tableName, "\"expiresAt\"", where: "\"expiresAt\" IS NOT NULL")
        case SystemClasses.user:
            createIndex(on: tableName, "\"_session_token\"", where: "\"_session_token\" IS NOT NULL")
        default: break
        }
    }

    /// Makes an index that a client asked for.
    ///
    /// All of it is recorded; PostgreSQL gets one on the fields that stand first and have a column with an order.
    ///
    /// - Throws: ``StorageError/refused(_:)`` with 102 for a field that the class does not have, and for a name that
    ///   has another index already.
    mutating func addIndex(_ className: String, _ name: String, _ definition: IndexDefinition) throws {
        guard let stored = content.classes[className] else { throw StorageError.unknownClass(className) }
        guard !name.containsNUL else { throw StorageError.textWithNUL }
        if let existing = stored.indexes[name] {
            guard existing.definition == definition else {
                throw Self.refusal("Index \(name) exists, cannot update.")
            }
            return
        }
        let columns = try indexColumns(className, stored, definition)
        let indexName = columns.isEmpty ? nil : newIndexName()
        if let indexName {
            execute(
                """
                CREATE INDEX \(PostgresIdentifier.quoted(indexName)) ON \(table(stored.table)) \
                (\(columns.joined(separator: ",")))
                """
            )
        }
        update(className) {
            $0.indexes[name] = SchemaContent.IndexContent(definition: definition, indexName: indexName)
        }
        run(
            "INSERT INTO \(table("$indexes")) VALUES ($1,$2,$3::json,$4)",
            [
                .text(className), .text(name), .text(JSONValue.object(definition.keys).serializedString()),
                indexName.map(PostgresValue.text) ?? .null,
            ]
        )
        raiseVersion()
    }

    mutating func removeIndex(_ className: String, _ name: String) {
        guard let stored = content.classes[className]?.indexes[name] else { return }
        if let indexName = stored.indexName { execute("DROP INDEX \(table(indexName))") }
        run(
            "DELETE FROM \(table("$indexes")) WHERE class_name=$1 AND name=$2",
            [.text(className), .text(name)]
        )
        update(className) { $0.indexes[name] = nil }
        raiseVersion()
    }

    /// Removes what clients asked for with that field in it.
    mutating func removeIndexes(naming field: String, of className: String) {
        guard let stored = content.classes[className] else { return }
        for (name, index) in stored.indexes {
            let isNamed = index.definition.keys.keys.contains {
                FieldName.root(of: Self.indexedField(stored, $0)) == field
            }
            if isNamed { removeIndex(className, name) }
        }
    }

    /// The columns of an index with their directions, ready for SQL.
    private func indexColumns(
        _ className: String,
        _ stored: SchemaContent.ClassContent,
        _ definition: IndexDefinition
    ) throws -> [String] {
        var columns: [String] = []
        var isOrdered = true
        for key in definition.keys {
            let path = Self.indexedField(stored, key.key)
            guard let field = stored.field(FieldName.root(of: path)) else {
                throw Self.refusal("Field \(key.key) does not exist, cannot add index.")
            }
            guard isOrdered, field.name == path, field.type.isIndexable, key.value != "text",
                !SystemClasses.isVirtual(field.name, of: className)
            else {
                isOrdered = false
                continue
            }
            // As sorting asks for it, in both directions.
            let isDescending = (key.value.numberValue ?? 1) < 0
            let direction =
                CommonColumn.fields.contains(field.name)
                ? (isDescending ? " DESC" : "") : (isDescending ? " DESC NULLS LAST" : " NULLS FIRST")
            columns += field.type.columnNames(field.column).map { PostgresIdentifier.quoted($0) + direction }
        }
        return Array(columns.prefix(Self.columnLimit))
    }

    private static func indexedField(_ stored: SchemaContent.ClassContent, _ name: String) -> String {
        if let alias = aliases[name] { return alias }
        guard name.hasPrefix("_p_"), stored.field(name) == nil else { return name }
        return String(name.dropFirst(3))
    }

    private static func refusal(_ message: String) -> StorageError {
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
