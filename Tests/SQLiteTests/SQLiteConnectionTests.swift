import Foundation
import Testing

@testable import SQLite

@Suite struct SQLiteConnectionTests {
    let folder: TemporaryFolder
    let connection: SQLiteConnection

    init() throws {
        folder = try TemporaryFolder()
        connection = try SQLiteConnection(path: folder.databasePath, mode: .readWriteCreate)
    }

    // MARK: Values

    @Test(
        arguments: [
            .null, .integer(0), .integer(.min), .integer(.max), .real(0.1), .real(-.infinity),
            .real(.leastNonzeroMagnitude),
            .text(""), .text("a\0b\0"), .text("\0"), .text("grün 👩‍👩‍👧 e\u{301}"),
            .text(String(repeating: "x", count: 100_000)),
            .blob([]), .blob([0, 1, 255, 0]), .blob([UInt8](repeating: 7, count: 100_000)),
        ] as [SQLiteValue]
    )
    func `a value comes back as it was stored`(value: SQLiteValue) throws {
        try connection.execute("CREATE TABLE t (v)")
        #expect(try connection.run("INSERT INTO t VALUES (?)", [value]) == 1)
        #expect(try connection.first("SELECT v FROM t") { $0.value(0) } == value)
        #expect(try connection.first("SELECT count(*) FROM t WHERE v IS ?", [value]) { $0.int64(0) } == 1)
        if case .text(let text) = value {
            let bytes = try connection.first("SELECT v FROM t") { row in row.withText(0) { [UInt8]($0) } }
            #expect(bytes == .some(.some(Array(text.utf8))))
        }
    }

    @Test func `not-a-number is stored as NULL`() throws {
        #expect(try connection.first("SELECT ?", [.real(.nan)]) { $0.isNull(0) } == true)
    }

    @Test func `columns of one row are read by their kind`() throws {
        let row = try connection.first("SELECT 1, 2.5, 'x', x'0102', NULL") { row in
            #expect(row.columnCount == 5)
            #expect(row.text(4) == nil)
            #expect(row.blob(4) == nil)
            #expect(row.int64(4) == 0)
            #expect(row.isNull(4) && !row.isNull(0))
            return (row.int64(0), row.double(1), row.text(2), row.blob(3))
        }
        let (integer, real, text, blob) = try #require(row)
        #expect(integer == 1)
        #expect(real == 2.5)
        #expect(text == "x")
        #expect(blob == [1, 2])
    }

    // MARK: Statements

    @Test func `run counts changed rows and nothing for a statement that changes none`() throws {
        try connection.execute("CREATE TABLE t (v); INSERT INTO t VALUES (1), (2), (3)")
        #expect(try connection.run("UPDATE t SET v = v + 1 WHERE v > ?", [.integer(1)]) == 2)
        #expect(try connection.run("DELETE FROM t WHERE v = 99") == 0)
        #expect(try connection.run("CREATE TABLE u (v)") == 0)
        #expect(try connection.run("INSERT INTO u VALUES (1)") == 1)
        #expect(connection.lastInsertRowID == 1)
    }

    @Test func `a wrong number of parameters is refused`() {
        for parameters in [[], [.null, .null]] as [[SQLiteValue]] {
            #expect(throws: SQLiteError.self) { try connection.run("SELECT ?", parameters) }
        }
        #expect(throws: Never.self) { try connection.run("SELECT ?", [.null]) }
    }

    @Test(arguments: [
        "SELECT 1; SELECT 2", "SELECT 1; garbage", "", "  ", "-- nothing", "SELECT 1\0; DROP TABLE t",
    ])
    func `text that is not exactly one statement is refused`(sql: String) {
        #expect(throws: SQLiteError.self) { try connection.run(sql) }
    }

    @Test func `a semicolon and spaces may follow a statement`() throws {
        #expect(try connection.first("SELECT 7 ;\n ") { $0.int64(0) } == 7)
    }

    @Test func `NUL in a script is refused`() throws {
        #expect(throws: SQLiteError.self) {
            try connection.execute("CREATE TABLE a (v)\0; CREATE TABLE b (v)")
        }
        #expect(try connection.first("SELECT count(*) FROM sqlite_schema") { $0.int64(0) } == 0)
    }

    @Test func `a double-quoted name that does not exist is an error and no string`() throws {
        try connection.execute("CREATE TABLE t (v)")
        #expect(throws: SQLiteError.self) { try connection.query("SELECT \"nothing\" FROM t") { $0.text(0) } }
    }

    @Test func `the same text can run inside its own rows`() throws {
        let sql = "SELECT value FROM json_each('[1,2,3]')"
        let sums = try connection.query(sql) { outer in
            let inner = try connection.query(sql) { $0.int64(0) }
            return outer.int64(0) * inner.reduce(0, +)
        }
        #expect(sums == [6, 12, 18])
    }

    @Test func `a throwing row closure leaves the statement usable`() throws {
        struct Stop: Error {}
        try connection.execute("CREATE TABLE t (v); INSERT INTO t VALUES (1), (2)")
        #expect(throws: Stop.self) { try connection.query("SELECT v FROM t") { _ in throw Stop() } }
        #expect(try connection.query("SELECT v FROM t") { $0.int64(0) } == [1, 2])
        // A statement left running would refuse this.
        try connection.execute("DROP TABLE t")
    }

    @Test func `the statement cache is bounded and reuses`() throws {
        let small = try SQLiteConnection(path: ":memory:", mode: .readWriteCreate, statementLimit: 3)
        for number in 0..<20 {
            #expect(try small.first("SELECT \(number)") { $0.int64(0) } == Int64(number))
            #expect(small.cachedStatementCount == min(number + 1, 3))
        }
        let kept = try small.prepare("SELECT 19")
        #expect(try small.prepare("SELECT 19") === kept)
        _ = try small.prepare("SELECT 100")
        _ = try small.prepare("SELECT 101")
        #expect(try small.prepare("SELECT 19") === kept, "the most recently used one stays")
        for number in 200..<203 { _ = try small.prepare("SELECT \(number)") }
        #expect(try small.prepare("SELECT 19") !== kept)
        // An evicted statement someone holds still works.
        #expect(try kept.step())
    }

    @Test func `texts that only Unicode takes for equal are different statements`() throws {
        let composed = "SELECT 'é'"
        let decomposed = "SELECT 'e\u{301}'"
        #expect(composed == decomposed)
        for sql in [composed, decomposed] {
            let bytes = try connection.first(sql) { row in row.withText(0) { [UInt8]($0) } }
            #expect(bytes == .some(Array(sql.utf8.dropFirst(8).dropLast())))
        }
    }

    // MARK: Names

    @Test(
        arguments: [
            "plain", "", "with space", "\"", "\"\"; DROP TABLE x; --", "'", "[x]", "`x`", "sélect", "👩‍👩‍👧",
            "select", "a.b", "?1", "\n",
            "\"\u{301}", "e\u{301}",
        ]
    )
    func `a hostile name is only a name`(name: String) throws {
        let quoted = SQLiteIdentifier.quoted(name)
        try connection.execute("CREATE TABLE t (\(quoted) INTEGER, other)")
        try connection.run("INSERT INTO t (\(quoted)) VALUES (?)", [.integer(5)])
        #expect(try connection.query("SELECT \(quoted) FROM t") { $0.int64(0) } == [5])
        let columns = try connection.query("SELECT name FROM pragma_table_info('t')") { $0.text(0) ?? "" }
        #expect(columns.map { Array($0.utf8) } == [Array(name.utf8), Array("other".utf8)])
    }

    // MARK: Functions and time

    @Test(
        arguments: [
            .null, .integer(.min), .real(0.5), .text(""), .text("a\0é"), .blob([]), .blob([0, 255]),
        ] as [SQLiteValue]
    )
    func `a function gets and gives values`(value: SQLiteValue) throws {
        try connection.addFunction("same", argumentCount: 2) { arguments in
            #expect(arguments.count == 2 && arguments.isNull(1))
            return arguments.value(0)
        }
        #expect(try connection.first("SELECT same(?, NULL)", [value]) { $0.value(0) } == value)
    }

    @Test func `REGEXP calls the function of that name with the pattern first`() throws {
        try connection.addFunction("regexp", argumentCount: 2) { arguments in
            let pattern = arguments.withText(0) { [UInt8]($0) }
            return .integer(arguments.withText(1) { Array($0.prefix(1)) } == pattern ? 1 : 0)
        }
        #expect(
            try connection.first("SELECT 'abc' REGEXP 'a', 'abc' REGEXP 'b'") { [$0.int64(0), $0.int64(1)] }
                == [1, 0]
        )
    }

    @Test func `an error of a function makes the statement fail`() throws {
        struct Stop: Error {}
        try connection.addFunction("stop", argumentCount: 0) { _ in throw Stop() }
        let error = #expect(throws: SQLiteError.self) { try connection.run("SELECT stop()") }
        #expect(error?.cause is Stop)
    }

    @Test func `a function goes with its connection or its replacement`() throws {
        final class Token {}
        weak var weakToken: Token?
        do {
            let token = Token()
            weakToken = token
            try connection.addFunction("f", argumentCount: 0) { _ in
                .integer(withExtendedLifetime(token) { 1 })
            }
        }
        #expect(weakToken != nil)
        try connection.addFunction("f", argumentCount: 0) { _ in .integer(2) }
        #expect(weakToken == nil)
        #expect(try connection.first("SELECT f()") { $0.int64(0) } == 2)
    }

    @Test func `a statement beyond its time limit is interrupted and the next one runs`() throws {
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        let error = #expect(throws: SQLiteError.self) {
            try connection.withTimeLimit(.milliseconds(5)) { _ = try connection.run(endless) }
        }
        #expect(error?.isInterrupted == true)
        #expect(
            try connection.withTimeLimit(.seconds(60)) { try connection.first("SELECT 1") { $0.int64(0) } }
                == 1
        )
        let many =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) SELECT count(*) FROM n"
        #expect(try connection.first(many) { $0.int64(0) } == 20000)
    }

    // MARK: Transactions

    @Test func `a transaction commits or leaves nothing`() throws {
        struct Stop: Error {}
        try connection.execute("CREATE TABLE t (v)")
        try connection.transaction { _ = try connection.run("INSERT INTO t VALUES (1)") }
        #expect(throws: Stop.self) {
            try connection.transaction {
                try connection.run("INSERT INTO t VALUES (2)")
                throw Stop()
            }
        }
        try connection.transaction {
            try connection.run("INSERT INTO t VALUES (3)")
            #expect(throws: Stop.self) {
                try connection.transaction {
                    try connection.run("INSERT INTO t VALUES (4)")
                    throw Stop()
                }
            }
            try connection.savepoint { _ = try connection.run("INSERT INTO t VALUES (5)") }
        }
        #expect(!connection.isInTransaction)
        #expect(try connection.query("SELECT v FROM t") { $0.int64(0) } == [1, 3, 5])
    }

    // MARK: Files

    @Test func `a new file is readable by its owner only`() throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.databasePath)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a path is never a URI`() throws {
        #expect(throws: SQLiteError.self) {
            _ = try SQLiteConnection(path: "file:\(folder.databasePath)?mode=ro", mode: .readOnly)
        }
        #expect(throws: SQLiteError.self) {
            _ = try SQLiteConnection(path: folder.databasePath + "\0x", mode: .readWriteCreate)
        }
    }

    @Test func `a closed connection refuses everything`() throws {
        connection.close()
        #expect(throws: SQLiteError.closed) { try connection.run("SELECT 1") }
        #expect(throws: SQLiteError.closed) { try connection.execute("SELECT 1") }
        #expect(throws: SQLiteError.closed) { _ = try connection.prepare("SELECT 1") }
    }
}
