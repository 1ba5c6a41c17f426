package import JSON
import ParseWire

/// Deletes all objects of a class and keeps the class; one that is not there is no error.
package struct PurgeClass: Sendable {
    package let className: String
    /// How many users are deleted in one transaction.
    private static let batch = 500

    package init(className: String) {
        self.className = className
    }

    package func run(in context: RequestContext) async throws -> JSONObject {
        try context.requireMaster()
        try context.refuseReadOnlySchema("purge a")
        guard context.app.storage.schema[className] != nil else { return [:] }
        do {
            if className == SystemClasses.user {
                try await purgeUsers(in: context)
            } else {
                try await purgeRows(in: context)
            }
        } catch let error as ParseError where error.code == .invalidClassName {
            // Dropped in the meantime.
        }
        return [:]
    }

    private func purgeRows(in context: RequestContext) async throws {
        var transaction = Transaction()
        transaction.add(
            .delete(RowDeletion(className: className, predicate: .everything, mustMatch: false))
        )
        switch className {
        case SystemClasses.session: transaction.notify(.everything)
        case SystemClasses.role: transaction.notify(.roles)
        default: break
        }
        _ = try await context.commit(transaction)
    }

    /// With each user go its sessions and its accounts at providers, as when it is deleted by itself.
    private func purgeUsers(in context: RequestContext) async throws {
        guard context.jointCommit == nil else {
            throw ParseError(
                .commandUnavailable,
                "Users cannot be purged in a batch that is one transaction."
            )
        }
        let app = context.app
        let query = RowQuery(
            className: className,
            predicate: .everything,
            limit: Self.batch,
            fields: ["objectId"]
        )
        while true {
            try Task.checkCancellation()
            let users = try await app.reading { () throws(StorageError) in try await app.storage.find(query) }
            guard !users.isEmpty else { return }
            let ids = users.map(\.objectID)
            var transaction = Transaction()
            transaction.add(
                .delete(
                    RowDeletion(
                        className: className,
                        predicate: .among("objectId", ids.map(FieldValue.string)),
                        mustMatch: false
                    )
                )
            )
            for id in ids {
                transaction.add(.endSessions(of: id))
                transaction.add(.unlink(userID: id, providers: nil))
            }
            transaction.notify(.everything)
            _ = try await context.commit(transaction)
        }
    }
}
