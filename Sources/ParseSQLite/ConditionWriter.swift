import JSON
import ParseCore
import ParseWire
import SQLite

/// Writes predicates on the rows of one class as SQL.
///
/// What a typed column can answer is plain SQL, so that indexes are of use. Everything else is asked of core's own
/// matcher, through a function that gets the value of the column (``LeafTest``).
struct ConditionWriter {
    let schema: StoredSchema
    let layout: TableLayout

    /// The rows that the predicate matches and that the caller may read or write, by the lists in that column.
    ///
    /// - Throws: ``ParseError`` for a regular expression that is none, and its like.
    func condition(
        _ predicate: Predicate,
        _ access: RowAccess,
        column: String
    ) throws(ParseError) -> SQLCondition {
        let condition = try condition(predicate)
        guard case .group(let keys) = access else { return condition }
        let name = layout.own(column)
        let searches = keys.map { _ in "instr(\(name),?)>0" }
        let allowed = SQLCondition(
            text: "(\(([name + " IS NULL"] + searches).joined(separator: " OR ")))",
            parameters: keys.map { .text(KeyList.needle($0)) }
        )
        return condition.and(allowed)
    }

    func condition(_ predicate: Predicate) throws(ParseError) -> SQLCondition {
        switch predicate {
        case .everything: return .always
        case .all(let parts): return .all(try conditions(parts))
        case .any(let parts): return .any(try conditions(parts))
        case .none(let parts): return SQLCondition.any(try conditions(parts)).negated
        case .notEqual(let field, let value): return try condition(.equal(field, value)).negated
        case .notAmong(let field, let values): return try condition(.among(field, values)).negated
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

    private func conditions(_ parts: [Predicate]) throws(ParseError) -> [SQLCondition] {
        var conditions: [SQLCondition] = []
        for part in parts { conditions.append(try condition(part)) }
        return conditions
    }

    /// A condition on one field.
    private func leaf(_ predicate: Predicate, on field: String) throws(ParseError) -> SQLCondition {
        if let relation = layout.relation(field) { return try condition(predicate, on: relation) }
        let root = FieldName.root(of: field)
        guard let column = layout.column(root) else { return withoutField(predicate) }
        switch predicate {
        case .amongObjects(_, let subquery): return try amongObjects(column, field, subquery)
        case .amongValues(_, let subquery, let path):
            return try amongValues(column, field, subquery, path)
        default: break
        }
        guard root == field else { return try test(predicate, on: column) }
        if let typed = try typed(predicate, column) { return typed }
        return try test(predicate, on: column)
    }

    /// `nil` where the type of the column does not help.
    private func typed(_ predicate: Predicate, _ column: TableLayout.Column) throws(ParseError)
        -> SQLCondition?
    {
        switch predicate {
        case .equal(_, let value): equal(column, value)
        case .among(_, let values): among(column, values)
        case .compare(_, let comparison, let value): compare(column, comparison, value)
        case .exists(_, let isThere): exists(column, isThere)
        case .near(_, let center, let radians): try near(column, center, radians)
        case .inside(_, let area): try inside(column, area)
        case .matches(_, let pattern): matches(column, pattern)
        default: nil
        }
    }

    /// On a field that the class does not have, or that no column holds: it is absent everywhere.
    private func withoutField(_ predicate: Predicate) -> SQLCondition {
        switch predicate {
        case .equal(_, let value): value == .null ? .always : .never
        case .among(_, let values): values.contains(.null) ? .always : .never
        case .exists(_, let isThere): isThere ? .never : .always
        case .containedBy: .always
        default: .never
        }
    }

    /// What core's own matcher says of the field, for whatever SQL cannot say.
    func test(_ predicate: Predicate, on column: TableLayout.Column) throws(ParseError) -> SQLCondition {
        guard let test = try ValueTest(predicate) else { return .never }
        let condition = SQLCondition(
            text: "\(SQLFunctions.test)(?,\(column.names.joined(separator: ",")))",
            parameters: [.object(SQLiteObject(LeafTest(test, on: column.type)))]
        )
        // To look for a text in the text of the column costs a tenth of reading it.
        guard let trace = predicate.trace, column.type == .array || column.type == .object else {
            return condition
        }
        return SQLCondition(text: "instr(\(column.name),?)>0", parameters: [.text(trace)]).and(condition)
    }

    private func hidden(_ name: String, _ value: FieldValue) -> SQLCondition {
        precondition(
            HiddenField.names(of: layout.schema.className).contains(name),
            "the class has no such hidden field"
        )
        let column = layout.own(name)
        return value == .null
            ? SQLCondition(text: "\(column) IS NULL")
            : SQLCondition(text: "\(column)=?", parameters: [value.hiddenColumn])
    }

    private func key(_ column: String, _ text: String) -> SQLCondition {
        guard layout.schema.className == SystemClasses.user else { return .never }
        return SQLCondition(text: layout.own(column) + "=?", parameters: [.text(UniqueKey.fold(text))])
    }
}

extension Predicate {
    /// What the JSON of an array or object must have in it for the predicate to hold; `nil` where that is not known.
    fileprivate var trace: String? {
        guard case .equal(_, let value) = self else { return nil }
        switch value {
        case .string(let text), .file(let text), .pointer(_, let text):
            return JSONValue.string(text).serializedString()
        case .number(let number): return JSONValue.number(number).serializedString()
        case .bool(let flag): return flag ? "true" : "false"
        default: return nil
        }
    }
}
