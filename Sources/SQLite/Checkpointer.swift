/// Copies the write-ahead log into the main file, on a thread and connection of its own.
final class Checkpointer: Sendable {
    private let path: String
    private let gate: WriteGate
    private let pages: Int
    private let queue: WorkQueue

    init(path: String, gate: WriteGate, pages: Int, idleTimeout: Duration) {
        self.path = path
        self.gate = gate
        self.pages = pages
        // One waits while one runs: more would find nothing to do.
        queue = WorkQueue(limit: 1, threadLimit: 1, idleTimeout: idleTimeout)
    }

    /// Asks for a checkpoint and returns at once.
    func request() {
        queue.append(CheckpointRequest()) { [self] in serve() }
    }

    func close() { queue.close() }

    func waitUntilFinished() { queue.waitUntilFinished() }

    private func serve() {
        // Short: a pause of the writer must not wait long for a reader. The next request tries again.
        let busyTimeout = Duration.milliseconds(200)
        var connection: SQLiteConnection?
        while queue.take(upTo: 1) != nil {
            do {
                if connection == nil {
                    connection = try SQLiteConnection(path: path, mode: .readWrite, busyTimeout: busyTimeout)
                    try connection?.execute("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0")
                }
                if let connection { try checkpoint(connection) }
            } catch {
                // Nothing is lost: the log keeps the pages, and the request after the next
                // `checkpointPages` pages tries again. A damaged disk shows itself in the writer's commits.
                connection = nil
            }
        }
    }

    private func checkpoint(_ connection: SQLiteConnection) throws(SQLiteError) {
        var state = try connection.checkpoint(.passive)
        guard state.logPages >= 2 * pages else { return }
        // Under steady writes a passive checkpoint never reaches the end, so the log would grow for ever.
        // Catch up with what was written meanwhile, then stop the writer for the short rest.
        state = try connection.checkpoint(.passive)
        // Less than everything means that a long read needs old pages: then waiting is in vain.
        guard state.copiedPages == state.logPages else { return }
        _ = try? gate.whilePaused { Result { try connection.checkpoint(.restart) } }.get()
    }
}

/// A request for a checkpoint; nobody waits for it.
// SAFETY: it has no state of its own.
private final class CheckpointRequest: PendingOperation, @unchecked Sendable {
    override func fail(_ error: any Error) {}
}
