import CSQLite
import CSQLiteShims

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One connection to a database file, for one thread at a time.
///
/// Every connection enforces foreign keys, distrusts functions named by the schema, checks the cells of
/// pages it reads, refuses statements that could damage the file, and never takes a double-quoted name for
/// a string.
package final class SQLiteConnection {
    /// What a connection may do with its file.
    package enum Mode: Sendable, Hashable {
        /// Read and write; create the file, readable by its owner only, when it is missing.
        case readWriteCreate
        case readWrite
        case readOnly
    }

    // SAFETY: owned by this object; nil once closed.
    private(set) var handle: OpaquePointer?
    private var cache: StatementCache
    let failure = FunctionFailure()

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - path: A path in the file system (never a URI), or `:memory:`.
    ///   - mode: What the connection may do.
    ///   - busyTimeout: How long a statement waits for another connection's lock.
    ///   - statementLimit: How many prepared statements are kept for reuse.
    /// - Throws: ``SQLiteError``, also when the file is not a database.
    package init(
        path: String,
        mode: Mode,
        busyTimeout: Duration = .seconds(5),
        statementLimit: Int = 128
    ) throws(SQLiteError) {
        cache = StatementCache(limit: statementLimit)
        guard !path.utf8.contains(0) else { throw .misuse("a path must not contain NUL", statement: nil) }
        _ = Self.processSetup
        if mode == .readWriteCreate, path != ":memory:", !path.isEmpty { Self.createPrivateFile(path) }
        // Debian's SQLite takes names that begin with "file:" for URIs, whatever the flags say.
        let name = path.hasPrefix("file:") ? "./" + path : path
        let access =
            switch mode {
            case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .readWrite: SQLITE_OPEN_READWRITE
            case .readOnly: SQLITE_OPEN_READONLY
            }
        let code = sqlite3_open_v2(name, &handle, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK else {
            let error = SQLiteError(code: code, connection: handle, statement: nil)
            close()
            throw error
        }
        sqlite3_busy_timeout(handle, busyTimeout.clampedMilliseconds)
        for (option, value) in [
            (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_DQS_DML, 0), (SQLITE_DBCONFIG_DQS_DDL, 0),
            (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_ENABLE_FKEY, 1),
            (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
        ] as [(Int32, Int32)] {
            csqlite_db_config_bool(handle, option, value)
        }
        // The file itself is first read here.
        do throws(SQLiteError) {
            try execute("PRAGMA cell_size_check = ON; SELECT 1 FROM sqlite_schema LIMIT 1")
        } catch {
            close()
            throw error
        }
    }

    deinit { close() }

    /// Closes the connection, rolling an open transaction back; later calls throw.
    package func close() {
        cache.removeAll()
        // v2 waits for statements that someone still holds.
        sqlite3_close_v2(handle)
        handle = nil
    }

    // MARK: Statements

    /// Runs one or several statements and ignores the rows they give.
    package func execute(_ sql: String) throws(SQLiteError) {
        let handle = try openHandle(sql)
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code: code, connection: handle, statement: sql) }
    }

    /// Runs one statement to its end.
    ///
    /// - Returns: How many rows it inserted, updated or deleted, without those of triggers.
    @discardableResult
    package func run(_ sql: String, _ parameters: [SQLiteValue] = []) throws(SQLiteError) -> Int {
        let statement = try prepare(sql)
        let before = sqlite3_total_changes64(handle)
        statement.isInUse = true
        defer { finish(statement) }
        try statement.bind(parameters)
        while try statement.step() {}
        // A statement that changes nothing leaves sqlite3_changes64 at the count of an earlier one.
        return sqlite3_total_changes64(handle) == before ? 0 : Int(sqlite3_changes64(handle))
    }

    /// Runs one statement and gives what `row` makes of each row.
    ///
    /// - Throws: ``SQLiteError``, or what `row` throws.
    package func query<T>(
        _ sql: String,
        _ parameters: [SQLiteValue] = [],
        _ row: (borrowing SQLiteRow) throws -> T
    ) throws -> [T] {
        var result: [T] = []
        try forEach(sql, parameters) {
            result.append(try row($0))
            return true
        }
        return result
    }

    /// Runs one statement up to its first row; `nil` when there is none.
    package func first<T>(
        _ sql: String,
        _ parameters: [SQLiteValue] = [],
        _ row: (borrowing SQLiteRow) throws -> T
    ) throws -> T? {
        var result: T?
        try forEach(sql, parameters) {
            result = try row($0)
            return false
        }
        return result
    }

    /// Runs one statement and hands each row to `body`, until there is none or `body` answers `false`.
    package func forEach(
        _ sql: String,
        _ parameters: [SQLiteValue] = [],
        _ body: (borrowing SQLiteRow) throws -> Bool
    ) throws {
        let statement = try prepare(sql)
        statement.isInUse = true
        defer { finish(statement) }
        try statement.bind(parameters)
        while try statement.step(), try statement.withRow(body) {}
    }

    /// A prepared statement for one SQL statement, from the cache when it is there and free.
    ///
    /// Whoever steps it also resets it; two callers must not bind the same text at the same time.
    package func prepare(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
        let handle = try openHandle(nil)
        let cached = cache.statement(for: sql)
        if let cached, !cached.isInUse, sqlite3_stmt_busy(cached.handle) == 0 { return cached }
        let statement = try prepare(sql, handle, persistent: cached == nil)
        if cached == nil { cache.insert(statement) }
        return statement
    }

    /// How many prepared statements the cache holds.
    var cachedStatementCount: Int { cache.count }

    // MARK: State

    package var lastInsertRowID: Int64 { handle.map { sqlite3_last_insert_rowid($0) } ?? 0 }

    package var isInTransaction: Bool { handle.map { sqlite3_get_autocommit($0) == 0 } ?? false }

    /// Makes the statement that runs, if there is one, end with an interrupted error; for any thread.
    package func interrupt() {
        _ = handle.map { sqlite3_interrupt($0) }
    }

    /// Gives the memory of cached pages back.
    package func releaseMemory() {
        _ = handle.map { sqlite3_db_release_memory($0) }
    }

    private func finish(_ statement: SQLiteStatement) {
        statement.reset()
        statement.isInUse = false
    }

    private func openHandle(_ sql: String?) throws(SQLiteError) -> OpaquePointer {
        guard let handle else { throw .closed }
        // SQLite would silently run what stands before a NUL.
        if let sql, sql.utf8.contains(0) { throw .misuse("SQL must not contain NUL", statement: nil) }
        return handle
    }

    private func prepare(
        _ sql: String,
        _ handle: OpaquePointer,
        persistent: Bool
    ) throws(SQLiteError) -> SQLiteStatement {
        guard !sql.utf8.contains(0) else { throw .misuse("SQL must not contain NUL", statement: nil) }
        var statement: OpaquePointer?
        let flags = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let (code, rest) = sql.withCString { start in
            var tail: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v3(handle, start, -1, flags, &statement, &tail)
            return (code, tail.map { String(cString: $0) } ?? "")
        }
        guard code == SQLITE_OK else { throw SQLiteError(code: code, connection: handle, statement: sql) }
        guard let statement else { throw .misuse("there is no statement in the text", statement: sql) }
        let result = SQLiteStatement(handle: statement, sql: sql, failure: failure)
        guard rest.utf8.allSatisfy({ [0x20, 0x09, 0x0a, 0x0d, 0x3b].contains($0) }) else {
            throw .misuse("only one statement is allowed here", statement: sql)
        }
        return result
    }

    // MARK: Opening

    /// Done once in a process, before the first connection.
    private static let processSetup: Void = {
        // Another user of SQLite in the process may have been faster; then the statistics stay on.
        _ = csqlite_disable_memory_statistics()
    }()

    /// Creates the file so that only its owner can read it; SQLite gives its companions the same rights.
    private static func createPrivateFile(_ path: String) {
        // Exclusive: closing a file that SQLite has open elsewhere in this process would drop its locks.
        // Any failure is left for SQLite to report.
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 { _ = Self.closeDescriptor(descriptor) }
    }

    private static let closeDescriptor: @Sendable (Int32) -> Int32 = {
        #if canImport(Glibc)
            Glibc.close($0)
        #else
            Darwin.close($0)
        #endif
    }
}

extension Duration {
    /// Whole milliseconds between 0 and the largest `Int32`.
    fileprivate var clampedMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        let limit = Int64(Int32.max)
        let milliseconds = min(max(seconds, 0), limit / 1000 - 1) * 1000 + attoseconds / 1_000_000_000_000_000
        return Int32(min(max(milliseconds, 0), limit))
    }
}
