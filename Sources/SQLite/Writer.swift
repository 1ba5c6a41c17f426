import Synchronization

/// The one thread that writes to a database, many operations to a commit.
// SAFETY: `connection`, `hooks` and `requestedAt` are touched by the queue's only thread, and by `finish`
// after that thread has ended; the queue's lock orders the two.
final class Writer: @unchecked Sendable {
    private let connection: SQLiteConnection
    private let hooks: CommitHooks
    private let queue: WorkQueue
    private let gate: WriteGate
    private let checkpointer: Checkpointer
    private let groupLimit: Int
    private let checkpointPages: Int
    /// The log's length at the last request for a checkpoint.
    private var requestedAt = 0
    /// Counts commits; readers begin a new transaction when it has moved.
    let generation = Atomic<UInt64>(0)

    init(
        connection: sending SQLiteConnection,
        gate: WriteGate,
        checkpointer: Checkpointer,
        configuration: SQLiteDatabaseConfiguration
    ) {
        self.connection = connection
        self.gate = gate
        self.checkpointer = checkpointer
        groupLimit = max(1, configuration.groupLimit)
        checkpointPages = configuration.checkpointPages
        hooks = CommitHooks()
        queue = WorkQueue(
            limit: configuration.writeQueueLimit,
            threadLimit: 1,
            idleTimeout: configuration.idleTimeout
        )
        connection.install(hooks)
    }

    func append(_ operation: PendingOperation) {
        queue.append(operation) { [self] in serve() }
    }

    var waitingCount: Int { queue.waitingCount }

    func close() { queue.close() }

    func waitUntilFinished() { queue.waitUntilFinished() }

    /// Empties the log and closes the file; only after ``waitUntilFinished()``.
    func finish() {
        // Failing leaves the log for the next opening, which reads it.
        _ = try? connection.checkpoint(.truncate)
        connection.close()
    }

    private func serve() {
        while let group = queue.take(upTo: groupLimit) { commit(group) }
        connection.releaseMemory()
    }

    /// Runs the operations in one transaction, or in one each when one of them ends it.
    private func commit(_ group: [PendingOperation]) {
        gate.enter()
        let rest = commitTogether(group)
        for operation in rest { _ = commitTogether([operation]) }
        gate.leave()
        requestCheckpointIfNeeded()
    }

    /// Answers the operations that were undone through the fault of another and must run again.
    private func commitTogether(_ group: [PendingOperation]) -> [PendingOperation] {
        do {
            try connection.run("BEGIN IMMEDIATE")
        } catch {
            for operation in group { operation.fail(error) }
            return []
        }
        hooks.commitIsAllowed = false
        defer { hooks.commitIsAllowed = true }
        var done: [PendingOperation] = []
        for (index, operation) in group.enumerated() {
            guard !operation.isCancelled else {
                operation.fail(CancellationError())
                continue
            }
            if let fault = perform(operation) {
                connection.rollBack()
                operation.fail(fault)
                return done + group[(index + 1)...]
            }
            done.append(operation)
        }
        hooks.commitIsAllowed = true
        do {
            try connection.run("COMMIT")
        } catch {
            connection.rollBack()
            // A deferred foreign key of one of them: alone, only that one will fail.
            if error.isConstraintViolation, done.count > 1 { return done }
            for operation in done { operation.fail(error) }
            return []
        }
        generation.add(1, ordering: .releasing)
        for operation in done { operation.deliver() }
        return []
    }

    /// Runs one operation in its savepoint; answers an error when the transaction cannot go on.
    private func perform(_ operation: PendingOperation) -> (any Error)? {
        do throws(SQLiteError) {
            try connection.run("SAVEPOINT operation")
        } catch {
            return error
        }
        let failure = operation.perform(connection)
        do throws(SQLiteError) {
            if failure != nil { try connection.run("ROLLBACK TO operation") }
            try connection.run("RELEASE operation")
            return nil
        } catch {
            // SQLite rolled everything back because of the failure, or the body ended the transaction.
            return failure ?? error
        }
    }

    private func requestCheckpointIfNeeded() {
        // The log started again from its beginning.
        if hooks.logPages < requestedAt { requestedAt = 0 }
        guard hooks.logPages - requestedAt >= checkpointPages else { return }
        requestedAt = hooks.logPages
        checkpointer.request()
    }
}
