package import JSON
import ParseWire

/// Sets and deletes single parameters of the app; those that are not named stay as they are.
///
/// The change is applied to what is stored at that moment, so that of two requests neither undoes the other.
package struct UpdateConfig: Sendable {
    /// The id of the one row of the class.
    package static let rowID = "1"
    /// How often a request is tried that another one overtakes in making or deleting the row.
    private static let attempts = 3

    package let body: JSONObject

    package init(body: JSONObject) {
        self.body = body
    }

    package func run(in context: RequestContext) async throws -> JSONObject {
        try context.requireMaster()
        if context.principal.isReadOnly {
            throw ParseError(
                .operationForbidden,
                "read-only masterKey isn't allowed to update the config."
            )
        }
        let config = try ConfigBody(body, context.app.options.requestKeywordDenylist)
        var attempt = 1
        while true {
            do {
                _ = try await context.commit(try await transaction(config, in: context.app))
                return ["result": true]
            } catch let error as ParseError
                where error.code == .duplicateValue || error.code == .objectNotFound
            {
                guard attempt < Self.attempts, context.jointCommit == nil else { throw error }
                attempt += 1
            }
        }
    }

    private func transaction(_ config: ConfigBody, in app: App) async throws -> Transaction {
        let className = SystemClasses.config
        let isNew = app.storage.schema[className] == nil
        var transaction = Transaction(schemaChanges: isNew ? SchemaChange.making(className) : [])
        let now = app.now
        guard try await ReadConfig.row(in: app) != nil else {
            let row = StoredRow(
                objectID: Self.rowID,
                createdAt: now,
                updatedAt: now,
                fields: try config.initialValues()
            )
            transaction.add(.insert(className: className, row))
            return transaction
        }
        transaction.add(
            .update(
                RowUpdate(
                    className: className,
                    predicate: .id(Self.rowID),
                    changes: config.changes,
                    updatedAt: now
                )
            )
        )
        return transaction
    }
}
