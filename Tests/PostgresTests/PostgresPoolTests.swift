import Locking
import Postgres
import TestSupport
import Testing

@Suite(.enabled(if: PostgresServer.isInstalled), .timeLimit(.minutes(3)))
struct PostgresPoolTests {
    @Test func `many calls share few connections`() async throws {
        let pool = try await PostgresPool.test { $0.connectionLimit = 3 }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in Int64(0)..<300 {
                group.addTask {
                    try await pool.query("SELECT $1::int8", [.integer(number)]).first?.integer(0) == number
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect((1...3).contains(pool.openConnections))
        await pool.close()
        #expect(pool.openConnections == 0)
        #expect(await failure { try await pool.query("SELECT 1") }?.kind == .closed)
    }

    @Test func `short reads do not queue up behind a long one while another connection is free`() async throws
    {
        let pool = try await PostgresPool.test { $0.connectionLimit = 2 }
        let slow = Task { try await pool.query("SELECT pg_sleep(3)") }
        try await Task.sleep(for: .milliseconds(100))
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 { group.addTask { _ = try await pool.query("SELECT pg_sleep(0.02)") } }
            try await group.waitForAll()
        }
        #expect(start.duration(to: .now) < .milliseconds(2500))
        _ = try await slow.value
        await pool.close()
    }

    @Test func `one call too many in the queue is refused at once, and one that waits too long later`()
        async throws
    {
        let pool = try await PostgresPool.test {
            $0.connectionLimit = 1
            $0.queueLimit = 2
            $0.queueTimeout = .seconds(2)
        }
        let holder = try await Holder(pool)
        let waiting = (0..<2).map { _ in Task { await failure { try await pool.query("SELECT 1") } } }
        #expect(try await eventually { pool.waitingCalls == 2 })
        let start = ContinuousClock.now
        #expect(await failure { try await pool.query("SELECT 1") }?.kind == .overloaded)
        #expect(start.duration(to: .now) < .seconds(1))
        for call in waiting { #expect(await call.value?.kind == .overloaded) }
        #expect(pool.waitingCalls == 0)
        try await holder.release()
        #expect(try await pool.query("SELECT 1").rowCount == 1)
        await pool.close()
    }

    @Test func `a cancelled call leaves the queue`() async throws {
        let pool = try await PostgresPool.test { $0.connectionLimit = 1 }
        let holder = try await Holder(pool)
        let waiting = Task { await failure { try await pool.query("SELECT 1") } }
        #expect(try await eventually { pool.waitingCalls == 1 })
        waiting.cancel()
        #expect(await waiting.value?.kind == .cancelled)
        #expect(pool.waitingCalls == 0)
        try await holder.release()
        await pool.close()
    }

    @Test func `a transaction is committed, or rolled back when its body throws`() async throws {
        struct Stop: Error {}
        let pool = try await PostgresPool.test(try await PostgresServer.shared().makeDatabase())
        try await pool.run([PostgresStatement("CREATE TABLE t (n int8)")])
        try await pool.transaction { transaction in
            _ = try await transaction.run((0..<5).map { PostgresStatement("INSERT INTO t VALUES (\($0))") })
        }
        let found = try await pool.transaction { transaction in
            _ = try await transaction.query("INSERT INTO t VALUES (5)")
            return try await transaction.finish([PostgresStatement("SELECT count(*) FROM t")])
        }
        #expect(try found[0].first?.integer(0) == 6)
        await #expect(throws: Stop.self) {
            try await pool.transaction { transaction in
                _ = try await transaction.query("DELETE FROM t")
                throw Stop()
            }
        }
        // A body that swallows an error cannot commit the rest.
        let swallowed = await failure {
            try await pool.transaction { transaction in
                _ = try await transaction.query("DELETE FROM t")
                _ = try? await transaction.query("SELECT nonsense")
            }
        }
        #expect(swallowed?.sqlState == "25P02")
        #expect(try await pool.query("SELECT count(*) FROM t").first?.integer(0) == 6)
        await pool.close()
    }

    @Test func `transactions that get in each other's way are repeated`() async throws {
        let pool = try await PostgresPool.test(try await PostgresServer.shared().makeDatabase())
        try await pool.run([PostgresStatement("CREATE TABLE n (v int8)")])
        try await pool.run([PostgresStatement("INSERT INTO n VALUES (0)")])
        let attempts = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await pool.transaction(.serializable) { transaction in
                        attempts.withLock { $0 += 1 }
                        let value = try await transaction.query("SELECT v FROM n").first?.integer(0) ?? 0
                        try await Task.sleep(for: .milliseconds(5))
                        _ = try await transaction.query("UPDATE n SET v = $1", [.integer(value + 1)])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await pool.query("SELECT v FROM n").first?.integer(0) == 4)
        #expect(attempts.withLock { $0 } > 4)
        await pool.close()
    }

    /// Ends the process that sleeps for an application, once there is one.
    private func terminate(_ application: String, on server: PostgresServer) async throws {
        let sql = """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE application_name = '\(application)' AND wait_event = 'PgSleep'
            """
        #expect(try await eventually { try await server.sql(sql) == "1" })
    }

    @Test func `a read is repeated when its connection turns out to be broken`() async throws {
        let pool = try await PostgresPool.test { $0.applicationName = "broken" }
        let server = try await PostgresServer.shared()
        let call = Task { try await pool.query("SELECT pg_sleep(2), 1::int8").first?.integer(1) }
        try await terminate("broken", on: server)
        #expect(try await call.value == 1)
        await pool.close()
    }

    @Test func `a commit whose answer is lost has an unknown outcome, a statement before it has not`()
        async throws
    {
        let pool = try await PostgresPool.test { $0.applicationName = "uncertain" }
        let server = try await PostgresServer.shared()
        let commit = Task { await failure { try await pool.run([PostgresStatement("SELECT pg_sleep(5)")]) } }
        try await terminate("uncertain", on: server)
        #expect(await commit.value?.kind == .unknownOutcome)
        let attempts = Locked(0)
        let transaction = Task {
            try await pool.transaction { transaction in
                let attempt = attempts.withLock { count in
                    count += 1
                    return count
                }
                _ = try await transaction.query("SELECT pg_sleep($1)", [.double(attempt == 1 ? 5 : 0)])
            }
        }
        try await terminate("uncertain", on: server)
        try await transaction.value
        #expect(attempts.withLock { $0 } == 2)
        await pool.close()
    }

    @Test func `a server that is killed under load loses no acknowledged write and comes back by itself`()
        async throws
    {
        let server = try await PostgresServer()
        let pool = try await PostgresPool.test(server.url())
        try await pool.run([PostgresStatement("CREATE TABLE w (n int8 PRIMARY KEY)")])
        let acknowledged = Locked<Set<Int64>>([])
        let kinds = Locked<[PostgresError.Kind: Int]>([:])
        let slowest = Locked(Duration.zero)
        let isOver = Locked(false)
        let next = Locked<Int64>(0)
        let writers = (0..<24).map { _ in
            Task {
                while !isOver.withLock({ $0 }) {
                    let number = next.withLock { next in
                        next += 1
                        return next
                    }
                    let start = ContinuousClock.now
                    let insert = PostgresStatement("INSERT INTO w VALUES ($1)", [.integer(number)])
                    if let error = await failure({ try await pool.run([insert]) }) {
                        kinds.withLock { $0[error.kind, default: 0] += 1 }
                        try await Task.sleep(for: .milliseconds(2))
                    } else {
                        acknowledged.withLock { _ = $0.insert(number) }
                    }
                    let elapsed = start.duration(to: .now)
                    slowest.withLock { $0 = max($0, elapsed) }
                }
            }
        }
        var lastCount = 0
        for _ in 0..<3 {
            try await Task.sleep(for: .milliseconds(700))
            let count = acknowledged.withLock { $0.count }
            #expect(count > lastCount)
            lastCount = count
            try await server.kill()
            try await Task.sleep(for: .milliseconds(400))
            #expect(pool.isDown)
            let start = ContinuousClock.now
            #expect(await failure { try await pool.query("SELECT 1") }?.kind == .unavailable)
            #expect(start.duration(to: .now) < .milliseconds(200))
            try await server.start()
            let recovery = ContinuousClock.now
            while await failure({ try await pool.query("SELECT 1") }) != nil {
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(recovery.duration(to: .now) < .seconds(4))
        }
        try await Task.sleep(for: .milliseconds(300))
        isOver.withLock { $0 = true }
        for writer in writers { try await writer.value }
        let stored = Set(try await pool.query("SELECT n FROM w").rows.map { try $0.integer(0) ?? 0 })
        let lost = acknowledged.withLock { $0 }.subtracting(stored)
        #expect(lost.isEmpty)
        #expect(acknowledged.withLock { $0.count } > lastCount)
        let seen = kinds.withLock { $0 }
        #expect(seen[.unknownOutcome, default: 0] > 0)
        #expect(seen[.unavailable, default: 0] > 0)
        #expect(Set(seen.keys).isSubset(of: [.unknownOutcome, .unavailable, .connectionLost, .server]))
        #expect(slowest.withLock { $0 } < .seconds(4))
        await pool.close()
    }
}
