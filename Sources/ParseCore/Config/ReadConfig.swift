package import JSON

/// The parameters of the app (Parse REST guide, "Config"); everybody may ask.
package struct ReadConfig: Sendable {
    package init() {}

    package func run(in context: RequestContext) async throws -> JSONObject {
        let files = FileAddresses(context)
        return ConfigView.object(
            of: try await Self.row(in: context.app),
            isMaster: context.principal.isMaster
        ) { name in
            files.json(of: .file(name: name)) ?? FieldValue.file(name: name).json
        }
    }

    /// The one row that holds them; `nil` while none was ever set.
    static func row(in app: App) async throws -> StoredRow? {
        guard app.storage.schema[SystemClasses.config] != nil else { return nil }
        let query = RowQuery(className: SystemClasses.config, predicate: .id(UpdateConfig.rowID), limit: 1)
        return try await app.reading { () throws(StorageError) in try await app.storage.find(query) }.first
    }
}
