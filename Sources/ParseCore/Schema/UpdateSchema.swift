package import JSON
import ParseWire

/// Changes a class: adds, drops and redefines fields, sets permissions, adds and drops indexes (Parse REST guide,
/// "Modifying the Schema").
///
/// All of it is written, or nothing.
package struct UpdateSchema: Sendable {
    package let className: String
    package let body: JSONObject
    /// How often a change is checked again that meets a field which a save has just added.
    private static let attempts = 3

    package init(className: String, body: JSONObject) {
        self.className = className
        self.body = body
    }

    /// - Returns: The class as it is then.
    package func run(in context: RequestContext) async throws -> JSONObject {
        try context.requireMaster()
        try context.refuseLockedSchemas()
        try context.refuseReadOnlySchema("update a")
        _ = try SchemaBody.className(body, path: className)
        let changes = try SchemaBody(body)
        return try await context.changingSchema {
            var attempt = 1
            while true {
                let version = context.app.storage.schema.version
                do {
                    return try await update(changes, in: context)
                } catch let error as ParseError where error.code == .incorrectType {
                    let isOutdated = context.app.storage.schema.version != version
                    guard isOutdated, attempt < Self.attempts, context.jointCommit == nil else { throw error }
                    attempt += 1
                }
            }
        }
    }

    private func update(_ changes: SchemaBody, in context: RequestContext) async throws -> JSONObject {
        let app = context.app
        guard let schema = app.storage.schema[className] else { throw ParseError.unknownClass(className) }
        let edit = try SchemaEdit(changes, of: schema, app.options)
        if !edit.changes.isEmpty { _ = try await context.commit(Transaction(schemaChanges: edit.changes)) }
        return SchemaView.object(of: app.storage.schema[className] ?? edit.result)
    }
}
