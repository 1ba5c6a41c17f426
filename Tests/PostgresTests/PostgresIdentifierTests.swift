import Postgres
import TestSupport
import Testing

@Suite struct PostgresIdentifierTests {
    static let hostile = [
        "plain", "Ünïcode", "select", "a\"b", "\"", "\"\"", "a\"; DROP TABLE victims; --", "a'b", "$1",
        "a\\b",
        "line\nbreak", "tab\t", String(repeating: "\"", count: 63), "x;y", "pg_catalog", "a.b",
    ]

    @Test(.enabled(if: PostgresServer.isInstalled), arguments: hostile)
    func `a name is a name, whatever it holds`(name: String) async throws {
        let connection = try await PostgresConnection.test()
        let quoted = PostgresIdentifier.quoted(name)
        _ = try await connection.query("CREATE TEMPORARY TABLE victims ()")
        _ = try await connection.query("CREATE TEMPORARY TABLE holder (\(quoted) text)")
        _ = try await connection.query("INSERT INTO holder (\(quoted)) VALUES ($1)", [.text(name)])
        let row = try await connection.query(
            "SELECT \(quoted) FROM holder WHERE \(quoted) = $1",
            [.text(name)]
        )
        #expect(try row.first?.text(0) == name)
        let names = try await connection.query(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'holder'::regclass AND attnum > 0"
        )
        #expect(try names.rows.map { try $0.text(0) } == [name])
        #expect(try await connection.query("SELECT * FROM victims").rowCount == 0)
        await connection.close()
    }
}
