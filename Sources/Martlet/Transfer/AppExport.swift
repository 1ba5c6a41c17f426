import JSON
package import ParseCore

/// Writes one app as JSON lines: its keys, classes, objects, links and uploaded files.
///
/// Rows that change while it runs are written as they were before or after the change; a row that is there all the
/// time is written once.
package struct AppExport: Sendable {
    private let app: AppRecord
    private let storage: any AppStorage
    private let files: (any FileStore)?
    private static let pageRows = 500

    /// An export of an app whose uploaded files are in `files`; `nil` when there can be none.
    package init(_ app: AppRecord, storage: any AppStorage, files: (any FileStore)?) {
        self.app = app
        self.storage = storage
        self.files = files
    }

    /// How many objects and files there are.
    package func itemCount() async throws -> Int {
        var total = 0
        for name in storage.schema.classNames {
            total += try await storage.count(RowQuery(className: name, predicate: .everything))
        }
        var last: String?
        while let names = try await fileNames(after: last), let end = names.last {
            total += names.count
            last = end
        }
        return total
    }

    /// Writes all lines, each with its line end.
    ///
    /// - Parameters:
    ///   - write: Takes some whole lines.
    ///   - progress: Is told from time to time how many objects and files are written.
    /// - Returns: How much was written.
    /// - Throws: ``ConfigurationError``, what the database or the files throw, and what `write` throws.
    @discardableResult
    package func run(
        write: ([UInt8]) async throws -> Void,
        progress: (Int) -> Void = { _ in }
    ) async throws -> TransferCounts {
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
        try await writeFiles(&counts, write, progress)
        try await write(Self.bytes(.end(counts)))
        return counts
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

    private func fileNames(after last: String?) async throws -> [String]? {
        try await files?.names(ofApp: app.id, after: last, limit: Self.pageRows)
    }

    private func writeFiles(
        _ counts: inout TransferCounts,
        _ write: ([UInt8]) async throws -> Void,
        _ progress: (Int) -> Void
    ) async throws {
        guard let files else { return }
        var last: String?
        while let names = try await fileNames(after: last), let end = names.last {
            for name in names {
                // One that was deleted meanwhile is left out.
                guard let file = try await files.open(name, ofApp: app.id) else { continue }
                let attributes = try await files.attributes(of: name, ofApp: app.id) ?? FileAttributes()
                try await self.write(
                    file,
                    FileHeading(name: name, attributes: attributes, size: file.size),
                    write
                )
                counts.files += 1
                progress(counts.rows + counts.files)
            }
            last = end
        }
    }

    private func write(
        _ file: any OpenFile,
        _ heading: FileHeading,
        _ write: ([UInt8]) async throws -> Void
    ) async throws {
        try await write(Self.bytes(.file(heading)))
        var offset = 0
        while offset < heading.size {
            let bytes = try await file.read(from: offset, count: FileHeading.chunkBytes)
            guard !bytes.isEmpty else { throw ConfigurationError("The file \(heading.name) ends too soon.") }
            try await write(Self.bytes(.bytes(bytes)))
            offset += bytes.count
        }
    }

    private static func bytes(_ line: TransferLine) -> [UInt8] {
        var writer = JSONWriter()
        append(line, to: &writer)
        return writer.bytes
    }

    private static func append(_ line: TransferLine, to writer: inout JSONWriter) {
        writer.writeRaw(line.json.serialized())
        writer.writeRaw("\n")
    }
}
