import JSON
import ParseCore
import SQLite

// Links of relation fields, and rows of other queries.
extension ConditionWriter {
    /// A condition on a relation field: what its links lead to. Other questions about it no row answers.
    func condition(_ predicate: Predicate, on relation: TableLayout.Relation) -> SQLCondition {
        switch predicate {
        case .equal(_, .pointer(relation.targetClass, let id)):
            return links(of: relation, SQLCondition(text: "link.relatedId=?", parameters: [.text(id)]))
        case .among(_, let values):
            let ids = values.compactMap { value -> String? in
                guard case .pointer(relation.targetClass, let id) = value else { return nil }
                return id
            }
            return ids.isEmpty ? .never : links(of: relation, .oneOf("link.relatedId", ids))
        case .amongObjects(_, let subquery) where subquery.className == relation.targetClass:
            return links(of: relation, ids("link.relatedId", subquery))
        default: return .never
        }
    }

    /// Rows that own a link for which the condition holds.
    private func links(of relation: TableLayout.Relation, _ condition: SQLCondition) -> SQLCondition {
        SQLCondition(
            text: """
                \(layout.own(CommonColumn.objectID)) IN \
                (SELECT link.owningId FROM \(relation.table) AS link WHERE \(condition.text))
                """,
            parameters: condition.parameters
        )
    }

    /// Rows that the owner's relation leads to.
    func related(_ ownerClass: String, _ ownerID: String, _ field: String) -> SQLCondition {
        guard let relation = schema.layoutIfPresent(ownerClass)?.relation(field),
            relation.targetClass == layout.schema.className
        else { return .never }
        return SQLCondition(
            text: """
                \(layout.own(CommonColumn.objectID)) IN \
                (SELECT link.relatedId FROM \(relation.table) AS link WHERE link.owningId=?)
                """,
            parameters: [.text(ownerID)]
        )
    }

    /// That the expression is the id of a row that the subquery finds.
    func ids(_ expression: String, _ subquery: Subquery) -> SQLCondition {
        guard let (other, condition) = rows(of: subquery) else { return .never }
        return SQLCondition(
            text: """
                \(expression) IN \
                (SELECT \(other.own(CommonColumn.objectID)) FROM \(other.table) WHERE \(condition.text))
                """,
            parameters: condition.parameters
        )
    }

    /// The table of the subquery's class and the condition on it; `nil` for a class that does not exist.
    func rows(of subquery: Subquery) -> (TableLayout, SQLCondition)? {
        guard let other = schema.layoutIfPresent(subquery.className) else { return nil }
        let condition = ConditionWriter(schema: schema, layout: other).condition(
            subquery.predicate,
            subquery.access,
            column: CommonColumn.readers
        )
        return (other, condition)
    }
}
