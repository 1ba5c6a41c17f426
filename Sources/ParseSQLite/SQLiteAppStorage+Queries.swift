package import JSON
import ParseWire
package import ParseCore
import SQLite

extension SQLiteAppStorage {
    /// How long one query may hold a reader.
    private static let queryTime: Duration = .seconds(10)

    package func find(_ query: RowQuery) async throws(StorageError) -> [StoredRow] {
        if let id = query.pointID { return try await row(id, query) }
        return try await reading { connection, schema in
            let statement = try FindStatement(query, in: schema)
            var budget = ResultBudget()
            return try connection.query(statement.sql, statement.parameters) { row in
                let found = statement.selection.row(from: row)
                try budget.spend(found)
                return found
            }
        }
    }

    /// One row by its id: no text to make, and no time to limit.
    private func row(_ id: String, _ query: RowQuery) async throws(StorageError) -> [StoredRow] {
        try await reading(isQuick: true) { connection, schema in
            let layout = try schema.layout(query.className)
            let row = try connection.first(layout.pointSelect, [.text(id)]) {
                layout.selection.row(from: $0)
            }
            guard let row, row.isReadable(by: query.access) else { return [] }
            return [row]
        }
    }

    package func count(_ query: RowQuery) async throws(StorageError) -> Int {
        try await reading { connection, schema in
            let statement = try FindStatement(selecting: "count(*)", query, in: schema)
            return Int(try connection.first(statement.sql, statement.parameters) { $0.int64(0) } ?? 0)
        }
    }

    package func distinct(_ query: RowQuery, path: String) async throws(StorageError) -> [JSONValue] {
        try await reading { connection, schema in
            let layout = try schema.layout(query.className)
            let parts = FieldName.path(path) ?? [path]
            guard let column = layout.column(parts[0]) else { return [] }
            let fieldPath = FieldPath(Array(parts.dropFirst()), in: column.type)
            let list = "DISTINCT " + column.names.joined(separator: ",")
            let statement = try FindStatement(selecting: list, query, in: schema)
            var found = DistinctValues()
            var budget = ResultBudget()
            try connection.forEach(statement.sql, statement.parameters) { row in
                guard !row.isNull(0), let value = column.type.value(row, 0) else { return true }
                try budget.spend(value)
                fieldPath.collect(value, into: &found)
                return true
            }
            return found.values
        }
    }

    package func links(
        of relation: RelationField,
        after: RelationLink?,
        limit: Int
    ) async throws(StorageError) -> [RelationLink] {
        try await reading { connection, schema in
            guard let table = try schema.layout(relation.className).relation(relation.field)?.table else {
                return []
            }
            let start = after ?? RelationLink(ownerID: "", relatedID: "")
            return try connection.query(
                """
                SELECT owningId,relatedId FROM \(table) WHERE (owningId,relatedId)>(?,?)
                ORDER BY owningId,relatedId LIMIT ?
                """,
                [.text(start.ownerID), .text(start.relatedID), .integer(Int64(max(0, limit)))]
            ) { row in RelationLink(ownerID: row.text(0) ?? "", relatedID: row.text(1) ?? "") }
        }
    }

    package func explain(_ query: RowQuery) async throws(StorageError) -> JSONValue {
        try await reading { connection, schema in
            let statement = try FindStatement(query, in: schema)
            // An explanation does not make a connection notice that indexes have come or gone; another read does. And
            // one that is prepared already is never made anew.
            let version = try StoredSchema.version(connection)
            let sql = "EXPLAIN QUERY PLAN \(statement.sql) -- \(version)"
            let steps = try connection.query(sql, statement.parameters) { row -> JSONValue in
                [
                    "id": .number(Double(row.int64(0))), "parent": .number(Double(row.int64(1))),
                    "detail": .string(row.text(3) ?? ""),
                ]
            }
            return ["queryPlan": .array(steps)]
        }
    }

    /// Runs a read with the schema as it is, where long ones do not hold up others.
    ///
    /// A column or table that went between the look at the schema and the read has a name that nothing else ever
    /// gets: the statement fails, and runs again with the schema that the database has now.
    func reading<Result: Sendable>(
        isQuick: Bool = false,
        _ body: @escaping @Sendable (SQLiteConnection, StoredSchema) throws -> Result
    ) async throws(StorageError) -> Result {
        let published = stored
        let attempt: @Sendable (SQLiteConnection) throws -> Result = { connection in
            do {
                return try body(connection, published)
            } catch let error as SQLiteError where error.isWrongStatement || error.isOvertaken {
                guard try StoredSchema.version(connection) != published.version || error.isOvertaken else {
                    throw error
                }
                return try body(connection, try StoredSchema(connection))
            }
        }
        do {
            guard !isQuick else { return try await database.read(attempt) }
            return try await database.query(timeLimit: Self.queryTime, attempt)
        } catch {
            throw Self.translated(error, published)
        }
    }
}

/// What one query may bring into memory.
private struct ResultBudget {
    private static let limit = 32 << 20
    private var bytes = 0

    mutating func spend(_ row: StoredRow) throws {
        try spend(ObjectSize.bytes(of: row.fields))
    }

    mutating func spend(_ value: FieldValue) throws {
        try spend(ObjectSize.bytes(of: ["": value]))
    }

    private mutating func spend(_ count: Int) throws {
        bytes += count
        guard bytes <= Self.limit else {
            throw StorageError.refused(
                ParseError(.objectTooLarge, "The result is too large: ask for fewer objects at once.")
            )
        }
    }
}

extension RowQuery {
    /// The id, when the query asks for the whole row of one and for nothing beside it.
    fileprivate var pointID: String? {
        guard case .equal("objectId", .string(let id)) = predicate, fields == nil, skip == 0, limit > 0 else {
            return nil
        }
        return id
    }
}
