import Locking

/// How far a transaction is kept from the effects of others.
package enum PostgresIsolation: String, Sendable {
    /// Each statement sees what was committed before it began.
    case readCommitted = "BEGIN"
    /// All statements see what was committed before the first began.
    case repeatableRead = "BEGIN ISOLATION LEVEL REPEATABLE READ"
    /// As if transactions ran one after another.
    case serializable = "BEGIN ISOLATION LEVEL SERIALIZABLE"
}

/// A transaction under way, for use within the body of ``PostgresPool/transaction(_:_:)``, one call at a time.
package final class PostgresTransaction: Sendable {
    private enum Phase { case notBegun, begun, finished }

    private let connection: PostgresConnection
    private let isolation: PostgresIsolation
    private let phase = Locked(Phase.notBegun)

    init(_ connection: PostgresConnection, _ isolation: PostgresIsolation) {
        self.connection = connection
        self.isolation = isolation
    }

    /// Runs statements in one round trip, which also begins the transaction when they are the first.
    ///
    /// After an error nothing more can be done in the transaction.
    ///
    /// - Throws: ``PostgresError``.
    package func run(_ statements: [PostgresStatement]) async throws(PostgresError) -> [PostgresResult] {
        let opening = try advance(to: .begun)
        let results = try await connection.run(opening + statements, effect: .continues)
        return Array(results.dropFirst(opening.count))
    }

    /// Runs one statement.
    ///
    /// - Throws: ``PostgresError``.
    package func query(
        _ sql: String,
        _ parameters: [PostgresValue] = []
    ) async throws(PostgresError) -> PostgresResult {
        try await run([PostgresStatement(sql, parameters)])[0]
    }

    /// Runs statements and commits, in one round trip; nothing can follow in the transaction.
    ///
    /// - Throws: ``PostgresError``, in which case nothing was committed, or perhaps all was:
    ///   ``PostgresError/Kind/unknownOutcome``.
    @discardableResult
    package func finish(_ statements: [PostgresStatement]) async throws(PostgresError) -> [PostgresResult] {
        let opening = try advance(to: .finished)
        let all = opening + statements + [PostgresStatement("COMMIT")]
        let results = try await connection.run(all, effect: .commits)
        // What PostgreSQL answers to the commit of a transaction in which something had failed.
        if results[results.count - 1].commandTag == "ROLLBACK" {
            throw PostgresError(.server, "the transaction had failed before", sqlState: "25P02")
        }
        return Array(results.dropFirst(opening.count).dropLast())
    }

    /// Commits, unless that was done or there is nothing to commit.
    func commit() async throws(PostgresError) {
        guard phase.withLock({ $0 == .begun }) else { return }
        try await finish([])
    }

    private func advance(to next: Phase) throws(PostgresError) -> [PostgresStatement] {
        let current = phase.withLock { phase in
            defer { phase = next }
            return phase
        }
        switch current {
        case .notBegun: return [PostgresStatement(isolation.rawValue)]
        case .begun: return []
        case .finished:
            phase.withLock { $0 = .finished }
            throw PostgresError(.misuse, "the transaction has been committed")
        }
    }
}
