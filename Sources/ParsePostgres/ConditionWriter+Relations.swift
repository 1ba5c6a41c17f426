import ParseCore
import ParseWire
import Postgres

// Links of relation fields, and rows of other queries.
extension ConditionWriter {
    /// A condition on a relation field: what its links lead to; other questions about it no row answers.
    func condition(_ predicate: Predicate, on relation: TableLayout.Relation) throws(ParseError) -> String {
        switch predicate {
        case .equal(_, let value): return links(of: relation, to: [value])
        case .among(_, let values): return links(of: relation, to: values)
        case .amongObjects(_, let subquery) where subquery.className == relation.targetClass:
            let link = parameters.newAlias()
            return links(of: relation, link, try ids("\(link).related_id", subquery))
        default: return Self.never
        }
    }

    private func links(of relation: TableLayout.Relation, to values: [FieldValue]) -> String {
        let ids = values.compactMap { value -> String? in
            guard case .pointer(let target, let id) = value, !id.containsNUL,
                target.utf8.elementsEqual(relation.targetClass.utf8)
            else { return nil }
            return id
        }
        guard !ids.isEmpty else { return Self.never }
        let link = parameters.newAlias()
        return links(
            of: relation,
            link,
            "\(link).related_id = ANY(\(parameters.add(.textArray(ids)))::text[])"
        )
    }

    /// Rows that own a link for which the condition holds.
    private func links(of relation: TableLayout.Relation, _ link: String, _ condition: String) -> String {
        """
        (\(own(CommonColumn.objectID)) IN \
        (SELECT \(link).owning_id FROM \(relation.table) AS \(link) WHERE \(condition)))
        """
    }

    /// Rows that the owner's relation leads to.
    func related(_ ownerClass: String, _ ownerID: String, _ field: String) -> String {
        guard let relation = schema.layoutIfPresent(ownerClass)?.relation(field),
            relation.targetClass == layout.schema.className, !ownerID.containsNUL
        else { return Self.never }
        return """
            (\(own(CommonColumn.objectID)) IN \
            (SELECT related_id FROM \(relation.table) WHERE owning_id = \(parameters.add(.text(ownerID)))))
            """
    }

    /// That the expression is the id of a row that the subquery finds.
    func ids(_ expression: String, _ subquery: Subquery) throws(ParseError) -> String {
        guard let (other, condition) = try rows(of: subquery) else { return Self.never }
        return """
            (\(expression) IN (SELECT \(other.own(CommonColumn.objectID)) \
            FROM \(other.layout.table) AS \(other.alias) WHERE \(condition)))
            """
    }

    /// A writer for the subquery's class and the condition on it; `nil` for a class that does not exist.
    private func rows(of subquery: Subquery) throws(ParseError) -> (ConditionWriter, String)? {
        guard let layout = schema.layoutIfPresent(subquery.className) else { return nil }
        let other = ConditionWriter(
            schema: schema,
            layout: layout,
            alias: parameters.newAlias(),
            parameters: parameters,
            searches: searches
        )
        let condition = try other.condition(
            subquery.predicate,
            subquery.access,
            column: CommonColumn.readers
        )
        return (other, condition)
    }

    /// That the field is a pointer to a row that the subquery finds.
    func amongObjects(_ column: TableLayout.Column, _ subquery: Subquery) throws(ParseError) -> String? {
        switch column.type {
        case .pointer(let target):
            return target == subquery.className ? try ids(own(column.names[0]), subquery) : Self.never
        case .array, .object: return nil
        default: return Self.never
        }
    }

    /// That the field is equal to a value that the subquery's rows have in theirs, when both are of one type.
    func amongValues(
        _ column: TableLayout.Column,
        _ subquery: Subquery,
        _ otherField: String
    ) throws(ParseError) -> String? {
        guard column.type.isScalar,
            let otherColumn = schema.layoutIfPresent(subquery.className)?.column(otherField),
            otherColumn.type.isScalar
        else { return nil }
        guard column.type == otherColumn.type, let (other, condition) = try rows(of: subquery) else {
            return Self.never
        }
        return """
            (\(own(column.names[0])) IN (SELECT \(other.own(otherColumn.names[0])) \
            FROM \(other.layout.table) AS \(other.alias) WHERE \(condition)))
            """
    }

    /// That what is in the field at that path is equal to a value that the subquery's rows have at the other.
    func amongValues(
        _ column: TableLayout.Column,
        _ path: [String],
        _ subquery: Subquery,
        _ otherField: String
    ) throws(ParseError) -> String {
        let otherPath = FieldName.path(otherField) ?? [otherField]
        // Looked up first: a parameter of a condition that is then not used would have no type.
        guard let otherColumn = schema.layoutIfPresent(subquery.className)?.column(otherPath[0]),
            let (other, condition) = try rows(of: subquery)
        else { return Self.never }
        let parts = other.call("parts", otherColumn, Array(otherPath.dropFirst()))
        return """
            EXISTS (SELECT FROM \(candidates(column, path)) AS c(value) \
            WHERE value <> 'null'::jsonb AND value IN (SELECT p.value \
            FROM \(other.layout.table) AS \(other.alias), \(parts) AS p(value) WHERE \(condition)))
            """
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
