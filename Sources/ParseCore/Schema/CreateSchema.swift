package import JSON
import ParseWire

/// Makes a class (Parse REST guide, "Adding a Schema").
package struct CreateSchema: Sendable {
    /// From the path; `nil` when only the body names the class.
    package let className: String?
    package let body: JSONObject

    package init(className: String?, body: JSONObject) {
        self.className = className
        self.body = body
    }

    /// - Returns: The class as it is then.
    package func run(in context: RequestContext) async throws -> JSONObject {
        try context.requireMaster()
        try context.refuseLockedSchemas()
        try context.refuseReadOnlySchema("create a")
        guard let name = try SchemaBody.className(body, path: className) else {
            throw ParseError(.missingRequiredField, "POST /schemas needs a class name.")
        }
        return try await context.changingSchema { try await create(name, in: context) }
    }

    private func create(_ name: String, in context: RequestContext) async throws -> JSONObject {
        let app = context.app
        guard app.storage.schema[name] == nil, !SystemClasses.volatile.contains(name) else {
            throw ParseError(.invalidClassName, "Class \(name) already exists.")
        }
        guard ClassName.isNameable(name) else { throw ParseError.invalidClassName(name) }
        let edit = try SchemaEdit(try SchemaBody(body), making: name, app.options)
        _ = try await context.commit(Transaction(schemaChanges: edit.changes))
        return SchemaView.object(of: app.storage.schema[name] ?? edit.result)
    }
}

extension RequestContext {
    /// - Throws: ``ParseError`` 119 where the configuration alone says what classes there are.
    func refuseLockedSchemas() throws(ParseError) {
        guard app.options.lockSchemas else { return }
        throw ParseError(
            .operationForbidden,
            "Cannot perform this operation when schemas options is used."
        )
    }

    /// - Throws: ``ParseError`` 119 that says what is refused, for the read-only master key.
    func refuseReadOnlySchema(_ action: String) throws(ParseError) {
        guard principal.isReadOnly else { return }
        throw ParseError(
            .operationForbidden,
            "read-only masterKey isn't allowed to \(action) schema."
        )
    }

    /// Runs a change of the schema when no other is under way.
    ///
    /// The parts of a batch that is one transaction wait for each other, so they cannot wait here too.
    func changingSchema<Result>(_ body: () async throws -> Result) async throws -> Result {
        guard jointCommit == nil else { return try await body() }
        return try await app.schemaGate.run(body)
    }
}
