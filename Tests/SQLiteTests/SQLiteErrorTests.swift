import Foundation
import Testing

@testable import SQLite

@Suite struct SQLiteErrorTests {
    let folder: TemporaryFolder
    let connection: SQLiteConnection

    init() throws {
        folder = try TemporaryFolder()
        connection = try SQLiteConnection(path: folder.databasePath, mode: .readWriteCreate)
    }

    private func failure(_ body: () throws -> Void) throws -> SQLiteError {
        try #require(#expect(throws: SQLiteError.self, performing: body))
    }

    @Test(
        arguments: [
            ("a", ["a"], nil), ("a, b", ["a", "b"], nil), ("a COLLATE NOCASE", ["a"], nil),
            ("lower(a)", [], "by"),
        ] as [(String, [String], String?)]
    )
    func `a unique violation names its columns or its index`(key: String, columns: [String], index: String?)
        throws
    {
        try connection.execute(
            "CREATE TABLE \"_User\" (a, b); CREATE UNIQUE INDEX \"by\" ON \"_User\" (\(key))"
        )
        let insert = "INSERT INTO \"_User\" VALUES (?, ?)"
        try connection.run(insert, [.text("secret"), .integer(1)])
        let error = try failure { _ = try connection.run(insert, [.text("secret"), .integer(1)]) }
        #expect(error.isUniqueViolation && error.isConstraintViolation)
        #expect(error.uniqueColumns == columns)
        #expect(error.uniqueIndex == index)
        #expect(error.statement == insert)
        #expect(!"\(error)".contains("secret"))
    }

    @Test func `a second row with the same primary key is a unique violation`() throws {
        try connection.execute(
            "CREATE TABLE t (id TEXT PRIMARY KEY, n INTEGER); CREATE TABLE r (id INTEGER PRIMARY KEY)"
        )
        try connection.execute("INSERT INTO t VALUES ('x', 1); INSERT INTO r VALUES (1)")
        #expect(
            try failure { try connection.execute("INSERT INTO t VALUES ('x', 1)") }.uniqueColumns == ["id"]
        )
        #expect(try failure { try connection.execute("INSERT INTO r VALUES (1)") }.uniqueColumns == ["id"])
    }

    @Test func `other constraints are no unique violations`() throws {
        try connection.execute("CREATE TABLE t (v NOT NULL CHECK (v > 0))")
        for value in ["NULL", "0"] {
            let error = try failure { try connection.execute("INSERT INTO t VALUES (\(value))") }
            #expect(error.isConstraintViolation && !error.isUniqueViolation)
            #expect(error.uniqueColumns.isEmpty && error.uniqueIndex == nil)
        }
    }

    @Test func `foreign keys are enforced`() throws {
        try connection.execute("CREATE TABLE p (id PRIMARY KEY); CREATE TABLE c (p REFERENCES p)")
        #expect(try failure { try connection.execute("INSERT INTO c VALUES (1)") }.isConstraintViolation)
    }

    @Test func `a full database is told as such`() throws {
        try connection.execute("CREATE TABLE t (v); PRAGMA max_page_count = 10")
        let error = try failure { try connection.run("INSERT INTO t VALUES (zeroblob(100000))") }
        #expect(error.isFull && !error.isBusy && !error.isCorrupt)
    }

    @Test func `a lock held by another is told as busy`() throws {
        let other = try SQLiteConnection(
            path: folder.databasePath,
            mode: .readWrite,
            busyTimeout: .milliseconds(1)
        )
        try connection.execute("BEGIN IMMEDIATE")
        #expect(try failure { try other.execute("BEGIN IMMEDIATE") }.isBusy)
    }

    @Test func `writing to a read-only connection is told as such`() throws {
        try connection.execute("CREATE TABLE t (v)")
        let reader = try SQLiteConnection(path: folder.databasePath, mode: .readOnly)
        #expect(try failure { try reader.execute("INSERT INTO t VALUES (1)") }.isReadOnly)
    }

    @Test func `a file that is something else is told at opening`() throws {
        let path = folder.path + "/text"
        try Data(String(repeating: "This is not a database. ", count: 100).utf8).write(
            to: URL(filePath: path)
        )
        #expect(try failure { _ = try SQLiteConnection(path: path, mode: .readWrite) }.isNotADatabase)
    }

    @Test func `damaged pages are told as such`() throws {
        try connection.execute("CREATE TABLE t (v); INSERT INTO t VALUES (zeroblob(20000))")
        connection.close()
        let file = try FileHandle(forUpdating: URL(filePath: folder.databasePath))
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0xee, count: 4096))
        try file.close()
        let damaged = try SQLiteConnection(path: folder.databasePath, mode: .readWrite)
        #expect(try failure { _ = try damaged.query("SELECT v FROM t") { $0.blob(0) } }.isCorrupt)
    }

    @Test func `a missing file or folder is an error with its reason`() throws {
        let error = try failure {
            _ = try SQLiteConnection(path: folder.path + "/no/test.db", mode: .readWriteCreate)
        }
        #expect(error.systemErrorNumber == ENOENT)
        #expect(throws: SQLiteError.self) {
            _ = try SQLiteConnection(path: folder.path + "/other.db", mode: .readWrite)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/other.db"))
    }

    @Test func `the description holds code, meaning and text`() throws {
        let error = try failure { try connection.execute("SELECT nothing") }
        #expect("\(error)" == "SQLite error 1: SQL logic error in: SELECT nothing")
        #expect("\(SQLiteError.closed)" == "SQLite error -1: the database is closed")
        #expect("\(SQLiteError.queueFull)" == "SQLite error -2: too many operations are waiting")
    }
}
