package import JSON
import ParseWire

/// One object by its id (Parse REST guide, "Retrieving Objects").
package struct GetObject: Sendable {
    package let className: String
    package let objectID: String
    package let selection: Selection

    package init(className: String, objectID: String, selection: Selection) {
        self.className = className
        self.objectID = objectID
        self.selection = selection
    }

    /// - Throws: ``ParseError``: 101 where there is no such object or the caller may not see it, and what
    ///   ``ObjectReader/filter(for:)`` throws.
    package func run(in context: RequestContext) async throws -> JSONObject {
        let (row, reader) = try await found(in: context)
        var objects = [reader.object(row, selection.projection)]
        try await IncludeLoader(in: context).load(into: &objects, reader.access.schema, selection)
        return objects[0]
    }

    /// The reply of ``run(in:)`` as text, which is quicker to make.
    package func encoded(in context: RequestContext) async throws -> [UInt8] {
        let (row, reader) = try await found(in: context)
        guard selection.isPlain, ObjectReader.showsRowsAsStored(of: className) else {
            var objects = [reader.object(row, selection.projection)]
            try await IncludeLoader(in: context).load(into: &objects, reader.access.schema, selection)
            return JSONValue.object(objects[0]).serialized()
        }
        var writer = JSONWriter(capacity: 512)
        let encoder = reader.encoder(selection.projection)
        encoder.write(row, hiding: reader.protected.fields(of: row), files: reader.files, to: &writer)
        return writer.bytes
    }

    private func found(in context: RequestContext) async throws -> (StoredRow, ObjectReader) {
        let reader = ObjectReader(className, in: context)
        let filter = try reader.filter(for: .get)
        guard try reader.access.requireExistence() else { throw ParseError.objectNotFound }
        let query = RowQuery(
            className: className,
            predicate: Predicate.id(objectID).and(filter),
            access: reader.rowAccess,
            limit: 1
        )
        let rows = try await context.app.rows(query)
        guard let row = rows.first else { throw ParseError.objectNotFound }
        return (row, reader)
    }
}

extension App {
    /// The rows that match; none of a class that has no table yet.
    package func rows(_ query: RowQuery) async throws -> [StoredRow] {
        guard storage.schema[query.className] != nil else { return [] }
        return try await reading { () throws(StorageError) in try await storage.find(query) }
    }

    /// How many rows match.
    package func rowCount(_ query: RowQuery) async throws -> Int {
        guard storage.schema[query.className] != nil else { return 0 }
        return try await reading { () throws(StorageError) in try await storage.count(query) }
    }
}
