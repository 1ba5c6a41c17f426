import ParseCore
import ParseWire
import Postgres

/// The rows that match text searches, which only core can tell.
///
/// They are looked up before the statement that needs them is written.
struct SearchResults: Sendable {
    /// A search on a field of a class.
    struct Key: Hashable, Sendable {
        let className: String
        let predicate: Predicate
    }

    struct Found: Sendable {
        var rows: [Int64] = []
        var scores: [Double] = []
    }

    private var found: [Key: Found] = [:]

    static let none = SearchResults()

    subscript(key: Key) -> Found? {
        get { found[key] }
        set { found[key] = newValue }
    }

    /// The searches that have to be looked up for a predicate, those of subqueries too.
    static func keys(in predicate: Predicate, of className: String) -> Set<Key> {
        switch predicate {
        case .all(let parts), .any(let parts), .none(let parts):
            parts.reduce(into: []) { $0.formUnion(keys(in: $1, of: className)) }
        case .search: [Key(className: className, predicate: predicate)]
        case .amongObjects(_, let subquery), .amongValues(_, let subquery, _):
            keys(in: subquery.predicate, of: subquery.className)
        default: []
        }
    }

    /// That the row is one of those that were found.
    func condition(_ predicate: Predicate, _ writer: ConditionWriter) -> String {
        let key = Key(className: writer.layout.schema.className, predicate: predicate)
        guard let rows = self[key]?.rows, !rows.isEmpty else { return ConditionWriter.never }
        return
            "(\(writer.own(CommonColumn.row)) = ANY(\(writer.parameters.add(.integerArray(rows)))::int8[]))"
    }

    /// How well rows match the searches of a predicate that are not negated, by row.
    func scores(_ predicate: Predicate, of className: String) -> Found {
        var sums: [Int64: Double] = [:]
        for search in predicate.scoredSearches {
            guard let found = self[Key(className: className, predicate: search)] else { continue }
            for (row, score) in zip(found.rows, found.scores) { sums[row, default: 0] += score }
        }
        return Found(rows: Array(sums.keys), scores: Array(sums.values))
    }
}

extension Predicate {
    /// The searches in it that count for the score; one that is there twice counts twice.
    fileprivate var scoredSearches: [Predicate] {
        switch self {
        case .all(let parts), .any(let parts): parts.flatMap(\.scoredSearches)
        case .search: [self]
        default: []
        }
    }
}
