import Synchronization

/// The threads that read from a database, each with its own connection.
final class Readers: Sendable {
    private let queue: WorkQueue
    private let writer: Writer
    private let open: @Sendable () throws -> SQLiteConnection

    /// How many reads share a transaction at most, so that a long queue does not hold the log back.
    private static let transactionLimit = 64

    init(
        writer: Writer,
        threads: Int,
        queueLimit: Int,
        configuration: SQLiteDatabaseConfiguration,
        open: @escaping @Sendable () throws -> SQLiteConnection
    ) {
        self.writer = writer
        self.open = open
        queue = WorkQueue(
            limit: queueLimit,
            threadLimit: max(1, threads),
            idleTimeout: configuration.idleTimeout
        )
    }

    func append(_ operation: PendingOperation) {
        queue.append(operation) { [self] in serve() }
    }

    var waitingCount: Int { queue.waitingCount }

    func close() { queue.close() }

    func waitUntilFinished() { queue.waitUntilFinished() }

    private func serve() {
        var connection: SQLiteConnection?
        while let first = queue.take(upTo: 1)?.first {
            do {
                let current = try connection ?? open()
                connection = current
                serve(first, on: current)
            } catch {
                first.fail(error)
            }
        }
    }

    /// Reads until the queue is empty, in as few transactions as freshness allows.
    ///
    /// One operation is taken at a time, so that a slow one holds back none behind it while another
    /// thread is free. Each sees all commits acknowledged before it was queued: the transaction is
    /// renewed when something has been committed since it began.
    private func serve(_ first: PendingOperation, on connection: SQLiteConnection) {
        var next: PendingOperation? = first
        while let begun = next {
            let generation = writer.generation.load(ordering: .acquiring)
            do {
                try connection.run("BEGIN")
            } catch {
                begun.fail(error)
                return
            }
            var count = 0
            repeat {
                guard let operation = next else { break }
                if operation.isCancelled {
                    operation.fail(CancellationError())
                } else {
                    _ = operation.perform(connection)
                    operation.deliver()
                }
                count += 1
                next = queue.takeWithoutWaiting()
            } while count < Self.transactionLimit && connection.isInTransaction
                && writer.generation.load(ordering: .acquiring) == generation
            // Nothing was written: both ways of ending are the same, and this one cannot be refused.
            connection.rollBack()
        }
    }
}
