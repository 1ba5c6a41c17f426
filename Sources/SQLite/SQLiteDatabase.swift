import Locking
import Synchronization

/// A database file with one writer that commits in groups, and several readers.
///
/// What ``write(_:)`` has answered is on the disk: the file is in write-ahead-log mode with
/// `synchronous=FULL`, and the cost of that is shared by up to ``SQLiteDatabaseConfiguration/groupLimit``
/// writes. Reads neither wait for writes nor hold them up. Threads start at the first use.
package final class SQLiteDatabase: Sendable {
    private let writer: Writer
    private let readers: Readers
    /// For queries that were too long for the others.
    private let patientReaders: Readers
    private let quickTime: Duration
    private let checkpointer: Checkpointer
    private let finished = Monitor(ClosingState.open)

    private enum ClosingState { case open, closing, closed }

    /// Opens the file, creating it when it is missing, and turns it into write-ahead-log mode.
    ///
    /// - Throws: ``SQLiteError`` when the file cannot be opened, or is not a database, or its file system
    ///   cannot hold a write-ahead log; what ``SQLiteDatabaseConfiguration/onOpen`` threw arrives as one
    ///   unless it is one.
    package init(path: String, configuration: SQLiteDatabaseConfiguration = .init()) throws(SQLiteError) {
        let connection = try Self.openWriter(path, configuration)
        let gate = WriteGate()
        checkpointer = Checkpointer(
            path: path,
            gate: gate,
            pages: configuration.checkpointPages,
            idleTimeout: configuration.idleTimeout
        )
        writer = Writer(
            connection: connection,
            gate: gate,
            checkpointer: checkpointer,
            configuration: configuration
        )
        let open: @Sendable () throws -> SQLiteConnection = { try Self.openReader(path, configuration) }
        readers = Readers(
            writer: writer,
            threads: configuration.readers,
            queueLimit: configuration.readQueueLimit,
            configuration: configuration,
            open: open
        )
        patientReaders = Readers(
            writer: writer,
            threads: configuration.patientReaders,
            queueLimit: configuration.patientQueueLimit,
            configuration: configuration,
            open: open
        )
        quickTime = configuration.quickTime
    }

    deinit {
        // The threads end on their own; the last connection to close empties the log.
        readers.close()
        patientReaders.close()
        writer.close()
        checkpointer.close()
    }

    /// Runs `body` on the writer and returns its result once it is durably committed.
    ///
    /// The body runs in a savepoint of a transaction that it shares with other calls. When it throws, its
    /// own changes are undone and the error is rethrown here. It may run more than once (another call's
    /// failure can undo a shared transaction), so it must have no effect outside of the connection, and
    /// must not begin or end transactions; ``SQLiteConnection/savepoint(_:)`` is fine. Calls run in the
    /// order in which they came.
    ///
    /// - Throws: What `body` throws; ``SQLiteError`` when the commit failed, in which case nothing was
    ///   changed; ``SQLiteError/queueFull``; ``SQLiteError/closed``; `CancellationError` when the task was
    ///   cancelled before the body began.
    package func write<T: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> T
    ) async throws -> T {
        try await Operation.run(body) { writer.append($0) }
    }

    /// Runs `body` on a reader, in a transaction that sees all writes answered before this call.
    ///
    /// The body must not write, nor begin or end transactions.
    ///
    /// - Throws: What `body` throws; ``SQLiteError/queueFull``; ``SQLiteError/closed``;
    ///   `CancellationError` when the task was cancelled before the body began.
    package func read<T: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> T
    ) async throws -> T {
        try await Operation.run(body) { readers.append($0) }
    }

    /// Runs `body` as ``read(_:)`` does, where it may take long, without holding up short reads.
    ///
    /// What is not done within ``SQLiteDatabaseConfiguration/quickTime`` is stopped and begun anew on a thread for
    /// long queries. So the body may run twice, and nothing it did the first time may remain.
    ///
    /// - Throws: As ``read(_:)``, and an error that ``SQLiteError/isInterrupted`` when the time limit has passed.
    package func query<T: Sendable>(
        timeLimit: Duration,
        _ body: @escaping @Sendable (SQLiteConnection) throws -> T
    ) async throws -> T {
        let quickTime = quickTime
        do {
            return try await read { connection in
                try connection.withTimeLimit(min(quickTime, timeLimit)) { try body(connection) }
            }
        } catch let error as SQLiteError where error.isInterrupted && quickTime < timeLimit {
            return try await Operation.run(
                { connection in try connection.withTimeLimit(timeLimit) { try body(connection) } },
                enqueue: { patientReaders.append($0) }
            )
        }
    }

    /// How many transactions have been committed since the database was opened.
    package var commitCount: UInt64 { writer.generation.load(ordering: .acquiring) }

    /// How many writes wait for the next commit.
    package var waitingWrites: Int { writer.waitingCount }

    /// How many reads wait for a reader.
    package var waitingReads: Int { readers.waitingCount + patientReaders.waitingCount }

    /// Finishes what is queued, empties the write-ahead log and closes the file.
    ///
    /// Later calls of ``write(_:)`` and ``read(_:)`` throw ``SQLiteError/closed``; closing again waits for
    /// the first closing.
    package func close() async {
        await withCheckedContinuation { continuation in
            let started = startThread { [self] in
                closeAndWait()
                continuation.resume()
            }
            if !started {
                // Blocking the caller is better than leaving the database open.
                closeAndWait()
                continuation.resume()
            }
        }
    }

    /// As ``close()``, but blocks the calling thread, which must not be one of the database's own.
    package func closeAndWait() {
        let isFirst = finished.withLock { state in
            guard case .open = state else { return false }
            state = .closing
            return true
        }
        guard isFirst else {
            finished.wait { state -> Void? in if case .closed = state { .some(()) } else { nil } }
            return
        }
        readers.close()
        patientReaders.close()
        writer.close()
        readers.waitUntilFinished()
        patientReaders.waitUntilFinished()
        writer.waitUntilFinished()
        checkpointer.close()
        checkpointer.waitUntilFinished()
        writer.finish()
        finished.withLock { $0 = .closed }
        finished.wakeAll()
    }
}

// MARK: Opening

extension SQLiteDatabase {
    private static func openWriter(
        _ path: String,
        _ configuration: SQLiteDatabaseConfiguration
    ) throws(SQLiteError) -> sending SQLiteConnection {
        let connection = try SQLiteConnection(
            path: path,
            mode: .readWriteCreate,
            busyTimeout: configuration.busyTimeout,
            statementLimit: configuration.statementLimit
        )
        do {
            let mode = try connection.first("PRAGMA journal_mode = WAL") { $0.text(0) ?? "" }
            guard mode == "wal" else {
                throw SQLiteError.misuse("write-ahead-log mode is not possible here", statement: nil)
            }
            // When the log starts again, what it had grown beyond this is given back to the disk.
            let logBytes = max(1, configuration.checkpointPages) * 2 * 4096
            try connection.execute("PRAGMA journal_size_limit = \(logBytes)")
            try setUp(connection, configuration)
        } catch {
            throw SQLiteError(wrapping: error)
        }
        return connection
    }

    private static func openReader(
        _ path: String,
        _ configuration: SQLiteDatabaseConfiguration
    ) throws -> SQLiteConnection {
        let connection = try SQLiteConnection(
            path: path,
            // Not read-only: a reader may have to recover the log's index.
            mode: .readWrite,
            busyTimeout: configuration.busyTimeout,
            statementLimit: configuration.statementLimit
        )
        try setUp(connection, configuration)
        try connection.execute("PRAGMA query_only = ON")
        return connection
    }

    private static func setUp(
        _ connection: SQLiteConnection,
        _ configuration: SQLiteDatabaseConfiguration
    ) throws {
        try connection.execute(
            """
            PRAGMA synchronous = FULL;
            PRAGMA wal_autocheckpoint = 0;
            PRAGMA cache_size = -\(max(64, configuration.cacheKiB));
            PRAGMA mmap_size = \(max(0, configuration.mmapBytes));
            """
        )
        try configuration.onOpen?(connection)
    }
}

extension SQLiteError {
    /// The error itself, or one that stands for an error of another type.
    fileprivate init(wrapping error: any Error) {
        self = error as? SQLiteError ?? SQLiteError(code: 1, message: "\(error)")
    }
}
