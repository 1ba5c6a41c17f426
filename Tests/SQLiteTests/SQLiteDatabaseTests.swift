import Locking
import Dispatch
import Foundation
import Testing

@testable import SQLite

@Suite(.timeLimit(.minutes(1))) struct SQLiteDatabaseTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ change: (inout SQLiteDatabaseConfiguration) -> Void = { _ in }) throws
        -> SQLiteDatabase
    {
        var configuration = SQLiteDatabaseConfiguration()
        change(&configuration)
        return try SQLiteDatabase(path: folder.databasePath, configuration: configuration)
    }

    private func openWithTable(_ change: (inout SQLiteDatabaseConfiguration) -> Void = { _ in }) async throws
        -> SQLiteDatabase
    {
        let database = try open(change)
        try await database.write { try $0.execute("CREATE TABLE IF NOT EXISTS t (v INTEGER PRIMARY KEY, w)") }
        return database
    }

    /// Holds the only thread of a queue until released, and tells when it is held.
    private final class Blocker: Sendable {
        private let begun = AsyncStream.makeStream(of: Void.self)
        private let gate = DispatchSemaphore(value: 0)

        func block() {
            begun.continuation.yield()
            gate.wait()
        }
        func waitUntilHeld() async { for await _ in begun.stream { return } }
        func release() { gate.signal() }
    }

    private static func insert(_ number: Int) -> @Sendable (SQLiteConnection) throws -> Int {
        { try $0.run("INSERT INTO t VALUES (?, NULL)", [.integer(Int64(number))]) }
    }

    private static let all: @Sendable (SQLiteConnection) throws -> [Int64] = {
        try $0.query("SELECT v FROM t ORDER BY v") { $0.int64(0) }
    }

    /// Queues the bodies while the writer is held, in order, and gives the outcomes.
    private func writeTogether<T: Sendable>(
        _ database: SQLiteDatabase,
        _ bodies: [@Sendable (SQLiteConnection) throws -> T]
    ) async throws -> [Result<T, any Error>] {
        let blocker = Blocker()
        let held = Task { try await database.write { _ in blocker.block() } }
        await blocker.waitUntilHeld()
        return try await withThrowingTaskGroup(of: (Int, Result<T, any Error>).self) { group in
            for (index, body) in bodies.enumerated() {
                group.addTask {
                    do { return (index, .success(try await database.write(body))) } catch {
                        return (index, .failure(error))
                    }
                }
                while database.waitingWrites <= index { await Task.yield() }
            }
            blocker.release()
            var outcomes: [Int: Result<T, any Error>] = [:]
            for try await (index, outcome) in group { outcomes[index] = outcome }
            try await held.value
            return bodies.indices.compactMap { outcomes[$0] }
        }
    }

    // MARK: Groups

    @Test(arguments: [(1, 20), (8, 3), (19, 2), (20, 1), (64, 1)])
    func `waiting writes share commits up to the limit`(limit: Int, commits: UInt64) async throws {
        let database = try await openWithTable { $0.groupLimit = limit }
        let before = database.commitCount
        let outcomes = try await writeTogether(database, (0..<20).map { Self.insert($0) })
        #expect(outcomes.allSatisfy { (try? $0.get()) == 1 })
        // One more for the write that held the others.
        #expect(database.commitCount - before == commits + 1)
        #expect(try await database.read(Self.all) == Array(0..<20))
        await database.close()
    }

    @Test func `a failing write in a group affects no other`() async throws {
        struct Stop: Error {}
        let database = try await openWithTable()
        let stopping: @Sendable (SQLiteConnection) throws -> Int = { connection in
            _ = try Self.insert(2)(connection)
            throw Stop()
        }
        let bodies = [Self.insert(1), Self.insert(1), stopping, Self.insert(3)]
        let outcomes = try await writeTogether(database, bodies)
        #expect(try outcomes[0].get() == 1)
        #expect(throws: SQLiteError.self) { try outcomes[1].get() }
        #expect(throws: Stop.self) { try outcomes[2].get() }
        #expect(try outcomes[3].get() == 1)
        #expect(try await database.read(Self.all) == [1, 3])
        await database.close()
    }

    @Test func `a write that fills the database affects no other`() async throws {
        let database = try await openWithTable()
        try await database.write { try $0.execute("PRAGMA max_page_count = 30") }
        let large: @Sendable (SQLiteConnection) throws -> Int = { connection in
            for number in 100..<200 {
                try connection.run("INSERT INTO t VALUES (\(number), zeroblob(3000))")
            }
            return 0
        }
        let outcomes = try await writeTogether(database, [Self.insert(1), large, Self.insert(2)])
        #expect(try outcomes[0].get() == 1)
        let error = try #require(#expect(throws: SQLiteError.self) { try outcomes[1].get() })
        #expect(error.isFull)
        #expect(try outcomes[2].get() == 1)
        #expect(try await database.read(Self.all) == [1, 2])
        await database.close()
    }

    @Test(arguments: ["COMMIT", "ROLLBACK", "ROLLBACK; BEGIN", "RELEASE operation"])
    func `a write that ends the transaction fails and affects no other`(sql: String) async throws {
        let database = try await openWithTable()
        let ending: @Sendable (SQLiteConnection) throws -> Int = { connection in
            _ = try Self.insert(2)(connection)
            try connection.execute(sql)
            return 0
        }
        let outcomes = try await writeTogether(database, [Self.insert(1), ending, Self.insert(3)])
        #expect(try outcomes[0].get() == 1)
        #expect(throws: SQLiteError.self) { try outcomes[1].get() }
        #expect(try outcomes[2].get() == 1)
        #expect(try await database.read(Self.all) == [1, 3])
        await database.close()
    }

    @Test func `a commit refused for one write affects no other`() async throws {
        let database = try await openWithTable()
        try await database.write {
            try $0.execute("CREATE TABLE c (v REFERENCES t DEFERRABLE INITIALLY DEFERRED)")
        }
        let dangling: @Sendable (SQLiteConnection) throws -> Int = { try $0.run("INSERT INTO c VALUES (99)") }
        let outcomes = try await writeTogether(database, [Self.insert(1), dangling, Self.insert(2)])
        #expect(try outcomes[0].get() == 1)
        #expect(throws: SQLiteError.self) { try outcomes[1].get() }
        #expect(try outcomes[2].get() == 1)
        #expect(try await database.read(Self.all) == [1, 2])
        #expect(try await database.read { try $0.first("SELECT count(*) FROM c") { $0.int64(0) } } == 0)
        await database.close()
    }

    @Test func `a commit that the disk refuses fails every write of the group and shows none`() async throws {
        await #expect(processExitsWith: .success) { [path = folder.databasePath as String] in
            // Only in a process of its own: the limit on file sizes holds for all files.
            signal(SIGXFSZ, SIG_IGN)
            let database = try SQLiteDatabase(path: path)
            try await database.write { try $0.execute("CREATE TABLE t (v)") }
            let good = try await database.write { try $0.run("INSERT INTO t VALUES ('kept')") }
            precondition(good == 1)
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let before = limit.rlim_cur
            limit.rlim_cur = 40_000
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let errors = await withTaskGroup(of: SQLiteError?.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        do {
                            _ = try await database.write {
                                try $0.run("INSERT INTO t VALUES (zeroblob(50000))")
                            }
                            return nil
                        } catch { return error as? SQLiteError }
                    }
                }
                return await group.reduce(into: []) { if let error = $1 { $0.append(error) } }
            }
            precondition(errors.count == 10, "\(errors)")
            let rows = try await database.read { try $0.query("SELECT v FROM t") { $0.text(0) } }
            precondition(rows == ["kept"])
            limit.rlim_cur = before
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let after = try await database.write { try $0.run("INSERT INTO t VALUES ('again')") }
            precondition(after == 1)
            await database.close()
        }
        let connection = try SQLiteConnection(path: folder.databasePath, mode: .readWrite)
        #expect(try connection.query("SELECT v FROM t") { $0.text(0) } == ["kept", "again"])
    }

    // MARK: Durability

    @Test(arguments: 0..<3)
    func `kill -9 loses nothing that was acknowledged`(round: Int) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String, round] in
            var configuration = SQLiteDatabaseConfiguration()
            // Small, so that the end can also come in the middle of a checkpoint.
            configuration.checkpointPages = 20
            let database = try SQLiteDatabase(path: path + "/test.db", configuration: configuration)
            try await database.write { try $0.execute("CREATE TABLE t (v INTEGER PRIMARY KEY, w)") }
            let log = Foundation.open(path + "/acknowledged", O_CREAT | O_WRONLY | O_APPEND, 0o600)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<16 {
                    group.addTask {
                        for number in 0..<1_000_000 {
                            let id = number * 16 + worker
                            _ = try await database.write {
                                try $0.run("INSERT INTO t VALUES (?, zeroblob(700))", [.integer(Int64(id))])
                            }
                            let line = "\(id)\n"
                            _ = Foundation.write(log, line, line.utf8.count)
                            if id == 400 + round * 333 { kill(getpid(), SIGKILL) }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        let text = try String(contentsOfFile: folder.path + "/acknowledged", encoding: .utf8)
        let acknowledged = Set(text.split(separator: "\n").compactMap { Int64($0) })
        #expect(acknowledged.count >= 20)
        let database = try open()
        let stored = Set(try await database.read(Self.all))
        #expect(acknowledged.subtracting(stored).isEmpty)
        #expect(try await database.read { try $0.first("PRAGMA integrity_check") { $0.text(0) } } == "ok")
        await database.close()
    }

    // MARK: Reads

    @Test func `readers see commits whole, and all that were acknowledged`() async throws {
        let database = try await openWithTable { $0.readers = 3 }
        try await database.write { try $0.execute("INSERT INTO t VALUES (1, 500), (2, 500)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<200 {
                        let left = try await database.write { connection in
                            try connection.run("UPDATE t SET w = w - 1 WHERE v = 1")
                            try connection.run("UPDATE t SET w = w + 1 WHERE v = 2")
                            return try connection.first("SELECT w FROM t WHERE v = 1") { $0.int64(0) } ?? 0
                        }
                        let seen = try await database.read {
                            try $0.query("SELECT w FROM t ORDER BY v") { $0.int64(0) }
                        }
                        #expect(seen.reduce(0, +) == 1000)
                        #expect(seen[0] <= left)
                    }
                }
            }
            try await group.waitForAll()
        }
        await database.close()
    }

    @Test func `a slow read holds back no other while a reader is free`() async throws {
        let database = try await openWithTable()
        let blocker = Blocker()
        async let slow: Void = database.read { _ in blocker.block() }
        await blocker.waitUntilHeld()
        for _ in 0..<50 { _ = try await database.read(Self.all) }
        blocker.release()
        try await slow
        await database.close()
    }

    @Test func `a reader cannot write`() async throws {
        let database = try await openWithTable()
        let error = await #expect(throws: SQLiteError.self) { try await database.read(Self.insert(1)) }
        #expect(error?.isReadOnly == true)
        #expect(try await database.read(Self.all).isEmpty)
        await database.close()
    }

    // MARK: Limits, closing, cancelling

    @Test func `one write more than may wait is refused at once`() async throws {
        let database = try await openWithTable { $0.writeQueueLimit = 3 }
        let blocker = Blocker()
        async let held: Void = database.write { _ in blocker.block() }
        await blocker.waitUntilHeld()
        let waiting = (0..<3).map { number in Task { try await database.write(Self.insert(number)) } }
        while database.waitingWrites < 3 { await Task.yield() }
        await #expect(throws: SQLiteError.queueFull) { try await database.write(Self.insert(9)) }
        blocker.release()
        try await held
        for task in waiting { #expect(try await task.value == 1) }
        #expect(try await database.write(Self.insert(10)) == 1)
        #expect(try await database.read(Self.all) == [0, 1, 2, 10])
        await database.close()
    }

    @Test func `one read more than may wait is refused at once`() async throws {
        let database = try await openWithTable {
            $0.readers = 1
            $0.readQueueLimit = 2
        }
        let blocker = Blocker()
        async let held: Void = database.read { _ in blocker.block() }
        await blocker.waitUntilHeld()
        let waiting = (0..<2).map { _ in Task { try await database.read(Self.all) } }
        while database.waitingReads < 2 { await Task.yield() }
        await #expect(throws: SQLiteError.queueFull) { try await database.read(Self.all) }
        blocker.release()
        try await held
        for task in waiting { _ = try await task.value }
        await database.close()
    }

    @Test func `closing finishes what is queued and refuses what comes later`() async throws {
        let database = try await openWithTable()
        let blocker = Blocker()
        async let held: Void = database.write { _ in blocker.block() }
        await blocker.waitUntilHeld()
        let waiting = (0..<10).map { number in Task { try await database.write(Self.insert(number)) } }
        while database.waitingWrites < 10 { await Task.yield() }
        let closing = Task { await database.close() }
        // Refused from the moment on at which closing has begun.
        while true {
            do { _ = try await database.read(Self.all) } catch {
                #expect(error as? SQLiteError == .closed)
                break
            }
        }
        blocker.release()
        await closing.value
        try await held
        for task in waiting { #expect(try await task.value == 1) }
        await #expect(throws: SQLiteError.closed) { try await database.write(Self.insert(99)) }
        await database.close()
        #expect(!FileManager.default.fileExists(atPath: folder.databasePath + "-wal"))
        let connection = try SQLiteConnection(path: folder.databasePath, mode: .readOnly)
        #expect(try connection.query("SELECT v FROM t") { $0.int64(0) } == Array(0..<10))
    }

    @Test func `closing an unused database works`() throws {
        let database = try open()
        database.closeAndWait()
        database.closeAndWait()
    }

    @Test func `a cancelled write that waits is not done`() async throws {
        let database = try await openWithTable()
        let blocker = Blocker()
        async let held: Void = database.write { _ in blocker.block() }
        await blocker.waitUntilHeld()
        let unwanted = Task { try await database.write(Self.insert(1)) }
        while database.waitingWrites < 1 { await Task.yield() }
        unwanted.cancel()
        blocker.release()
        try await held
        await #expect(throws: CancellationError.self) { try await unwanted.value }
        #expect(try await database.read(Self.all).isEmpty)
        await database.close()
    }

    @Test func `threads that ended for want of work start again`() async throws {
        let database = try await openWithTable { $0.idleTimeout = .microseconds(50) }
        for number in 0..<300 {
            #expect(try await database.write(Self.insert(number)) == 1)
            #expect(try await database.read(Self.all).count == number + 1)
        }
        await database.close()
    }

    // MARK: Opening and checkpoints

    @Test func `each connection is set up and an error of it arrives`() async throws {
        struct Stop: Error {}
        let opened = Monitor(0)
        let database = try open { configuration in
            configuration.onOpen = { _ in
                if opened.withLock({
                    $0 += 1; return $0
                }) == 2 {
                    throw Stop()
                }
            }
        }
        await #expect(throws: Stop.self) { try await database.read { _ in } }
        try await database.read { _ in }
        #expect(opened.withLock { $0 } == 3)
        let settings = try await database.write { connection in
            try ["journal_mode", "synchronous", "foreign_keys", "trusted_schema", "cell_size_check"].map {
                name in
                try connection.first("PRAGMA \(name)") { $0.text(0) ?? "" } ?? ""
            }
        }
        #expect(settings == ["wal", "2", "1", "0", "1"])
        await database.close()
    }

    @Test func `the log stays bounded under steady writes and reads`() async throws {
        let database = try await openWithTable { $0.checkpointPages = 50 }
        let largest = try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    var largest = 0
                    for number in 0..<400 {
                        let id = Int64(number * 4 + worker)
                        _ = try await database.write {
                            try $0.run("INSERT INTO t VALUES (?, zeroblob(6000))", [.integer(id)])
                        }
                        _ = try await database.read { try $0.first("SELECT max(v) FROM t") { $0.int64(0) } }
                        largest = max(largest, try folder.size(of: "test.db-wal"))
                    }
                    return largest
                }
            }
            return try await group.reduce(0, max)
        }
        // 1600 rows of two pages, and the table's inner pages again and again: over 4000 pages in all.
        #expect(largest < 1500 * 4096, "the log grew to \(largest / 4096) pages")
        await database.close()
        #expect(try folder.size(of: "test.db") > 1600 * 6000)
    }

    @Test func `long queries do not hold up short ones, and end in time`() async throws {
        let database = try open {
            $0.readers = 1
            $0.patientReaders = 1
            $0.quickTime = .milliseconds(5)
        }
        let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c"
        let ended = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    do {
                        try await database.query(timeLimit: .milliseconds(500)) {
                            _ = try $0.first(endless) { $0.int64(0) }
                        }
                        Issue.record("an endless query has ended")
                    } catch let error as SQLiteError {
                        #expect(error.isInterrupted)
                    }
                    ended.withLock { $0 += 1 }
                }
            }
            for _ in 0..<20 {
                let one = try await database.query(timeLimit: .seconds(5)) {
                    try $0.first("SELECT 1") { $0.int64(0) }
                }
                #expect(one == 1)
            }
            #expect(ended.withLock { $0 } < 3)
            try await group.waitForAll()
        }
        await database.close()
    }

    @Test func `what a function throws arrives with the error, once`() throws {
        struct Refusal: Error, Equatable { let number: Int }
        let connection = try SQLiteConnection(path: ":memory:", mode: .readWriteCreate)
        try connection.addFunction("refuse", argumentCount: 1) { throw Refusal(number: Int($0.int64(0))) }
        for number in 1...2 {
            do {
                _ = try connection.first("SELECT refuse(?)", [.integer(Int64(number))]) { $0.int64(0) }
                Issue.record("nothing was thrown")
            } catch let error as SQLiteError {
                #expect(error.cause as? Refusal == Refusal(number: number))
                #expect(!error.isWrongStatement)
            }
        }
        do {
            _ = try connection.first("SELECT unknown") { $0.int64(0) }
        } catch let error as SQLiteError {
            #expect(error.cause == nil && error.isWrongStatement)
        }
    }

    @Test func `an object goes to a function and nowhere else`() throws {
        final class Box: Sendable { let number = 7 }
        final class Other: Sendable {}
        let connection = try SQLiteConnection(path: ":memory:", mode: .readWriteCreate)
        try connection.addFunction("unbox", argumentCount: 1) { arguments in
            arguments.object(0, as: Box.self).map { .integer(Int64($0.number)) } ?? .null
        }
        func ask(_ value: SQLiteValue) throws -> [SQLiteValue]? {
            try connection.first("SELECT unbox(?1), ?1 IS NULL", [value]) { [$0.value(0), $0.value(1)] }
        }
        #expect(try ask(.object(SQLiteObject(Box()))) == [.integer(7), .integer(1)])
        #expect(try ask(.object(SQLiteObject(Other()))) == [.null, .integer(1)])
        #expect(try ask(.integer(1)) == [.null, .integer(0)])
    }
}
