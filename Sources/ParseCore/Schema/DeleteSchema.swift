package import JSON

/// Drops a class that has no objects (Parse REST guide, "Deleting a Schema"); one that is not there is no error.
package struct DeleteSchema: Sendable {
    package let className: String

    package init(className: String) {
        self.className = className
    }

    package func run(in context: RequestContext) async throws -> JSONObject {
        try context.requireMaster()
        try context.refuseReadOnlySchema("delete a")
        guard ClassName.isValid(className) else { throw ParseError.invalidClassName(className) }
        try await context.changingSchema { try await delete(in: context) }
        return [:]
    }

    private func delete(in context: RequestContext) async throws {
        let app = context.app
        guard app.storage.schema[className] != nil else { return }
        var changes: [SchemaChange] = [.removeClass(className)]
        // No app is without these: they are as new at once.
        if SystemClasses.initial.contains(className) { changes += SchemaChange.making(className) }
        _ = try await context.commit(Transaction(schemaChanges: changes))
    }
}
