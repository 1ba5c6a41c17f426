import CSQLite

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An error of SQLite or of the machinery around it.
package struct SQLiteError: Error, Sendable, Hashable {
    /// SQLite's extended result code, or one of the negative codes below.
    package let code: Int32
    /// SQLite's words, which may hold names of tables and columns: for the log, not for a client.
    package let message: String
    /// The SQL text, which holds placeholders instead of values.
    package let statement: String?
    /// The `errno` behind an I/O error, else 0.
    package let systemErrorNumber: Int32
    /// What a function that the statement called threw; does not count for equality.
    package var cause: (any Error)?

    package init(code: Int32, message: String, statement: String? = nil, systemErrorNumber: Int32 = 0) {
        self.code = code
        self.message = message
        self.statement = statement
        self.systemErrorNumber = systemErrorNumber
    }

    /// The database was closed, or is closing, when the call came.
    package static let closed = SQLiteError(code: -1, message: "the database is closed")
    /// The queue held as many operations as it may; nothing was done.
    package static let queueFull = SQLiteError(code: -2, message: "too many operations are waiting")
    /// The operating system refused to start a thread; nothing was done.
    static let noThread = SQLiteError(code: -3, message: "a thread could not be started")

    /// The error of the last call on a connection.
    init(code: Int32, connection: OpaquePointer?, statement: String?) {
        var message = String(cString: sqlite3_errstr(code))
        var systemErrorNumber: Int32 = 0
        if let connection {
            if let text = sqlite3_errmsg(connection) { message = String(cString: text) }
            let primary = code & 0xff
            if primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL {
                systemErrorNumber = sqlite3_system_errno(connection)
            }
        }
        self.init(code: code, message: message, statement: statement, systemErrorNumber: systemErrorNumber)
    }

    /// A wrong call that SQLite would not have noticed.
    static func misuse(_ message: String, statement: String?) -> SQLiteError {
        SQLiteError(code: SQLITE_MISUSE, message: message, statement: statement)
    }
}

extension SQLiteError {
    package static func == (left: SQLiteError, right: SQLiteError) -> Bool {
        left.code == right.code && left.message == right.message && left.statement == right.statement
            && left.systemErrorNumber == right.systemErrorNumber
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
    }
}

extension SQLiteError {
    private var primaryCode: Int32 { code < 0 ? code : code & 0xff }

    /// Another connection held a lock for longer than the busy timeout.
    package var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }

    /// There was no room left: on the disk, in the quota, or under `max_page_count`.
    package var isFull: Bool {
        primaryCode == SQLITE_FULL
            || primaryCode == SQLITE_IOERR && (systemErrorNumber == ENOSPC || systemErrorNumber == EDQUOT)
    }

    /// The file, its folder or the connection may not be written to.
    package var isReadOnly: Bool { primaryCode == SQLITE_READONLY }

    /// The file is damaged.
    package var isCorrupt: Bool { primaryCode == SQLITE_CORRUPT }

    /// The file is something else than an SQLite database.
    package var isNotADatabase: Bool { primaryCode == SQLITE_NOTADB }

    /// The statement was stopped by ``SQLiteConnection/interrupt()`` or its time limit.
    package var isInterrupted: Bool { primaryCode == SQLITE_INTERRUPT }

    /// A constraint of the schema refused the change.
    package var isConstraintViolation: Bool { primaryCode == SQLITE_CONSTRAINT }

    /// A row with the same key was there already.
    package var isUniqueViolation: Bool {
        // SQLITE_CONSTRAINT_UNIQUE, _PRIMARYKEY and _ROWID.
        [8, 6, 10].contains { code == SQLITE_CONSTRAINT | ($0 << 8) }
    }

    /// The columns of the violated unique constraint, without their table; empty when an index on
    /// expressions was violated (see ``uniqueIndex``) or the error is another one.
    package var uniqueColumns: [String] {
        guard let detail = uniqueDetail, uniqueIndex == nil else { return [] }
        var columns: [String] = []
        // Split at ", " by hand: the standard library has no search for a text in a text.
        for part in detail.split(separator: ",") {
            let column = part.drop { $0 == " " }
            let name = column.firstIndex(of: ".").map { column[column.index(after: $0)...] } ?? column
            columns.append(String(name))
        }
        return columns
    }

    /// The table of the violated unique constraint; `nil` when ``uniqueColumns`` is empty.
    package var uniqueTable: String? {
        guard let detail = uniqueDetail, uniqueIndex == nil else { return nil }
        return detail.firstIndex(of: ".").map { String(detail[..<$0]) }
    }

    /// Whether the statement was wrong: it names a table or column that is not there (any more), for example.
    package var isWrongStatement: Bool { code == SQLITE_ERROR && cause == nil }

    /// Whether tables changed so often that SQLite gave up compiling the statement anew; it may be tried again.
    package var isOvertaken: Bool { code & 0xFF == SQLITE_SCHEMA }

    /// The name of the violated unique index when it is one on expressions, which SQLite names instead
    /// of columns.
    package var uniqueIndex: String? {
        guard let detail = uniqueDetail, detail.hasPrefix("index '"), detail.hasSuffix("'") else {
            return nil
        }
        return String(detail.dropFirst(7).dropLast())
    }

    private var uniqueDetail: Substring? {
        let prefix = "UNIQUE constraint failed: "
        guard isUniqueViolation, message.hasPrefix(prefix) else { return nil }
        return message.dropFirst(prefix.count)
    }
}

extension SQLiteError: CustomStringConvertible {
    /// The code, its general meaning and the SQL text; neither values nor SQLite's detailed words.
    package var description: String {
        let meaning = code < 0 ? message : String(cString: sqlite3_errstr(code))
        var text = "SQLite error \(code): \(meaning)"
        if systemErrorNumber != 0 { text += " (errno \(systemErrorNumber))" }
        if let statement { text += " in: \(statement.prefix(500))" }
        return text
    }
}
