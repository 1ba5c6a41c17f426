package import JSON
import ParseWire

extension FindOptions {
    /// Runs the query, and the count if one is asked for.
    ///
    /// - Parameters:
    ///   - query: What ``query(of:_:access:now:subqueries:)`` gave, perhaps narrowed.
    ///   - app: Whose database is asked.
    ///   - view: What is answered of a row.
    /// - Returns: The whole answer: `results`, and `count` when it was asked for.
    package func run(
        _ query: RowQuery,
        in app: App,
        view: @Sendable (StoredRow) -> JSONObject
    ) async throws -> JSONObject {
        var reply = JSONObject()
        if isExplained {
            reply.append(
                "results",
                try await app.reading { () throws(StorageError) in try await app.storage.explain(query) }
            )
            return reply
        }
        let rows =
            isFound
            ? try await app.reading { () throws(StorageError) in try await app.storage.find(query) } : []
        let answered = try answered(query)
        reply.append("results", .array(rows.map { .object(answered($0, view($0))) }))
        if isCounted {
            let count = try await app.reading { () throws(StorageError) in
                try await app.storage.count(query)
            }
            reply.append("count", .number(Double(count)))
        }
        return reply
    }

    /// Adds to a result what does not stand in its row: the score of a text search, and the class after a redirection.
    package func answered(_ query: RowQuery) throws(ParseError)
        -> @Sendable (StoredRow, JSONObject) -> JSONObject
    {
        let score = selection.wantsScore ? try TextScore(query.predicate) : nil
        let className = redirectKey == nil ? nil : query.className
        return { row, object in
            guard score != nil || className != nil else { return object }
            var object = object
            if let score { object["score"] = .number(score.of(row)) }
            if let className { object["className"] = .string(className) }
            return object
        }
    }
}
