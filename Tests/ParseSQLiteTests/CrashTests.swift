import Foundation
import ParseCore
import ParseSQLite
import SQLite
import TestSupport
import Testing

/// A program that changes the schema all the time is killed at any moment, again and again.
@Suite struct CrashTests {
    @Test(.timeLimit(.minutes(2)))
    func `after a kill, what the schema says and what the tables are agree`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/app.db"
        var steps = 0
        for round in 0..<8 {
            let run = try ProgramRun([ProductPath.program("StorageWorkload"), path])
            #expect(await run.line(startingWith: "step 1") != nil)
            try await Task.sleep(for: .milliseconds(20 + round * 37 % 150))
            run.signal(SIGKILL)
            let result = await run.result()
            #expect(result.status == -SIGKILL)
            steps += result.output.split(separator: "\n").count
            try await check(path)
        }
        #expect(steps > 16)
    }

    private func check(_ path: String) async throws {
        let storage = try SQLiteAppStorage(path: path)
        for className in storage.schema.classNames {
            _ = try await storage.find(RowQuery(className: className, predicate: .everything))
        }
        await storage.close()
        let connection = try SQLiteConnection(path: path, mode: .readWrite)
        defer { connection.close() }
        #expect(try connection.query("PRAGMA integrity_check") { $0.text(0) } == ["ok"])
        let orphans = try connection.query(
            """
            SELECT name FROM sqlite_schema WHERE type='table' AND name NOT LIKE '$%' AND name NOT IN (
                SELECT tableName FROM "$classes" UNION SELECT columnName FROM "$fields" WHERE type='Relation')
            """
        ) { $0.text(0) ?? "" }
        #expect(orphans == [])
        for (className, table) in try connection.query(
            "SELECT className,tableName FROM \"$classes\"",
            [],
            {
                ($0.text(0) ?? "", $0.text(1) ?? "")
            }
        ) {
            try checkColumns(connection, className, table)
        }
        let missing = try connection.query(
            """
            SELECT indexName FROM "$indexes" WHERE indexName NOT IN (SELECT name FROM sqlite_schema WHERE type='index')
            UNION ALL SELECT columnName FROM "$fields" WHERE type='Relation'
                AND columnName NOT IN (SELECT name FROM sqlite_schema WHERE type='table')
            """
        ) { $0.text(0) ?? "" }
        #expect(missing == [])
    }

    /// Columns that are no fields.
    private let own = [
        "_readers", "_writers", "_nulls", "_size", "_hashed_password", "_session_token", "_token_hash",
        "_token_tail", "_username_key", "_email_key",
    ]

    private func checkColumns(_ connection: SQLiteConnection, _ className: String, _ table: String) throws {
        let columns = try connection.query(
            "SELECT name FROM pragma_table_info(?)",
            [.text(table)]
        ) { $0.text(0) ?? "" }.filter { !own.contains($0) }
        let fields = try connection.query(
            """
            SELECT columnName FROM "$fields"
            WHERE className=? AND type NOT IN ('Relation','ACL') AND field NOT IN ('password','sessionToken')
            """,
            [.text(className)]
        ) { $0.text(0) ?? "" }
        #expect(columns.sorted() == fields.sorted(), "\(className)")
    }
}
