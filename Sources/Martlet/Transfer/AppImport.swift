import JSON
package import ParseCore

/// Reads what ``AppExport`` wrote into a database of its own.
///
/// The app is known to servers only when ``finished()`` found that all of it is there.
package struct AppImport: Sendable {
    /// The app as it was.
    package let app: AppRecord

    private let lines: TransferLines
    private let storage: any AppStorage
    private let files: any FileStore
    private var steps: [WriteStep] = []
    private var counts = TransferCounts()
    private var announced: TransferCounts?
    private static let batchSteps = 500

    /// Takes the first line, which says what app it is.
    ///
    /// - Throws: ``ConfigurationError`` for what is no export, or one of a later version.
    package static func app(in lines: TransferLines) throws -> AppRecord {
        let line: JSONValue?
        do {
            line = try lines.next()
        } catch is ConfigurationError {
            line = nil
        }
        guard let version = line?["martlet"]?.numberValue, let app = line?["app"] else {
            throw ConfigurationError("The file is no export of martlet.")
        }
        guard version <= Double(TransferLine.version) else {
            throw ConfigurationError("The file was written by a later version of martlet.")
        }
        do {
            return try TransferLine.app(app)
        } catch {
            throw ConfigurationError("The file cannot be read: \(error).")
        }
    }

    /// Reads the lines that follow the first.
    package init(_ app: AppRecord, _ lines: TransferLines, into storage: any AppStorage, files: any FileStore)
    {
        self.app = app
        self.lines = lines
        self.storage = storage
        self.files = files
    }

    /// Takes all lines, and checks that nothing is missing.
    ///
    /// - Parameter progress: Is called after each line.
    /// - Returns: How much was read.
    /// - Throws: ``ConfigurationError`` that names the line which cannot be read, or for a file that was cut off.
    package mutating func run(progress: () -> Void = {}) async throws -> TransferCounts {
        do {
            while let line = try lines.next() {
                try await read(line)
                if steps.count >= Self.batchSteps { try await flush() }
                progress()
            }
            try await flush()
        } catch let error as ConfigurationError {
            throw ConfigurationError("Line \(lines.number) of the file cannot be read: \(error).")
        } catch let error as StorageError {
            throw ConfigurationError(
                "The database does not take what stands before line \(lines.number + 1) of the file: \(error)."
            )
        } catch let error as FileStoreError {
            throw ConfigurationError("An uploaded file cannot be kept: \(error).")
        }
        guard let announced, announced == counts else {
            throw ConfigurationError("The file is not complete: its end is missing, or lines before it.")
        }
        return counts
    }

    private mutating func read(_ json: JSONValue) async throws {
        guard announced == nil else { throw ConfigurationError("something follows the end") }
        if let schema = json["class"] {
            let (_, changes) = try SchemaCoding.changes(schema)
            _ = try await storage.write(WritePlan(schemaChanges: changes, steps: []))
            counts.classes += 1
        } else if let className = json["row"]?.stringValue {
            try readRow(className, json["object"] ?? .null)
        } else if let className = json["links"]?.stringValue {
            try readLinks(className, json)
        } else if json["file"] != nil {
            let heading = try FileHeading(json)
            try await files.save(heading.content(in: lines), named: heading.name, ofApp: app.id)
            counts.files += 1
        } else if let end = json["end"] {
            announced = TransferCounts(end)
        } else {
            throw ConfigurationError("it says nothing known")
        }
    }

    private mutating func readRow(_ className: String, _ json: JSONValue) throws {
        guard let schema = storage.schema[className] else {
            throw ConfigurationError("the class \(className) was not described before")
        }
        let row = try RowCoding.row(json, schema)
        steps.append(.insert(className: className, row))
        counts.rows += 1
        guard className == SystemClasses.user else { return }
        for provider in row.fields["authData"]?.objectValue ?? JSONObject() {
            guard let id = provider.value["id"]?.stringValue else { continue }
            steps.append(
                .link(ProviderIdentity(provider: provider.key, id: id), userID: row.objectID)
            )
        }
    }

    private mutating func readLinks(_ className: String, _ json: JSONValue) throws {
        guard let field = json["field"]?.stringValue, let owner = json["owner"]?.stringValue,
            let related = json["related"]?.arrayValue,
            case .relation = storage.schema[className]?.type(of: field)
        else { throw ConfigurationError("links are malformed") }
        let ids = related.compactMap(\.stringValue)
        guard ids.count == related.count else { throw ConfigurationError("links are malformed") }
        counts.links += ids.count
        steps.append(
            .relate(
                RelationChange(
                    className: className,
                    field: field,
                    ownerID: owner,
                    relatedIDs: ids,
                    isRemoval: false
                )
            )
        )
    }

    private mutating func flush() async throws {
        guard !steps.isEmpty else { return }
        let plan = WritePlan(steps: steps)
        steps = []
        _ = try await storage.write(plan)
    }
}
