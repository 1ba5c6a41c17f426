import ParseCore
import ParseWire
import Postgres

/// The SQL of a query, its parameters, and how its rows are read.
struct FindStatement {
    let sql: String
    let parameters: [PostgresValue]
    let selection: RowSelection

    /// What one query may bring into memory, in bytes.
    static let resultBytes = 32 << 20
    /// Fewer rows than that are never too large together, since an object has a mebibyte at most.
    private static let harmlessLimit = 32

    /// Whole rows, in order.
    init(_ query: RowQuery, in schema: StoredSchema, _ searches: SearchResults) throws(StorageError) {
        let layout = try schema.layout(query.className)
        selection = query.fields.map(layout.selection.limited) ?? layout.selection
        let writer = Self.writer(schema, layout, searches)
        let condition = try Self.condition(query, writer)
        let order = SortOrder(query, writer)
        let limit = writer.parameters.add(.integer(Int64(query.limit)))
        let skip = writer.parameters.add(.integer(Int64(query.skip)))
        func page(_ list: String) -> String {
            """
            SELECT \(list) FROM \(layout.table) AS \(writer.alias)\(order.join) WHERE \(condition) \
            ORDER BY \(order.text) LIMIT \(limit)::int8 OFFSET \(skip)::int8
            """
        }
        let list = selection.list(writer.alias)
        if query.limit <= Self.harmlessLimit {
            sql = page(list)
        } else {
            sql = """
                WITH page AS MATERIALIZED (\(page("\(list),\(selection.size(writer.alias)) AS \"_bytes\""))) \
                SELECT * FROM page WHERE \(DatabaseFunctions.namespace).within(\
                (SELECT sum("_bytes") FROM page)::numeric, \(Self.resultBytes))
                """
        }
        parameters = writer.parameters.values
    }

    /// Another select of the rows that match, without order; `list` gets the name of the table.
    init(
        selecting list: (String) -> String,
        _ query: RowQuery,
        in schema: StoredSchema,
        _ searches: SearchResults
    ) throws(StorageError) {
        let layout = try schema.layout(query.className)
        selection = layout.selection
        let writer = Self.writer(schema, layout, searches)
        let condition = try Self.condition(query, writer)
        sql = "SELECT \(list(writer.alias)) FROM \(layout.table) AS \(writer.alias) WHERE \(condition)"
        parameters = writer.parameters.values
    }

    static func writer(
        _ schema: StoredSchema,
        _ layout: TableLayout,
        _ searches: SearchResults
    ) -> ConditionWriter {
        let parameters = Parameters()
        return ConditionWriter(
            schema: schema,
            layout: layout,
            alias: parameters.newAlias(),
            parameters: parameters,
            searches: searches
        )
    }

    private static func condition(_ query: RowQuery, _ writer: ConditionWriter) throws(StorageError) -> String
    {
        try refusing { () throws(ParseError) in
            try writer.condition(query.predicate, query.access, column: CommonColumn.readers)
        }
    }
}

/// Says what a client did wrong as the port says it.
func refusing<Result>(_ body: () throws(ParseError) -> Result) throws(StorageError) -> Result {
    do {
        return try body()
    } catch {
        throw .refused(error)
    }
}

/// What stands behind `ORDER BY`; what is equal stays in the order of insertion.
struct SortOrder {
    let text: String
    /// What has to be joined for it.
    private(set) var join = ""

    init(_ query: RowQuery, _ writer: ConditionWriter) {
        var parts: [String] = []
        var join = ""
        for key in query.order {
            if key.field == SortKey.score {
                guard join.isEmpty else { continue }
                let found = writer.searches.scores(query.predicate, of: query.className)
                guard !found.rows.isEmpty else { continue }
                join = """
                     LEFT JOIN unnest(\(writer.parameters.add(.integerArray(found.rows)))::int8[], \
                    \(writer.parameters.add(.doubleArray(found.scores)))::float8[]) AS score(id, value) \
                    ON score.id = \(writer.own(CommonColumn.row))
                    """
                // The best match is lowest.
                parts.append("coalesce(score.value, 0)" + (key.isDescending ? "" : " DESC"))
            } else if let part = Self.part(key, writer) {
                parts.append(part)
            }
        }
        if query.order.isEmpty, let nearest = query.nearest, let column = writer.layout.column(nearest.field),
            column.type == .geoPoint
        {
            let names = column.names.map(writer.own)
            let distance = ConditionWriter.distance(
                from: nearest.center,
                names[0],
                names[1],
                writer.parameters
            )
            parts.append("\(distance) NULLS FIRST")
        }
        parts.append(writer.own(CommonColumn.row))
        text = parts.joined(separator: ",")
        self.join = join
    }

    /// `nil` for what sorts nothing.
    private static func part(_ key: SortKey, _ writer: ConditionWriter) -> String? {
        let path = FieldName.path(key.field) ?? [key.field]
        guard let column = writer.layout.column(path[0]) else { return nil }
        let name = writer.own(column.names[0])
        // NULL sorts lowest. Columns that are never NULL do without, so that their indexes are of use.
        let isRequired = CommonColumn.fields.contains(column.field)
        let direction =
            isRequired
            ? (key.isDescending ? " DESC" : "") : (key.isDescending ? " DESC NULLS LAST" : " NULLS FIRST")
        let isWhole = path.count == 1
        switch column.type {
        case .string, .number, .boolean, .date, .pointer, .file: return isWhole ? name + direction : nil
        // These are all alike.
        case .geoPoint, .bytes, .polygon:
            return isWhole ? "(\(name) IS NOT NULL)" + (key.isDescending ? " DESC" : "") : nil
        case .relation, .acl: return nil
        case .object where isWhole: return "(\(name) IS NOT NULL)" + (key.isDescending ? " DESC" : "")
        case .object, .array:
            let keys = writer.parameters.add(.textArray(Array(path.dropFirst())))
            let functions = DatabaseFunctions.namespace
            return
                "\(functions).extreme(\(name)::jsonb, \(keys)::text[], \(key.isDescending))"
                + (key.isDescending ? " DESC" : "")
        }
    }
}
