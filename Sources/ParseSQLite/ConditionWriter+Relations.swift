import JSON
import ParseCore
import ParseWire
import SQLite

// Links of relation fields, and rows of other queries.
extension ConditionWriter {
    /// A condition on a relation field: what its links lead to.
    ///
    /// No row answers any other question about it.
    func condition(_ predicate: Predicate, on relation: TableLayout.Relation)
        throws(ParseError) -> SQLCondition
    {
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
            return links(of: relation, try ids("link.relatedId", subquery))
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
    func ids(_ expression: String, _ subquery: Subquery) throws(ParseError) -> SQLCondition {
        guard let (other, condition) = try rows(of: subquery) else { return .never }
        return SQLCondition(
            text: """
                \(expression) IN \
                (SELECT \(other.own(CommonColumn.objectID)) FROM \(other.table) WHERE \(condition.text))
                """,
            parameters: condition.parameters
        )
    }

    /// The table of the subquery's class and the condition on it; `nil` for a class that does not exist.
    func rows(of subquery: Subquery) throws(ParseError) -> (TableLayout, SQLCondition)? {
        guard let other = schema.layoutIfPresent(subquery.className) else { return nil }
        let condition = try ConditionWriter(schema: schema, layout: other).condition(
            subquery.predicate,
            subquery.access,
            column: CommonColumn.readers
        )
        return (other, condition)
    }

    /// That the field, or what is in it at that path, is a pointer to a row that the subquery finds.
    func amongObjects(
        _ column: TableLayout.Column,
        _ field: String,
        _ subquery: Subquery
    ) throws(ParseError) -> SQLCondition {
        if field == column.field, case .pointer(let target) = column.type {
            return target == subquery.className ? try ids(column.name, subquery) : .never
        }
        let path = FieldPath(keys(of: field), in: column.type, target: subquery.className)
        let condition = try ids("own.value", subquery)
        return SQLCondition(
            text: """
                EXISTS(SELECT 1 FROM json_each(\(call(SQLFunctions.pointers, column))) AS own \
                WHERE \(condition.text))
                """,
            parameters: [.object(SQLiteObject(path))] + condition.parameters
        )
    }

    /// That the field, or what is in it at that path, is equal to a value that the subquery's rows have at the other.
    func amongValues(
        _ column: TableLayout.Column,
        _ field: String,
        _ subquery: Subquery,
        _ otherField: String
    ) throws(ParseError) -> SQLCondition {
        guard let (other, condition) = try rows(of: subquery),
            let otherColumn = other.column(FieldName.root(of: otherField))
        else { return .never }
        if field == column.field, otherField == otherColumn.field, column.type.isScalar {
            if column.type == otherColumn.type {
                return SQLCondition(
                    text: """
                        \(column.name) IN \
                        (SELECT \(otherColumn.name) FROM \(other.table) WHERE \(condition.text))
                        """,
                    parameters: condition.parameters
                )
            }
            if otherColumn.type.isScalar { return .never }
        }
        let path = FieldPath(keys(of: field), in: column.type)
        let otherPath = FieldPath(keys(of: otherField), in: otherColumn.type)
        return SQLCondition(
            text: """
                EXISTS(SELECT 1 FROM json_each(\(call(SQLFunctions.allKeys, column))) AS own WHERE own.value IN \
                (SELECT other.value FROM \(other.table), json_each(\(call(SQLFunctions.keys, otherColumn))) AS other \
                WHERE \(condition.text)))
                """,
            parameters: [.object(SQLiteObject(path)), .object(SQLiteObject(otherPath))] + condition.parameters
        )
    }

    private func keys(of field: String) -> [String] {
        (FieldName.path(field) ?? [field]).dropFirst().map { $0 }
    }

    private func call(_ function: String, _ column: TableLayout.Column) -> String {
        "\(function)(?,\(column.names.joined(separator: ",")))"
    }
}

extension FieldType {
    /// Whether it is one column of which equal values are equal.
    fileprivate var isScalar: Bool {
        switch self {
        case .string, .number, .boolean, .date, .pointer, .file, .bytes: true
        case .array, .object, .polygon, .geoPoint, .relation, .acl: false
        }
    }
}
