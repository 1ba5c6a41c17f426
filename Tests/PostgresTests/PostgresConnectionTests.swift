import Postgres
import TestSupport
import Testing

@Suite(.enabled(if: PostgresServer.isInstalled), .timeLimit(.minutes(2)))
struct PostgresConnectionTests {
    @Test(arguments: [
        Double.pi, 0.1, -0.0, .leastNonzeroMagnitude, 1.7976931348623157e308, .infinity, -.infinity, 1e22,
        123_456_789.123_456_78,
    ])
    func `a double comes back with the same bits`(number: Double) async throws {
        let connection = try await PostgresConnection.test()
        let row = try await connection.query("SELECT $1::float8, $1::text::float8", [.double(number)]).first
        #expect(try row?.double(0)?.bitPattern == number.bitPattern)
        await connection.close()
    }

    @Test func `every type comes back as it was sent`() async throws {
        let connection = try await PostgresConnection.test()
        let text = "a\u{1F}\"'\\{}é\u{301}\u{1F600},NULL"
        let row = try #require(
            try await connection.query(
                """
                SELECT $1::int8, $2::int8, $3::text, $4::bytea, $5::json, $6::jsonb, $7::bool, $8::text[],
                $9::text, $10::text[], 7::int4, (-7)::int2
                """,
                [
                    .integer(.max), .integer(.min), .text(text), .bytes([0, 255, 10]),
                    .text(#"{"b": 1.0,  "a":null}"#), .text("[1,2]"), .bool(true),
                    .textArray([text, "", "NULL", "\\"]), .null, .textArray([]),
                ]
            ).first
        )
        #expect(try row.integer(0) == .max)
        #expect(try row.integer(1) == .min)
        #expect(try row.text(2).map { Array($0.utf8) } == Array(text.utf8))
        #expect(try row.bytes(3) == [0, 255, 10])
        #expect(try row.text(4) == #"{"b": 1.0,  "a":null}"#)
        #expect(try row.text(5) == "[1, 2]")
        #expect(try row.bool(6) == true)
        #expect(try row.textArray(7) == [text, "", "NULL", "\\"])
        #expect(row.isNull(8))
        #expect(try row.text(8) == nil)
        #expect(try row.textArray(9) == [])
        #expect(try row.integer(10) == 7)
        #expect(try row.integer(11) == -7)
        await connection.close()
    }

    @Test func `a value is not read as another type`() async throws {
        let connection = try await PostgresConnection.test()
        let row = try #require(try await connection.query("SELECT 'x'::text, 1::int8, NULL::int8").first)
        #expect(await failure { try row.integer(0) }?.kind == .misuse)
        #expect(await failure { try row.text(1) }?.kind == .misuse)
        #expect(await failure { try row.text(2) }?.kind == .misuse)
        await connection.close()
    }

    @Test func `a NUL in text is refused before anything is sent`() async throws {
        let connection = try await PostgresConnection.test()
        for value in [PostgresValue.text("a\0b"), .textArray(["a", "\0"])] {
            let error = await failure { try await connection.query("SELECT $1::text", [value]) }
            #expect(error?.sqlState == "22021")
        }
        #expect(try await connection.query("SELECT 1::int8").first?.integer(0) == 1)
        await connection.close()
    }

    @Test func `calls that are made at once are answered in order`() async throws {
        let connection = try await PostgresConnection.test()
        try await withThrowingTaskGroup(of: (Int64, Int64?).self) { group in
            for number in Int64(0)..<500 {
                group.addTask {
                    // Different texts too, so that preparing and executing are mixed.
                    let sql = "SELECT $1::int8 + \(number % 7)"
                    return (
                        number + number % 7,
                        try await connection.query(sql, [.integer(number)]).first?.integer(0)
                    )
                }
            }
            for try await (expected, found) in group { #expect(found == expected) }
        }
        await connection.close()
    }

    @Test func `an error fails its own group only, and all of that`() async throws {
        let connection = try await PostgresConnection.test()
        _ = try await connection.query("CREATE TEMPORARY TABLE t (n int8 PRIMARY KEY)")
        func insert(_ numbers: Int...) async throws {
            let statements = numbers.map { PostgresStatement("INSERT INTO t VALUES (\($0))") }
            _ = try await connection.run(statements, effect: .commits)
        }
        async let good: Void = insert(1, 2)
        async let bad = failure { try await insert(3, 1) }
        async let unknown = failure { try await connection.query("SELECT nothing FROM t") }
        let error = await bad
        #expect(error?.isUniqueViolation == true)
        #expect(error?.constraint == "t_pkey")
        #expect(error?.table == "t")
        #expect(await unknown?.isUndefinedColumn == true)
        _ = try await good
        let rows = try await connection.query("SELECT n FROM t ORDER BY n").rows.map { try $0.integer(0) }
        #expect(rows == [1, 2])
        // The same text is prepared again, not remembered as failed.
        _ = try await connection.query("ALTER TABLE t ADD COLUMN nothing text")
        #expect(try await connection.query("SELECT nothing FROM t").rowCount == 2)
        await connection.close()
    }

    @Test func `a constraint that is checked at the commit fails the group`() async throws {
        let connection = try await PostgresConnection.test()
        _ = try await connection.query(
            "CREATE TEMPORARY TABLE d (n int8 UNIQUE DEFERRABLE INITIALLY DEFERRED)"
        )
        let twice = Array(repeating: PostgresStatement("INSERT INTO d VALUES (1)"), count: 2)
        let error = await failure { try await connection.run(twice, effect: .commits) }
        #expect(error?.isUniqueViolation == true)
        #expect(try await connection.query("SELECT count(*) FROM d").first?.integer(0) == 0)
        await connection.close()
    }

    @Test func `the statement unused for longest is forgotten, on the server too`() async throws {
        let connection = try await PostgresConnection.test { $0.statementLimit = 3 }
        for number in 0..<10 { _ = try await connection.query("SELECT \(number)") }
        for _ in 0..<3 { _ = try await connection.query("SELECT 9") }
        let count = PostgresStatement("SELECT count(*) FROM pg_prepared_statements", isReusable: false)
        #expect(try await connection.run([count], effect: .reads)[0].first?.integer(0) == 3)
        await connection.close()
    }

    @Test func `texts that look the same but differ in bytes are two statements`() async throws {
        let connection = try await PostgresConnection.test()
        let composed = try await connection.query("SELECT 'é'").first?.text(0)
        let decomposed = try await connection.query("SELECT 'e\u{301}'").first?.text(0)
        #expect(composed?.utf8.count == 2)
        #expect(decomposed?.utf8.count == 3)
        await connection.close()
    }

    @Test func `a plan that is out of date is made again`() async throws {
        let connection = try await PostgresConnection.test()
        _ = try await connection.query("CREATE TEMPORARY TABLE p (a int8)")
        let sql = "SELECT * FROM p"
        #expect(try await connection.query(sql).columnCount == 1)
        _ = try await connection.query("ALTER TABLE p ADD COLUMN b text")
        #expect(try await connection.query(sql).columnCount == 2)
        await connection.close()
    }

    @Test func `a slow statement ends with a time-out`() async throws {
        let connection = try await PostgresConnection.test { $0.statementTimeout = .milliseconds(100) }
        let error = await failure { try await connection.query("SELECT pg_sleep(10)") }
        #expect(error?.isTimeout == true)
        #expect(error?.kind == .server)
        #expect(try await connection.query("SELECT 1").rowCount == 1)
        await connection.close()
    }

    @Test func `a cancelled statement stops, and nobody else's`() async throws {
        let connection = try await PostgresConnection.test()
        let start = ContinuousClock.now
        let slow = Task { await failure { try await connection.query("SELECT pg_sleep(8)") } }
        try await Task.sleep(for: .milliseconds(100))
        // These wait behind the slow one on the same connection.
        let others = (0..<20).map { number in
            Task { try await connection.query("SELECT \(number)::int8").first?.integer(0) }
        }
        try await Task.sleep(for: .milliseconds(50))
        slow.cancel()
        #expect(await slow.value?.kind == .cancelled)
        for (number, other) in others.enumerated() { #expect(try await other.value == Int64(number)) }
        #expect(start.duration(to: .now) < .seconds(4))
        await connection.close()
    }

    @Test func `a hundred cancellations at any moment harm nobody`() async throws {
        let connection = try await PostgresConnection.test()
        for _ in 0..<100 {
            let doomed = Task { try await connection.query("SELECT pg_sleep(0.02)") }
            let other = Task { try await connection.query("SELECT 5::int8").first?.integer(0) }
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<25_000)))
            doomed.cancel()
            #expect(try await other.value == 5)
            if case .failure(let error) = await doomed.result {
                #expect((error as? PostgresError)?.kind == .cancelled)
            }
        }
        await connection.close()
    }

    @Test func `a connection that is closed fails what is under way`() async throws {
        let connection = try await PostgresConnection.test()
        let read = Task { await failure { try await connection.query("SELECT pg_sleep(5)") } }
        let write = Task {
            await failure {
                try await connection.run([PostgresStatement("SELECT pg_sleep(5)")], effect: .commits)
            }
        }
        try await Task.sleep(for: .milliseconds(100))
        await connection.close()
        #expect(await read.value?.kind == .connectionLost)
        #expect(await write.value?.kind == .unknownOutcome)
        #expect(!connection.isOpen)
        #expect(await failure { try await connection.query("SELECT 1") }?.kind == .connectionLost)
    }

    @Test func `a server process that does not answer is given up`() async throws {
        let connection = try await PostgresConnection.test {
            $0.answerTimeout = .milliseconds(300)
            $0.applicationName = "stopped"
        }
        let server = try await PostgresServer.shared()
        try await server.suspend(application: "stopped")
        let start = ContinuousClock.now
        #expect(await failure { try await connection.query("SELECT 1") }?.kind == .connectionLost)
        #expect(start.duration(to: .now) < .seconds(2))
        try await server.resume(application: "stopped")
    }

    @Test func `a large result and a large parameter pass`() async throws {
        let connection = try await PostgresConnection.test()
        let text = String(repeating: "ä", count: 1 << 20)
        async let echoes = withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await connection.query("SELECT $1::text", [.text(text)]).first?.text(0) == text
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(try await echoes == [true, true, true, true])
        await connection.close()
    }

    @Test func `a server that is not there is an error with its reason`() async throws {
        let configuration = PostgresConfiguration(url: "postgres://nobody:secret@127.0.0.1:1/none")
        let loop = try Loops.all()[0]
        let error = await failure { try await PostgresConnection.open(configuration, on: loop) }
        #expect(error?.kind == .unavailable)
        #expect(error.map { "\($0)".contains("secret") } == false)
    }
}
