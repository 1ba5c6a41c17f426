import JSON
package import ParseCore

/// Writes one app as JSON lines: its keys, classes, objects and links.
///
/// Rows that change while it runs are written as they were before or after the change; a row that is there all the
/// time is written once.
package struct AppExport: Sendable {
    private let app: AppRecord
    private let storage: any AppStorage
    private static let pageRows = 500

    package init(_ app: AppRecord, storage: any AppStorage) {
        self.app = app
        self.storage = storage
    }

    /// How many objects there are.
    package func rowCount() async throws -> Int {
        var total = 0
        for name in storage.schema.classNames {
            total += try await storage.count(RowQuery(className: name, predicate: .everything))
        }
        return total
    }

    /// Writes all lines, each with its line end.
    ///
    /// - Parameters:
    ///   - write: Takes some whole lines.
    ///   - progress: Is told after each page how many objects are written.
    /// - Throws: What `write` throws, and the database.
    package func run(
        write: ([UInt8]) async throws -> Void,
        progress: (Int) -> Void = { _ in }
    ) async throws {
        let schema = storage.schema
        var counts = TransferCounts()
        var head = JSONWriter()
        Self.append(.header(app), to: &head)
        for name in schema.classNames {
            guard let schema = schema[name] else { continue }
            Self.append(.schema(schema), to: &head)
            counts.classes += 1
        }
        try await write(head.bytes)
        for name in schema.classNames {
            try await writeRows(of: name, &counts, write, progress)
        }
        for name in schema.classNames {
            guard let schema = schema[name] else { continue }
            for field in schema.fieldNames {
                guard case .relation = schema.type(of: field) else { continue }
                try await writeLinks(of: RelationField(className: name, field: field), &counts, write)
            }
        }
        var tail = JSONWriter()
        Self.append(.end(counts), to: &tail)
        try await write(tail.bytes)
    }

    private func writeRows(
        of className: String,
        _ counts: inout TransferCounts,
        _ write: ([UInt8]) async throws -> Void,
        _ progress: (Int) -> Void
    ) async throws {
        var last: String?
        while true {
            let query = RowQuery(
                className: className,
                predicate: last.map { .compare("objectId", .greater, .string($0)) } ?? .everything,
                order: [SortKey(field: "objectId")],
                limit: Self.pageRows
            )
            let rows = try await storage.find(query)
            guard let end = rows.last else { return }
            var page = JSONWriter()
            for row in rows { Self.append(.row(className: className, row), to: &page) }
            counts.rows += rows.count
            try await write(page.bytes)
            progress(counts.rows)
            last = end.objectID
        }
    }

    private func writeLinks(
        of relation: RelationField,
        _ counts: inout TransferCounts,
        _ write: ([UInt8]) async throws -> Void
    ) async throws {
        var last: RelationLink?
        while true {
            let links = try await storage.links(of: relation, after: last, limit: Self.pageRows)
            guard let end = links.last else { return }
            var page = JSONWriter()
            var start = 0
            while start < links.count {
                let owner = links[start].ownerID
                let run = links[start...].prefix { $0.ownerID == owner }
                Self.append(.links(relation, ownerID: owner, relatedIDs: run.map(\.relatedID)), to: &page)
                start += run.count
            }
            counts.links += links.count
            try await write(page.bytes)
            last = end
        }
    }

    private static func append(_ line: TransferLine, to writer: inout JSONWriter) {
        writer.writeRaw(line.json.serialized())
        writer.writeRaw("\n")
    }
}
