#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Prepared statements by SQL text; when it is full, the one unused for longest goes.
struct StatementCache {
    private struct Entry {
        let statement: SQLiteStatement
        var lastUse: UInt64
    }

    private let limit: Int
    private var entries: [Key: Entry] = [:]
    private var clock: UInt64 = 0

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    var count: Int { entries.count }

    mutating func statement(for sql: String) -> SQLiteStatement? {
        guard let index = entries.index(forKey: Key(sql)) else { return nil }
        clock += 1
        entries.values[index].lastUse = clock
        return entries.values[index].statement
    }

    mutating func insert(_ statement: SQLiteStatement) {
        // A scan, but only when a statement has just been compiled, which costs more.
        if entries.count >= limit, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            entries.removeValue(forKey: oldest.key)
        }
        clock += 1
        entries[Key(statement.sql)] = Entry(statement: statement, lastUse: clock)
    }

    mutating func removeAll() {
        entries.removeAll()
    }
}

extension StatementCache {
    /// SQL text compared by its bytes: `String` takes é and e + U+0301 for equal, SQLite does not.
    private struct Key: Hashable {
        private let sql: String

        init(_ sql: String) {
            var sql = sql
            sql.makeContiguousUTF8()
            self.sql = sql
        }

        static func == (left: Key, right: Key) -> Bool {
            let count = left.sql.utf8.count
            guard count == right.sql.utf8.count else { return false }
            return left.withBytes { leftBytes in
                right.withBytes { rightBytes in
                    guard let leftStart = leftBytes.baseAddress, let rightStart = rightBytes.baseAddress
                    else {
                        return true
                    }
                    return memcmp(leftStart, rightStart, count) == 0
                }
            }
        }

        func hash(into hasher: inout Hasher) {
            withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }

        private func withBytes<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
            // Contiguous since `init`, so no copy is made.
            sql.utf8.withContiguousStorageIfAvailable(body) ?? Array(sql.utf8).withUnsafeBufferPointer(body)
        }
    }
}
