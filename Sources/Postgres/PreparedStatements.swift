/// A statement that a connection has asked the server to prepare.
final class PreparedStatement {
    let name: String
    let sql: String
    /// Why the server did not prepare it, if so; its name is not used again.
    var failure: PostgresError?

    init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}

/// The prepared statements of one connection by SQL text; when it is full, the one unused for longest goes.
struct PreparedStatements {
    private struct Entry {
        let statement: PreparedStatement
        var lastUse: UInt64
    }

    private let limit: Int
    private var entries: [SQLKey: Entry] = [:]
    private var clock: UInt64 = 0
    /// Names the server may forget.
    private var evicted: [String] = []

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    var count: Int { entries.count }

    mutating func find(_ sql: String) -> PreparedStatement? {
        guard let index = entries.index(forKey: SQLKey(sql)) else { return nil }
        clock += 1
        entries.values[index].lastUse = clock
        return entries.values[index].statement
    }

    /// Makes an entry under a name that was never used before.
    mutating func add(_ sql: String) -> PreparedStatement {
        // A scan, but only when a statement has just been compiled, which costs more.
        if entries.count >= limit, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            entries.removeValue(forKey: oldest.key)
            evicted.append(oldest.value.statement.name)
        }
        clock += 1
        let statement = PreparedStatement(name: "s\(clock)", sql: sql)
        entries[SQLKey(sql)] = Entry(statement: statement, lastUse: clock)
        return statement
    }

    /// Forgets a statement that the server did not prepare, or whose plan is out of date.
    mutating func remove(_ statement: PreparedStatement, existsOnServer: Bool) {
        let key = SQLKey(statement.sql)
        if entries[key]?.statement === statement { entries.removeValue(forKey: key) }
        if existsOnServer { evicted.append(statement.name) }
    }

    mutating func takeEvicted() -> [String] {
        guard !evicted.isEmpty else { return [] }
        defer { evicted = [] }
        return evicted
    }
}

/// SQL text compared by its bytes: `String` takes é and e + U+0301 for equal, the server does not.
private struct SQLKey: Hashable {
    private let sql: String

    init(_ sql: String) {
        var sql = sql
        sql.makeContiguousUTF8()
        self.sql = sql
    }

    static func == (left: SQLKey, right: SQLKey) -> Bool {
        left.sql.utf8.count == right.sql.utf8.count && left.sql.utf8.elementsEqual(right.sql.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var sql = sql
        sql.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
