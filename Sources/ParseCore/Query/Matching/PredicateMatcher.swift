import JSON
import ParseWire

/// Decides on rows in memory whether they match a predicate, prepared once for many rows.
///
/// What it says is what every database must say; see ``Predicate`` for the rules.
package struct PredicateMatcher: Sendable {
    private let root: Node
    private let searches: [ValueTest]
    private let links: any LinkResolver
    private let className: String

    private indirect enum Node: Sendable {
        case constant(Bool)
        case all([Node])
        case any([Node])
        case none([Node])
        case test(ValueTest)
        /// Whether the relation of the row links one of these.
        case linked(String, Set<String>, isNegated: Bool)
        case id(Set<String>)
        case folded(String, String)
        case hidden(String, FieldValue)
    }

    /// Prepares a predicate on rows of that class.
    ///
    /// - Parameters:
    ///   - predicate: What rows must be like.
    ///   - schema: The class of the rows; without one every field is absent.
    ///   - links: Asked for what stands in other rows.
    /// - Throws: ``ParseError`` of ``ValueTest/init(_:)`` and of `links`.
    package init(
        _ predicate: Predicate,
        schema: ClassSchema?,
        links: any LinkResolver = NoLinks()
    ) throws(ParseError) {
        var compiler = Compiler(schema: schema, links: links)
        root = try compiler.node(predicate)
        searches = compiler.searches
        self.links = links
        className = schema?.className ?? ""
    }

    /// Whether the row matches.
    ///
    /// - Throws: ``ParseError`` 102 when a regular expression takes more work on the row than it may; that of the
    ///   resolver for a relation.
    package func matches(_ row: StoredRow) throws(ParseError) -> Bool {
        try matches(root, row)
    }

    /// How well the row matches the text searches of the predicate that are not negated; 0 without any.
    package func textScore(of row: StoredRow) -> Double {
        searches.reduce(0) { $0 + $1.score(of: row.value(of: $1.field)) }
    }

    private func matches(_ node: Node, _ row: StoredRow) throws(ParseError) -> Bool {
        switch node {
        case .constant(let flag): return flag
        case .all(let parts):
            for part in parts where try !matches(part, row) { return false }
            return true
        case .any(let parts): return try matchesAny(parts, row)
        case .none(let parts): return try !matchesAny(parts, row)
        case .test(let test): return try test.matches(row.value(of: test.field))
        case .linked(let field, let ids, let isNegated):
            let linked = try links.relatedIDs(ownerClass: className, ownerID: row.objectID, field: field)
            return linked.isDisjoint(with: ids) == isNegated
        case .id(let ids): return ids.contains(row.objectID)
        case .folded(let field, let key):
            return row.fields[field]?.stringValue.map { UniqueKey.fold($0) == UniqueKey.fold(key) } ?? false
        case .hidden(let name, let value): return (row.hidden[name] ?? .null).isSame(as: value)
        }
    }

    private func matchesAny(_ parts: [Node], _ row: StoredRow) throws(ParseError) -> Bool {
        for part in parts where try matches(part, row) { return true }
        return false
    }

    /// Makes nodes of predicates.
    private struct Compiler {
        let schema: ClassSchema?
        let links: any LinkResolver
        var searches: [ValueTest] = []
        var isNegated = false

        mutating func node(_ predicate: Predicate) throws(ParseError) -> Node {
            if let field = predicate.leafField, case .relation(let target) = schema?.type(of: field) {
                return try relation(predicate, field, target)
            }
            switch predicate {
            case .everything: return .constant(true)
            case .all(let parts): return .all(try nodes(parts))
            case .any(let parts): return .any(try nodes(parts))
            case .none(let parts):
                isNegated.toggle()
                defer { isNegated.toggle() }
                return .none(try nodes(parts))
            case .amongObjects(let field, let subquery):
                let ids = try links.objectIDs(of: subquery)
                return .test(ValueTest(field, pointsTo: subquery.className, among: ids))
            case .amongValues(let field, let subquery, let path):
                return .test(ValueTest(field, among: try links.values(of: subquery, at: path)))
            case .related(let owner, let id, let field):
                return .id(try links.relatedIDs(ownerClass: owner, ownerID: id, field: field))
            case .usernameKey(let name): return .folded("username", name)
            case .emailKey(let address): return .folded("email", address)
            case .hidden(let name, let value): return .hidden(name, value)
            default: return try leaf(predicate)
            }
        }

        private mutating func nodes(_ predicates: [Predicate]) throws(ParseError) -> [Node] {
            var nodes: [Node] = []
            for predicate in predicates { nodes.append(try node(predicate)) }
            return nodes
        }

        private mutating func leaf(_ predicate: Predicate) throws(ParseError) -> Node {
            guard let test = try ValueTest(predicate) else { return .constant(false) }
            if case .search = predicate, !isNegated { searches.append(test) }
            return .test(test)
        }

        /// A relation is compared with pointers to objects of its class alone; anything else matches nothing.
        private func relation(_ predicate: Predicate, _ field: String, _ target: String) throws(ParseError)
            -> Node
        {
            func ids(_ values: [FieldValue]) -> Set<String> {
                Set(
                    values.compactMap { value in
                        guard case .pointer(target, let id) = value else { return nil }
                        return id
                    }
                )
            }
            switch predicate {
            case .equal(_, let value): return .linked(field, ids([value]), isNegated: false)
            case .notEqual(_, let value): return .linked(field, ids([value]), isNegated: true)
            case .among(_, let values): return .linked(field, ids(values), isNegated: false)
            case .notAmong(_, let values): return .linked(field, ids(values), isNegated: true)
            case .amongObjects(_, let subquery) where subquery.className == target:
                return .linked(field, try links.objectIDs(of: subquery), isNegated: false)
            default: return .constant(false)
            }
        }
    }
}

extension StoredRow {
    /// The value of a field of any kind, the common ones too; `nil` when it is absent.
    package func value(of field: String) -> FieldValue? {
        switch field {
        case "objectId": .string(objectID)
        case "createdAt": .date(createdAt)
        case "updatedAt": .date(updatedAt)
        default: fields[field]
        }
    }
}

extension Predicate {
    /// The name that a condition on one field has; `nil` for groups and for conditions on the row.
    package var leafField: String? {
        switch self {
        case .equal(let field, _), .notEqual(let field, _), .among(let field, _), .notAmong(let field, _),
            .compare(let field, _, _), .exists(let field, _), .containedBy(let field, _),
            .matches(let field, _),
            .search(let field, _), .near(let field, _, _), .inside(let field, _), .covers(let field, _),
            .amongObjects(let field, _), .amongValues(let field, _, _):
            field
        case .everything, .all, .any, .none, .related, .usernameKey, .emailKey, .hidden: nil
        }
    }
}
