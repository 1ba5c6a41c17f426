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
        let search = try await Search(className, options, in: context)
        if options.isExplained { return ["results": try await search.plan()] }
        let answered = try options.answered(search.query)
        let rows = try await search.rows()
        var objects = rows.map { answered($0, search.reader.object($0, options.selection.projection)) }
        try await IncludeLoader(in: context).load(
            into: &objects,
            search.reader.access.schema,
            options.selection
        )
        var reply: JSONObject = ["results": .array(objects.map(JSONValue.object))]
        if options.isCounted { reply.append("count", .number(Double(try await search.count()))) }
        return reply
    }

    /// The reply of ``run(in:)`` as text, which is quicker to make.
    package func encoded(in context: RequestContext) async throws -> [UInt8] {
        guard isPlain else { return JSONValue.object(try await run(in: context)).serialized() }
        let search = try await Search(className, options, in: context)
        let rows = try await search.rows()
        var writer = JSONWriter(capacity: 64 + rows.count * 256)
        writer.writeRaw("{\"results\":[")
        let encoder = search.reader.encoder(options.selection.projection)
        for (position, row) in rows.enumerated() {
            if position > 0 { writer.writeRaw(",") }
            encoder.write(
                row,
                hiding: search.reader.protected.fields(of: row),
                files: search.reader.files,
                to: &writer
            )
        }
        writer.writeRaw("]")
        if options.isCounted {
            writer.writeRaw(",\"count\":")
            writer.writeNumber(Double(try await search.count()))
        }
        writer.writeRaw("}")
        return writer.bytes
    }

    /// Whether the answer shows rows as they are stored, and nothing beside them.
    private var isPlain: Bool {
        options.selection.isPlain && !options.selection.wantsScore && !options.isExplained
            && options.redirectKey == nil && ObjectReader.showsRowsAsStored(of: className)
            && !ClassName.isJoin(className)
    }
}
