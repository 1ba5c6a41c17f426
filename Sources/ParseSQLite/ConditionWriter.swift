import JSON
import ParseCore
import SQLite

/// Writes predicates on the rows of one class as SQL.
///
/// What a typed column can answer is plain SQL, so that indexes are of use. Everything else is asked of core's own
/// matcher, through a function that gets the value of the column (``LeafTest``).
struct ConditionWriter {
    let schema: StoredSchema
    let layout: TableLayout

    /// The rows that the predicate matches and that the caller may read or write, by the lists in that column.
    func condition(_ predicate: Predicate, _ access: RowAccess, column: String) -> SQLCondition {
        let condition = condition(predicate)
        guard case .group(let keys) = access else { return condition }
        let name = layout.own(column)
        let searches = keys.map { _ in "instr(\(name),?)>0" }
        let allowed = SQLCondition(
            text: "(\(([name + " IS NULL"] + searches).joined(separator: " OR ")))",
            parameters: keys.map { .text(KeyList.needle($0)) }
        )
        return condition.and(allowed)
    }

    func condition(_ predicate: Predicate) -> SQLCondition {
        switch predicate {
        case .everything: return .always
        case .all(let parts): return .all(parts.map(condition))
        case .any(let parts): return .any(parts.map(condition))
        case .none(let parts): return SQLCondition.any(parts.map(condition)).negated
        case .notEqual(let field, let value): return condition(.equal(field, value)).negated
        case .notAmong(let field, let values): return condition(.among(field, values)).negated
        case .related(let ownerClass, let ownerID, let field): return related(ownerClass, ownerID, field)
        case .usernameKey(let name): return key(CommonColumn.usernameKey, name)
        case .emailKey(let address): return key(CommonColumn.emailKey, address)
        case .hidden(let name, let value): return hidden(name, value)
        case .equal(let field, _), .among(let field, _), .compare(let field, _, _), .exists(let field, _),
            .containedBy(let field, _), .matches(let field, _), .search(let field, _), .near(let field, _, _),
            .inside(let field, _), .covers(let field, _), .amongObjects(let field, _),
            .amongValues(let field, _, _):
            return leaf(predicate, on: field)
        }
    }

    /// A condition on one field.
    private func leaf(_ predicate: Predicate, on field: String) -> SQLCondition {
        let root = FieldName.root(of: field)
        if let relation = layout.relation(root) {
            return root == field ? condition(predicate, on: relation) : .never
        }
        guard let column = layout.column(root) else { return withoutField(predicate) }
        guard root == field else { return test(predicate, on: column, path: field) }
        switch predicate {
        case .equal(_, let value): return equal(column, value) ?? test(predicate, on: column)
        case .among(_, let values): return among(column, values) ?? test(predicate, on: column)
        case .compare(_, let comparison, let value):
            return compare(column, comparison, value) ?? test(predicate, on: column)
        case .exists(_, let isThere): return exists(column, isThere)
        case .near(_, let center, let radians): return near(column, center, radians)
        case .inside(_, let area): return inside(column, area) ?? test(predicate, on: column)
        case .amongObjects(_, let subquery): return amongObjects(column, subquery)
        case .amongValues(_, let subquery, let path): return amongValues(column, nil, subquery, path)
        default: return test(predicate, on: column)
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

    func test(_ predicate: Predicate, on column: TableLayout.Column, path: String? = nil) -> SQLCondition {
        .never
    }

    func amongObjects(_ column: TableLayout.Column, _ subquery: Subquery) -> SQLCondition { .never }
    func amongValues(_ column: TableLayout.Column, _ path: String?, _ subquery: Subquery, _ other: String) -> SQLCondition { .never }

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

    func key(_ column: String, _ text: String) -> SQLCondition {
        guard layout.schema.className == SystemClasses.user else { return .never }
        return SQLCondition(text: layout.own(column) + "=?", parameters: [.text(UniqueKey.fold(text))])
    }
}
