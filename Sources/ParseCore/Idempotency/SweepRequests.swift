import ParseWire

/// Removes the ids of requests whose time is over.
package struct SweepRequests: Sendable {
    private static let batch = 500

    package init() {}

    /// - Returns: How many are gone.
    @discardableResult
    package func run(in app: App) async throws -> Int {
        let className = SystemClasses.idempotency
        guard app.storage.schema[className] != nil else { return 0 }
        var total = 0
        while !Task.isCancelled {
            var transaction = Transaction()
            transaction.add(
                .delete(
                    RowDeletion(
                        className: className,
                        predicate: .compare("expire", .lessOrEqual, .date(app.now)),
                        mustMatch: false,
                        limit: Self.batch
                    )
                )
            )
            let removed = try await app.commit(transaction).counts.first ?? 0
            total += removed
            if removed < Self.batch { break }
        }
        return total
    }
}
