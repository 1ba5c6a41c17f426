import JSON
import ParseCore
import ParseWire
import Postgres

extension SchemaWriter {
    /// Names of fields as other servers of Parse write them in indexes.
    private static let aliases = ["_id": "objectId", "_created_at": "createdAt", "_updated_at": "updatedAt"]
    /// How many columns one index has at most.
    private static let columnLimit = 32

    /// The order of creation is what lists of the newest ask for.
    func createCommonIndexes(_ className: String, _ table: String) async throws {
        var statements = ["CREATE INDEX ON \(table) (\(CommonColumn.createdAt))"]
        switch className {
        case SystemClasses.session:
            statements += [
                "CREATE UNIQUE INDEX ON \(table) (\"_token_hash\")",
                """
                CREATE UNIQUE INDEX ON \(table) ("user", "installationId") WHERE "installationId" IS NOT NULL
                """,
                "CREATE INDEX ON \(table) (\"expiresAt\") WHERE \"expiresAt\" IS NOT NULL",
            ]
        case SystemClasses.user:
            statements.append(
                "CREATE INDEX ON \(table) (\"_session_token\") WHERE \"_session_token\" IS NOT NULL"
            )
        default: break
        }
        try await execute(statements)
    }

    /// Makes an index that a client asked for.
    ///
    /// All of it is recorded; PostgreSQL gets one on the fields that stand first and have a column with an order.
    ///
    /// - Throws: ``StorageError/refused(_:)`` with 102 for a field that the class does not have, and for a name that
    ///   has another index already.
    func addIndex(_ className: String, _ name: String, _ definition: IndexDefinition) async throws {
        guard let table = try await tableName(of: className) else {
            throw StorageError.unknownClass(className)
        }
        let keys = JSONValue.object(definition.keys).serializedString()
        let existing = try await first(
            "SELECT keys FROM \(metadata("$indexes")) WHERE class_name=$1 AND name=$2",
            [.text(className), .text(name)]
        ) { try $0.text(0) }
        if let existing {
            guard existing == keys else { throw refusal("Index \(name) exists, cannot update.") }
            return
        }
        let columns = try await indexColumns(className, definition)
        var indexName: String?
        if !columns.isEmpty {
            // Clients choose names as they like; this one is ours.
            let version = try await first("SELECT version FROM \(metadata("$meta"))", []) { try $0.integer(0) }
            let own = "index~\(version ?? 0)"
            try await execute([
                """
                CREATE INDEX \(PostgresIdentifier.quoted(own)) ON \(metadata(table)) \
                (\(columns.joined(separator: ",")))
                """
            ])
            indexName = own
        }
        try await run(
            "INSERT INTO \(metadata("$indexes")) VALUES ($1,$2,$3::json,$4)",
            [.text(className), .text(name), .text(keys), indexName.map(PostgresValue.text) ?? .null]
        )
        try await raiseVersion()
    }

    func removeIndex(_ className: String, _ name: String) async throws {
        let result = try await transaction.query(
            "DELETE FROM \(metadata("$indexes")) WHERE class_name=$1 AND name=$2 RETURNING index_name",
            [.text(className), .text(name)]
        )
        guard let row = result.first else { return }
        if let own = try row.text(0) { try await execute(["DROP INDEX \(metadata(own))"]) }
        try await raiseVersion()
    }

    /// Removes what clients asked for with that field in it.
    func removeIndexes(naming field: String, of className: String) async throws {
        let result = try await transaction.query(
            "SELECT name,keys FROM \(metadata("$indexes")) WHERE class_name=$1",
            [.text(className)]
        )
        for row in result.rows {
            let keys = (try? JSONValue.parse(try row.text(1) ?? ""))?.objectValue?.keys ?? []
            for key in keys where FieldName.root(of: try await indexedField(className, key)) == field {
                try await removeIndex(className, try row.text(0) ?? "")
                break
            }
        }
    }

    /// The columns of an index with their directions, ready for SQL.
    private func indexColumns(_ className: String, _ definition: IndexDefinition) async throws -> [String] {
        var columns: [String] = []
        var isOrdered = true
        for key in definition.keys {
            let field = try await indexedField(className, key.key)
            guard let type = try await storedType(className, FieldName.root(of: field)) else {
                throw refusal("Field \(key.key) does not exist, cannot add index.")
            }
            let isWhole = !field.utf8.contains(UInt8(ascii: "."))
            guard isOrdered, isWhole, type.isIndexable, key.value != "text",
                !SystemClasses.isVirtual(field, of: className),
                let name = try await storedName(className, field)
            else {
                isOrdered = false
                continue
            }
            // As sorting asks for it, in both directions.
            let direction = (key.value.numberValue ?? 1) < 0 ? " DESC NULLS LAST" : " NULLS FIRST"
            columns += type.columnNames(name).map { PostgresIdentifier.quoted($0) + direction }
        }
        return Array(columns.prefix(Self.columnLimit))
    }

    private func indexedField(_ className: String, _ name: String) async throws -> String {
        if let alias = Self.aliases[name] { return alias }
        guard name.hasPrefix("_p_"), try await storedType(className, name) == nil else { return name }
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
