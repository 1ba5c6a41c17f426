import JSON
import ParseCore
import ParseWire
import Postgres

/// Writes predicates on the rows of one class as SQL.
///
/// SQL's third truth value stops here: every negation turns "unknown" into "no" first, so that it matches rows
/// without a value, as MongoDB's do.
struct ConditionWriter {
    let schema: StoredSchema
    let layout: TableLayout
    /// What the table is called in the statement.
    let alias: String
    let parameters: Parameters
    /// What was found out about text searches, which SQL does not know.
    let searches: SearchResults

    static let always = "true"
    static let never = "false"

    /// The rows that the predicate matches and that the caller may read or write, by the lists in that column.
    ///
    /// - Throws: ``ParseError`` for a regular expression that is none or cannot be said in PostgreSQL's syntax.
    func condition(
        _ predicate: Predicate,
        _ access: RowAccess,
        column: String
    ) throws(ParseError) -> String {
        let condition = try condition(predicate)
        guard case .group(let keys) = access else { return condition }
        let list = parameters.add(.textArray(keys.filter { !$0.containsNUL }))
        let name = own(column)
        return "\(condition) AND (\(name) IS NULL OR \(name) && \(list)::text[])"
    }

    /// In brackets, unless it is one word.
    func condition(_ predicate: Predicate) throws(ParseError) -> String {
        switch predicate {
        case .everything: return Self.always
        case .all(let parts): return Self.joined(try conditions(parts), " AND ", empty: Self.always)
        case .any(let parts): return Self.joined(try conditions(parts), " OR ", empty: Self.never)
        case .none(let parts):
            return Self.negated(Self.joined(try conditions(parts), " OR ", empty: Self.never))
        case .notEqual(let field, let value): return try negatedLeaf(.equal(field, value), on: field)
        case .notAmong(let field, let values): return try negatedLeaf(.among(field, values), on: field)
        case .related(let ownerClass, let ownerID, let field): return related(ownerClass, ownerID, field)
        case .usernameKey(let name): return key(CommonColumn.usernameKey, name)
        case .emailKey(let address): return key(CommonColumn.emailKey, address)
        case .hidden(let name, let value): return hidden(name, value)
        case .equal(let field, _), .among(let field, _), .compare(let field, _, _), .exists(let field, _),
            .containedBy(let field, _), .matches(let field, _), .search(let field, _), .near(let field, _, _),
            .inside(let field, _), .covers(let field, _), .amongObjects(let field, _),
            .amongValues(let field, _, _):
            return try leaf(predicate, on: field)
        }
    }

    private func conditions(_ parts: [Predicate]) throws(ParseError) -> [String] {
        var conditions: [String] = []
        for part in parts { conditions.append(try condition(part)) }
        return conditions
    }

    private func negatedLeaf(_ predicate: Predicate, on field: String) throws(ParseError) -> String {
        Self.negated(try leaf(predicate, on: field))
    }

    /// A condition on one field.
    private func leaf(_ predicate: Predicate, on field: String) throws(ParseError) -> String {
        // What is wrong with it is wrong whatever the rows hold.
        if case .matches(_, let pattern) = predicate { _ = try pattern.compiled() }
        if let relation = layout.relation(field) { return try condition(predicate, on: relation) }
        let path = FieldName.path(field) ?? [field]
        guard let column = layout.column(path[0]) else { return Self.withoutField(predicate) }
        if case .search = predicate { return searches.condition(predicate, self) }
        if path.count > 1, !(column.type == .array || column.type == .object) {
            return Self.withoutField(predicate)
        }
        if path.count == 1, let typed = try typed(predicate, column) { return typed }
        return try inside(predicate, column, Array(path.dropFirst()))
    }

    /// `nil` where one has to look into the value.
    private func typed(_ predicate: Predicate, _ column: TableLayout.Column) throws(ParseError) -> String? {
        switch predicate {
        case .equal(_, let value): equal(column, value)
        case .among(_, let values): among(column, values)
        case .compare(_, let comparison, let value): compare(column, comparison, value)
        case .exists(_, let isThere): exists(column, isThere)
        case .near(_, let center, let radians): near(column, center, radians)
        case .inside(_, let area): inside(column, area)
        case .covers(_, let point): covers(column, point)
        case .matches(_, let pattern): try matches(column, pattern)
        case .containedBy: column.type == .array ? nil : Self.always
        case .amongObjects(_, let subquery): try amongObjects(column, subquery)
        case .amongValues(_, let subquery, let path): try amongValues(column, subquery, path)
        default: nil
        }
    }

    /// On a field that the class does not have, or that no column holds: it is absent everywhere.
    private static func withoutField(_ predicate: Predicate) -> String {
        switch predicate {
        case .equal(_, let value): value == .null ? always : never
        case .among(_, let values): values.contains(.null) ? always : never
        case .exists(_, let isThere): isThere ? never : always
        case .containedBy: always
        default: never
        }
    }

    private func hidden(_ name: String, _ value: FieldValue) -> String {
        precondition(
            HiddenField.names(of: layout.schema.className).contains(name),
            "the class has no such hidden field"
        )
        let column = own(PostgresIdentifier.quoted(name))
        if value == .null { return "(\(column) IS NULL)" }
        return value.containsNUL ? Self.never : "(\(column) = \(parameters.add(value.hiddenColumn)))"
    }

    func key(_ column: String, _ text: String) -> String {
        guard layout.schema.className == SystemClasses.user, !text.containsNUL else { return Self.never }
        return "(\(own(column)) = \(parameters.add(.text(UniqueKey.fold(text)))))"
    }

    /// A quoted column of the table.
    func own(_ column: String) -> String {
        "\(alias).\(column)"
    }

    static func negated(_ condition: String) -> String {
        "(\(condition) IS NOT TRUE)"
    }

    static func joined(_ parts: [String], _ conjunction: String, empty: String) -> String {
        switch parts.count {
        case 0: empty
        case 1: parts[0]
        default: "(\(parts.joined(separator: conjunction)))"
        }
    }
}
