import ParseWire

/// Removes sessions that ended a while ago.
package struct SweepSessions: Sendable {
    /// A session that has run out still answers `GET /sessions/me` for so many seconds.
    package static let graceSeconds: Double = 86_400
    private static let batch = 500

    package init() {}

    /// - Returns: How many rows are gone.
    @discardableResult
    package func run(in app: App) async throws -> Int {
        var total = 0
        while !Task.isCancelled {
            let deadline = app.now.adding(seconds: -Self.graceSeconds)
            var transaction = Transaction()
            transaction.add(
                .delete(
                    RowDeletion(
                        className: SystemClasses.session,
                        predicate: .compare("expiresAt", .less, .date(deadline)),
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
