import JSON
package import ParseCore

/// Reads what ``AppExport`` wrote into a database of its own.
///
/// The app is known to servers only when ``finished()`` found that all of it is there.
package struct AppImport: Sendable {
    private let storage: any AppStorage
    private var schemaChanges: [SchemaChange] = []
    private var steps: [WriteStep] = []
    private var counts = TransferCounts()
    private var announced: TransferCounts?
    private static let batchSteps = 500

    /// The app as it was.
    package let app: AppRecord

    /// What an export may hold in one line, in bytes.
    package static let lineBytes = 64 << 20

    /// Begins with the first line.
    ///
    /// - Throws: ``ConfigurationError`` for what is no export, or one of a later version.
    package static func app(ofFirstLine line: [UInt8]) throws(ConfigurationError) -> AppRecord {
        guard let json = try? JSONValue.parse(line), let version = json["martlet"]?.numberValue,
            let app = json["app"]
        else { throw ConfigurationError("The file is no export of martlet.") }
        guard version <= Double(TransferLine.version) else {
            throw ConfigurationError("The file was written by a later version of martlet.")
        }
        do {
            return try TransferLine.app(app)
        } catch {
            throw ConfigurationError("The file cannot be read: \(error).")
        }
    }

    package init(_ app: AppRecord, into storage: any AppStorage) {
        self.app = app
        self.storage = storage
    }

    package var rowCount: Int {
        counts.rows
    }

    /// Takes the next line.
    ///
    /// - Throws: ``ConfigurationError`` for a line that is malformed; what the database throws.
    package mutating func read(_ line: [UInt8], number: Int) async throws {
        do {
            try await read(try JSONValue.parse(line, limits: Self.limits))
        } catch let error as JSONError {
            throw ConfigurationError("Line \(number) of the file is no JSON: \(error.description)")
        } catch let error as ConfigurationError {
            throw ConfigurationError("Line \(number) of the file cannot be read: \(error)")
        }
        if steps.count >= Self.batchSteps { try await flush() }
    }

    /// Writes the rest, and checks that nothing is missing.
    ///
    /// - Throws: ``ConfigurationError`` for a file that was cut off.
    package mutating func finished() async throws {
        try await flush()
        guard let announced, announced == counts else {
            throw ConfigurationError("The file is not complete: its end is missing, or lines before it.")
        }
    }

    private static let limits = JSONLimits(bytes: lineBytes, depth: 256, values: .max)

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
        } else if let end = json["end"] {
            announced = TransferCounts(
                classes: Self.count(end["classes"]),
                rows: Self.count(end["rows"]),
                links: Self.count(end["links"])
            )
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

    private static func count(_ json: JSONValue?) -> Int {
        json?.numberValue.flatMap { Int(exactly: $0) } ?? -1
    }
}
