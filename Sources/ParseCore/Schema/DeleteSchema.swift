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
        guard let schema = app.storage.schema[className] else { return }
        guard SystemClasses.initial.contains(className) else {
            _ = try await context.commit(Transaction(schemaChanges: [.removeClass(className)]))
            return
        }
        let query = RowQuery(className: className, predicate: .everything)
        let count = try await app.reading { () throws(StorageError) in try await app.storage.count(query) }
        guard count == 0 else { throw ParseError.classNotEmpty(className, count: count) }
        let changes = Self.restoring(schema)
        if !changes.isEmpty { _ = try await context.commit(Transaction(schemaChanges: changes)) }
    }

    /// A class that no app is without is taken back to what it was at the start.
    private static func restoring(_ schema: ClassSchema) -> [SchemaChange] {
        let name = schema.className
        var changes = schema.indexes.keys.sorted().map { SchemaChange.removeIndex(className: name, name: $0) }
        changes += schema.fieldNames.filter { !SystemClasses.isDefault($0, of: name) }
            .map { .removeField(className: name, field: $0) }
        if schema.permissions != nil { changes.append(.setPermissions(className: name, nil)) }
        return changes
    }
}
