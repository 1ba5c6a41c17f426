import CSQLite

/// The current row of a running statement; valid only inside the closure it is handed to.
///
/// Columns count from 0. An index out of range is our own mistake and stops the process. Reading converts
/// as SQLite does: the integer of a text column is the number it starts with.
package struct SQLiteRow: ~Copyable {
    // SAFETY: the statement outlives the row: rows cannot be copied and are only lent to closures that
    // return before the statement moves on.
    private let handle: OpaquePointer
    package let columnCount: Int

    init(handle: OpaquePointer) {
        self.handle = handle
        columnCount = Int(sqlite3_data_count(handle))
    }

    package func value(_ index: Int) -> SQLiteValue {
        switch sqlite3_column_type(handle, checked(index)) {
        case SQLITE_INTEGER: .integer(int64(index))
        case SQLITE_FLOAT: .real(double(index))
        case SQLITE_TEXT: .text(text(index) ?? "")
        case SQLITE_BLOB: .blob(blob(index) ?? [])
        default: .null
        }
    }

    package func isNull(_ index: Int) -> Bool {
        sqlite3_column_type(handle, checked(index)) == SQLITE_NULL
    }

    /// The integer; 0 for NULL.
    package func int64(_ index: Int) -> Int64 {
        sqlite3_column_int64(handle, checked(index))
    }

    /// The number; 0 for NULL.
    package func double(_ index: Int) -> Double {
        sqlite3_column_double(handle, checked(index))
    }

    /// The text with any NUL it contains; `nil` for NULL.
    ///
    /// Bytes that are not UTF-8 become U+FFFD.
    package func text(_ index: Int) -> String? {
        withText(index) { String(decoding: $0, as: UTF8.self) }
    }

    package func blob(_ index: Int) -> [UInt8]? {
        withBlob(index) { [UInt8]($0) }
    }

    /// Lends the text's UTF-8 bytes without copying them; `nil` for NULL.
    package func withText<R>(_ index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R? {
        // The order matters: sqlite3_column_text may convert, so the length is asked for afterwards.
        guard let start = sqlite3_column_text(handle, checked(index)) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, checked(index)))
        // SAFETY: SQLite keeps the bytes until the statement moves on or the column is converted, which
        // cannot happen before `body` returns.
        return try body(UnsafeBufferPointer(start: start, count: count))
    }

    /// Lends the blob's bytes without copying them; `nil` for NULL.
    package func withBlob<R>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R? {
        guard !isNull(index) else { return nil }
        // SAFETY: as in `withText`. An empty blob has no address.
        let start = sqlite3_column_blob(handle, checked(index))
        let count = Int(sqlite3_column_bytes(handle, checked(index)))
        return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    private func checked(_ index: Int) -> Int32 {
        precondition(index >= 0 && index < columnCount, "The row has no column with this index.")
        return Int32(truncatingIfNeeded: index)
    }
}
