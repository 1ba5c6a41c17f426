import ParseCore
import ParseWire
import Postgres

extension PostgresAppStorage {
    /// Rows that are read at once to look for words in them.
    private static let searchPage = 2000

    func searchResults(for query: RowQuery, _ schema: StoredSchema) async throws -> SearchResults {
        try await searchResults(SearchResults.keys(in: query.predicate, of: query.className), schema)
    }

    func searchResults(for steps: [WriteStep], _ schema: StoredSchema) async throws -> SearchResults {
        var keys: Set<SearchResults.Key> = []
        for step in steps {
            switch step {
            case .require(let className, let predicate):
                keys.formUnion(SearchResults.keys(in: predicate, of: className))
            case .update(let update):
                keys.formUnion(SearchResults.keys(in: update.predicate, of: update.className))
            case .delete(let deletion):
                keys.formUnion(SearchResults.keys(in: deletion.predicate, of: deletion.className))
            default: break
            }
        }
        return try await searchResults(keys, schema)
    }

    private func searchResults(
        _ keys: Set<SearchResults.Key>,
        _ schema: StoredSchema
    ) async throws -> SearchResults {
        guard !keys.isEmpty else { return .none }
        var results = SearchResults.none
        let deadline = ContinuousClock.now + database.pool.configuration.statementTimeout
        for key in keys { results[key] = try await found(key, schema, deadline) }
        return results
    }

    /// Has core look at the texts of all rows; a mistake in the search is told even if there are none.
    private func found(
        _ key: SearchResults.Key,
        _ schema: StoredSchema,
        _ deadline: ContinuousClock.Instant
    ) async throws -> SearchResults.Found {
        var found = SearchResults.Found()
        let test = try refusing { () throws(ParseError) in try ValueTest(key.predicate) }
        guard let test, let layout = schema.layoutIfPresent(key.className),
            let column = layout.column(test.field), column.type == .string || column.type.isStructured
        else { return found }
        let name = column.names[0]
        let row = CommonColumn.row
        let sql = """
            SELECT \(row),\(name) FROM \(layout.table) WHERE \(row)>$1 AND \(name) IS NOT NULL
            ORDER BY \(row) LIMIT \(Self.searchPage)
            """
        var last: Int64 = 0
        while true {
            guard ContinuousClock.now < deadline else {
                throw StorageError.refused(ParseError(.timeout, "The query took too long."))
            }
            let result = try await database.pool.query(sql, [.integer(last)])
            for entry in result.rows {
                last = try entry.integer(0) ?? last
                let value = try column.type.value(entry, 1)
                guard try refusing({ () throws(ParseError) in try test.matches(value) }) else { continue }
                found.rows.append(last)
                found.scores.append(test.score(of: value))
            }
            if result.rowCount < Self.searchPage { return found }
        }
    }
}
