package import JSON
import ParseWire

/// The objects of a class that match and that the caller may read (Parse REST guide, "Queries").
package struct FindObjects: Sendable {
    package let className: String
    package let options: FindOptions

    package init(className: String, options: FindOptions) {
        self.className = className
        self.options = options
    }

    /// - Returns: `results`, and `count` if it was asked for: exactly how many match, whatever the limit.
    /// - Throws: ``ParseError``: 119 for a class that does not exist, an operation that is not open to the caller, or a
    ///   field that it may not search by; 209 for sessions without one; what ``WhereDecoder`` throws.
    package func run(in context: RequestContext) async throws -> JSONObject {
        guard !ClassName.isJoin(className) else {
            return try await FindLinks(className: className, options: options).run(in: context)
        }
        let reader = ObjectReader(className, in: context)
        let query = try query(reader, in: context)
        var reply = JSONObject()
        let objects = try await results(query, reader, in: context)
        reply.append("results", .array(objects.map(JSONValue.object)))
        if options.isCounted {
            reply.append("count", .number(Double(try await count(query, reader, in: context))))
        }
        return reply
    }

    /// The reply of ``run(in:)`` as text, which is quicker to make.
    package func encoded(in context: RequestContext) async throws -> [UInt8] {
        let reader = ObjectReader(className, in: context)
        let isPlain =
            options.selection.isPlain && reader.rowsAreShownAsStored && !ClassName.isJoin(className)
        guard isPlain else { return JSONValue.object(try await run(in: context)).serialized() }
        let query = try query(reader, in: context)
        let rows = try await rows(query, reader, in: context)
        var writer = JSONWriter(capacity: 64 + rows.count * 256)
        writer.writeRaw("{\"results\":[")
        let encoder = ObjectEncoder(reader.access.schema, options.selection.projection)
        for (position, row) in rows.enumerated() {
            if position > 0 { writer.writeRaw(",") }
            encoder.write(row, hiding: reader.protected.fields(of: row), to: &writer)
        }
        writer.writeRaw("]")
        if options.isCounted {
            writer.writeRaw(",\"count\":")
            writer.writeNumber(Double(try await count(query, reader, in: context)))
        }
        writer.writeRaw("}")
        return writer.bytes
    }

    private func query(_ reader: ObjectReader, in context: RequestContext) throws(ParseError) -> RowQuery {
        _ = try reader.access.requireExistence()
        try reader.protected.check(
            paths: options.whereFields,
            order: options.order,
            ownID: options.whereID
        )
        var query = try options.query(of: className, reader.access.schema, access: reader.rowAccess)
        if className == SystemClasses.session { query.predicate = query.predicate.hashingTokens() }
        return query
    }

    /// With a limit of 0 nothing is looked for and no permission to find is needed.
    private func rows(
        _ query: RowQuery,
        _ reader: ObjectReader,
        in context: RequestContext
    ) async throws -> [StoredRow] {
        guard options.limit > 0 else { return [] }
        var query = query
        query.predicate = try reader.filter(for: options.asksForOneObject ? .get : .find)
            .and(query.predicate)
        return try await context.app.rows(query)
    }

    private func results(
        _ query: RowQuery,
        _ reader: ObjectReader,
        in context: RequestContext
    ) async throws -> [JSONObject] {
        let rows = try await rows(query, reader, in: context)
        var objects = rows.map { reader.object($0, options.selection.projection) }
        try await IncludeLoader(in: context).load(into: &objects, reader.access.schema, options.selection)
        return objects
    }

    private func count(
        _ query: RowQuery,
        _ reader: ObjectReader,
        in context: RequestContext
    ) async throws -> Int {
        var query = query
        query.predicate = try reader.filter(for: .count).and(query.predicate)
        return try await context.app.rowCount(query)
    }
}

extension FindOptions {
    /// Whether `where` is an id and nothing else, which is asked for with the permission to get.
    fileprivate var asksForOneObject: Bool {
        filter.members.count == 1 && whereID != nil
    }
}
