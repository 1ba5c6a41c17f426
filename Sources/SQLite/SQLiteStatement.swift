import CSQLite

/// A prepared statement of one connection.
package final class SQLiteStatement {
    package let sql: String
    // SAFETY: owned by this object, finalised in `deinit` only. `sqlite3_close_v2` keeps the connection
    // alive for as long as statements of it exist.
    let handle: OpaquePointer
    /// Where functions of the connection leave what they threw.
    private let failure: FunctionFailure
    /// Someone is between binding and resetting, so the cache must not hand the statement out again.
    var isInUse = false

    init(handle: OpaquePointer, sql: String, failure: FunctionFailure) {
        self.handle = handle
        self.sql = sql
        self.failure = failure
    }

    deinit { sqlite3_finalize(handle) }

    /// Whether the statement leaves the database as it is.
    package var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

    /// Sets all parameters, in order.
    ///
    /// - Throws: ``SQLiteError`` when their number is wrong or a value is too long for SQLite.
    package func bind(_ parameters: [SQLiteValue]) throws(SQLiteError) {
        let expected = Int(sqlite3_bind_parameter_count(handle))
        guard parameters.count == expected else {
            throw .misuse("\(parameters.count) parameters for \(expected) placeholders", statement: sql)
        }
        var position: Int32 = 1
        for parameter in parameters {
            let code = bind(parameter, at: position)
            guard code == SQLITE_OK else { throw error(code) }
            position += 1
        }
    }

    /// Moves to the next row and tells whether there is one.
    package func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw error(code)
        }
    }

    /// Lends the current row.
    package func withRow<T>(_ body: (borrowing SQLiteRow) throws -> T) rethrows -> T {
        let row = SQLiteRow(handle: handle)
        return try body(row)
    }

    /// Ends the run, so that it holds no lock and no values any more.
    package func reset() {
        // The code repeats the error of the last step, which has been thrown already.
        _ = sqlite3_reset(handle)
        _ = sqlite3_clear_bindings(handle)
    }

    private func error(_ code: Int32) -> SQLiteError {
        var error = SQLiteError(code: code, connection: sqlite3_db_handle(handle), statement: sql)
        error.cause = failure.take()
        return error
    }

    private func bind(_ value: SQLiteValue, at position: Int32) -> Int32 {
        switch value {
        case .null:
            return sqlite3_bind_null(handle, position)
        case .integer(let number):
            return sqlite3_bind_int64(handle, position, number)
        case .real(let number):
            return sqlite3_bind_double(handle, position, number)
        case .text(var text):
            return text.withUTF8 { bytes in
                guard let start = bytes.baseAddress else {
                    // A null pointer would bind NULL.
                    return sqlite3_bind_text(handle, position, "", 0, transient)
                }
                return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                    sqlite3_bind_text64(
                        handle,
                        position,
                        $0,
                        sqlite3_uint64(bytes.count),
                        transient,
                        UInt8(SQLITE_UTF8)
                    )
                }
            }
        case .blob(let bytes):
            guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(handle, position, 0) }
            return bytes.withUnsafeBytes {
                sqlite3_bind_blob64(handle, position, $0.baseAddress, sqlite3_uint64($0.count), transient)
            }
        case .object(let object):
            // SAFETY: SQLite releases it when the parameter is set anew, also when binding fails.
            return sqlite3_bind_pointer(
                handle,
                position,
                Unmanaged.passRetained(object).toOpaque(),
                SQLiteObject.tag
            ) { pointer in
                if let pointer { Unmanaged<SQLiteObject>.fromOpaque(pointer).release() }
            }
        }
    }
}

/// Tells SQLite to copy the bytes before the bind call returns (`SQLITE_TRANSIENT`, a macro Swift cannot see).
// SAFETY: the documented value -1, which SQLite never calls.
var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
