import ParseCore
import ParseWire
import SQLite

/// The SQL of a query, its parameters, and how its rows are read.
struct FindStatement: Sendable {
    let sql: String
    let parameters: [SQLiteValue]
    let selection: RowSelection

    /// Whole rows, in order.
    init(_ query: RowQuery, in schema: StoredSchema) throws(StorageError) {
        let layout = try schema.layout(query.className)
        selection =
            query.fields.map { layout.selection.limited(to: $0, table: layout.table) } ?? layout.selection
        let condition = try Self.condition(query, in: schema, layout)
        let order = try refusing { () throws(ParseError) in try SortOrder(query, layout) }
        sql = """
            SELECT \(selection.list) FROM \(layout.table) WHERE \(condition.text) \
            ORDER BY \(order.text) LIMIT ? OFFSET ?
            """
        parameters =
            condition.parameters + order.parameters
            + [.integer(Int64(query.limit)), .integer(Int64(query.skip))]
    }

    /// Another select of the rows that match, without order.
    init(selecting list: String, _ query: RowQuery, in schema: StoredSchema) throws(StorageError) {
        let layout = try schema.layout(query.className)
        let condition = try Self.condition(query, in: schema, layout)
        selection = layout.selection
        // Without a condition SQLite counts pages of the smallest index.
        let filter = condition.isAlways ? "" : " WHERE \(condition.text)"
        sql = "SELECT \(list) FROM \(layout.table)\(filter)"
        parameters = condition.parameters
    }

    private static func condition(
        _ query: RowQuery,
        in schema: StoredSchema,
        _ layout: TableLayout
    ) throws(StorageError) -> SQLCondition {
        try refusing { () throws(ParseError) in
            try ConditionWriter(schema: schema, layout: layout).condition(
                query.predicate,
                query.access,
                column: CommonColumn.readers
            )
        }
    }
}

/// What stands behind `ORDER BY`.
///
/// SQLite takes NULL for lowest, as the rule is; what is equal stays in the order of insertion.
struct SortOrder {
    let text: String
    let parameters: [SQLiteValue]

    init(_ query: RowQuery, _ layout: TableLayout) throws(ParseError) {
        var parts: [SQLCondition] = []
        for key in query.order {
            let part =
                key.field == SortKey.score
                ? try Self.score(query.predicate, layout) : Self.part(key, layout)
            guard var part else { continue }
            if key.isDescending { part.text += " DESC" }
            parts.append(part)
        }
        if query.order.isEmpty, let nearest = query.nearest, let column = layout.column(nearest.field),
            column.type == .geoPoint
        {
            parts.append(ConditionWriter.distance(column, from: nearest.center))
        }
        parts.append(SQLCondition(text: layout.rowNumber))
        text = parts.map(\.text).joined(separator: ",")
        parameters = parts.flatMap(\.parameters)
    }

    /// `nil` for what sorts nothing.
    private static func part(_ key: SortKey, _ layout: TableLayout) -> SQLCondition? {
        let path = FieldName.path(key.field) ?? [key.field]
        guard let column = layout.column(path[0]) else { return nil }
        let isWhole = path.count == 1
        switch column.type {
        case .string, .number, .boolean, .date, .pointer, .file:
            return isWhole ? SQLCondition(text: column.name) : nil
        // These are all alike.
        case .geoPoint, .bytes, .polygon:
            return isWhole ? SQLCondition(text: "\(column.name) IS NOT NULL") : nil
        case .relation, .acl: return nil
        case .object where isWhole: return SQLCondition(text: "\(column.name) IS NOT NULL")
        case .object, .array:
            let function = key.isDescending ? SQLFunctions.highest : SQLFunctions.lowest
            return SQLCondition(
                text: "\(function)(?,\(column.name))",
                parameters: [.object(SQLiteObject(FieldPath(Array(path.dropFirst()), in: column.type)))]
            )
        }
    }

    /// The best match is lowest.
    private static func score(_ predicate: Predicate, _ layout: TableLayout) throws(ParseError)
        -> SQLCondition?
    {
        var parts: [SQLCondition] = []
        for search in predicate.searches {
            guard let test = try ValueTest(search), let column = layout.column(test.field) else { continue }
            parts.append(
                SQLCondition(
                    text: "\(SQLFunctions.score)(?,\(column.names.joined(separator: ",")))",
                    parameters: [.object(SQLiteObject(LeafTest(test, on: column.type)))]
                )
            )
        }
        guard !parts.isEmpty else { return nil }
        return SQLCondition(
            text: "-(\(parts.map(\.text).joined(separator: "+")))",
            parameters: parts.flatMap(\.parameters)
        )
    }
}

extension Predicate {
    /// The text searches that count for the score: those that are not negated.
    fileprivate var searches: [Predicate] {
        searches(isNegated: false)
    }

    private func searches(isNegated: Bool) -> [Predicate] {
        switch self {
        case .all(let parts), .any(let parts): parts.flatMap { $0.searches(isNegated: isNegated) }
        case .none(let parts): parts.flatMap { $0.searches(isNegated: !isNegated) }
        case .search: isNegated ? [] : [self]
        default: []
        }
    }
}
