import JSON
import ParseCore
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
        let condition = Self.condition(query, in: schema, layout)
        let order = SortOrder(query, layout)
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
        let condition = Self.condition(query, in: schema, layout)
        selection = layout.selection
        sql = "SELECT \(list) FROM \(layout.table) WHERE \(condition.text)"
        parameters = condition.parameters
    }

    private static func condition(
        _ query: RowQuery,
        in schema: StoredSchema,
        _ layout: TableLayout
    ) -> SQLCondition {
        ConditionWriter(schema: schema, layout: layout).condition(
            query.predicate,
            query.access,
            column: CommonColumn.readers
        )
    }
}

/// What stands behind `ORDER BY`.
///
/// SQLite takes NULL for lowest, as the rule is; what is equal stays in the order of insertion.
struct SortOrder {
    let text: String
    let parameters: [SQLiteValue]

    init(_ query: RowQuery, _ layout: TableLayout) {
        var parts: [SQLCondition] = []
        for key in query.order {
            if let part = Self.part(key, query.predicate, layout) { parts.append(part) }
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
    private static func part(
        _ key: SortKey,
        _ predicate: Predicate,
        _ layout: TableLayout
    ) -> SQLCondition? {
        guard let column = layout.column(FieldName.root(of: key.field)) else { return nil }
        let direction = key.isDescending ? " DESC" : ""
        return SQLCondition(text: column.name + direction)
    }
}
