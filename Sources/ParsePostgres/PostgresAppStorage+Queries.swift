package import JSON
package import ParseCore
import ParseWire
import Postgres

extension PostgresAppStorage {
    package func find(_ query: RowQuery) async throws(StorageError) -> [StoredRow] {
        try await withSchema { schema in
            let searches = try await self.searchResults(for: query, schema)
            let statement = try FindStatement(query, in: schema, searches)
            let result = try await self.database.pool.query(statement.sql, statement.parameters)
            return try result.rows.map { try statement.selection.row(from: $0) }
        }
    }

    package func count(_ query: RowQuery) async throws(StorageError) -> Int {
        try await withSchema { schema in
            let searches = try await self.searchResults(for: query, schema)
            let statement = try FindStatement(selecting: { _ in "count(*)" }, query, in: schema, searches)
            let result = try await self.database.pool.query(statement.sql, statement.parameters)
            return Int(try result.first?.integer(0) ?? 0)
        }
    }

    package func distinct(_ query: RowQuery, path: String) async throws(StorageError) -> [JSONValue] {
        try await withSchema { schema in
            let layout = try schema.layout(query.className)
            let keys = FieldName.path(path) ?? [path]
            guard let column = layout.column(keys[0]) else { return [] }
            let searches = try await self.searchResults(for: query, schema)
            // JSON has no equality.
            let cast = column.type.isStructured ? "::text" : ""
            let statement = try FindStatement(
                selecting: { alias in
                    "DISTINCT " + column.names.map { "\(alias).\($0)\(cast)" }.joined(separator: ",")
                },
                query,
                in: schema,
                searches
            )
            let names = (1...column.names.count).map { "v\($0)" }.joined(separator: ",")
            let sql = """
                WITH found(\(names)) AS MATERIALIZED (\(statement.sql)) SELECT * FROM found \
                WHERE v1 IS NOT NULL AND \(DatabaseFunctions.namespace).within(\
                (SELECT sum(octet_length(v1::text)) FROM found)::numeric, \(FindStatement.resultBytes))
                """
            let result = try await self.database.pool.query(sql, statement.parameters)
            var values = DistinctValues()
            for row in result.rows {
                values.add(try column.type.value(row, 0), at: Array(keys.dropFirst()))
            }
            return values.values
        }
    }

    package func explain(_ query: RowQuery) async throws(StorageError) -> JSONValue {
        try await withSchema { schema in
            let searches = try await self.searchResults(for: query, schema)
            let statement = try FindStatement(query, in: schema, searches)
            let result = try await self.database.pool.query(
                "EXPLAIN (FORMAT JSON) " + statement.sql,
                statement.parameters
            )
            guard let text = try result.first?.text(0) else { return .null }
            return ["queryPlan": try JSONValue.parse(text)]
        }
    }

    package func links(
        of relation: RelationField,
        after: RelationLink?,
        limit: Int
    ) async throws(StorageError) -> [RelationLink] {
        try await withSchema { schema in
            guard let table = try schema.layout(relation.className).relation(relation.field)?.table else {
                return []
            }
            let start = after ?? RelationLink(ownerID: "", relatedID: "")
            let result = try await self.database.pool.query(
                """
                SELECT owning_id,related_id FROM \(table) WHERE (owning_id,related_id)>($1,$2)
                ORDER BY owning_id,related_id LIMIT $3::int8
                """,
                [.text(start.ownerID), .text(start.relatedID), .integer(Int64(max(0, limit)))]
            )
            return try result.rows.map {
                RelationLink(ownerID: try $0.text(0) ?? "", relatedID: try $0.text(1) ?? "")
            }
        }
    }
}

/// Values without repetition, in the order in which they came.
private struct DistinctValues {
    private(set) var values: [JSONValue] = []
    private var present: Set<JSONValue> = []

    /// Adds what a path leads to in a value, elements of arrays one by one.
    mutating func add(_ value: FieldValue?, at path: [String]) {
        for value in PathValues.values(of: value, at: path).compactMap({ $0 }) {
            if case .array(let elements) = value {
                for element in elements { add(element) }
            } else {
                add(value.json)
            }
        }
    }

    private mutating func add(_ value: JSONValue) {
        guard !value.isNull, present.insert(value).inserted else { return }
        values.append(value)
    }
}
