import JSON
import ParseCore
import ParseWire

/// Rows and links in memory, of which core's matcher says what a database must find.
struct MemoryTables: LinkResolver {
    var rows: [String: [StoredRow]] = [:]
    /// Relation fields with their links.
    var links: [RelationField: Set<RelationLink>] = [:]
    let schema: SchemaSnapshot

    init(schema: SchemaSnapshot) {
        self.schema = schema
    }

    /// The rows that match, in the order of insertion.
    func rows(_ className: String, _ predicate: Predicate, _ access: RowAccess) throws(ParseError)
        -> [StoredRow]
    {
        let matcher = try PredicateMatcher(predicate, schema: schema[className], links: self)
        var found: [StoredRow] = []
        for row in rows[className] ?? [] where row.isReadable(by: access) {
            if try matcher.matches(row) { found.append(row) }
        }
        return found
    }

    func find(_ query: RowQuery) throws(ParseError) -> [StoredRow] {
        let matcher = try PredicateMatcher(query.predicate, schema: schema[query.className], links: self)
        let order = RowOrder(query.order, nearest: query.nearest, matcher: matcher)
        let sorted = order.sorted(try rows(query.className, query.predicate, query.access))
        return Array(sorted.dropFirst(query.skip).prefix(query.limit))
    }

    func distinct(_ query: RowQuery, path: String) throws(ParseError) -> Set<JSONValue> {
        var found: Set<JSONValue> = []
        for row in try rows(query.className, query.predicate, query.access) {
            found.formUnion(values(of: row, at: path).map(\.json))
        }
        return found
    }

    func objectIDs(of subquery: Subquery) throws(ParseError) -> Set<String> {
        Set(try rows(subquery.className, subquery.predicate, subquery.access).map(\.objectID))
    }

    func values(of subquery: Subquery, at path: String) throws(ParseError) -> Set<JSONValue> {
        var found: Set<JSONValue> = []
        for row in try rows(subquery.className, subquery.predicate, subquery.access) {
            found.formUnion(values(of: row, at: path).map(\.comparisonForm))
        }
        return found
    }

    func relatedIDs(ownerClass: String, ownerID: String, field: String) throws(ParseError) -> Set<String> {
        let links = links[RelationField(className: ownerClass, field: field)] ?? []
        return Set(links.lazy.filter { $0.ownerID == ownerID }.map(\.relatedID))
    }

    /// Neither null nor absent; elements of arrays one by one.
    private func values(of row: StoredRow, at path: String) -> [FieldValue] {
        let parts = FieldName.path(path) ?? [path]
        let found = PathValues.values(of: row.value(of: parts[0]), at: Array(parts.dropFirst()))
        return found.flatMap { value -> [FieldValue] in
            guard case .array(let elements) = value else { return value.map { [$0] } ?? [] }
            return elements.map(FieldValue.init(stored:))
        }.filter { $0 != .null }
    }
}
