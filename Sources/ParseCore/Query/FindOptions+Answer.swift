package import JSON
import ParseWire

extension FindOptions {
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
