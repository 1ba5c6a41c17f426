import Dispatch
import Synchronization
import Testing

@testable import Cryptography

@Suite(.timeLimit(.minutes(1))) struct PasswordHashingPoolTests {
    private let cheap = PasswordAlgorithm.argon2id(memoryKiB: 64, passes: 1)

    /// Holds the pool's only thread until released.
    private final class Blocker: Sendable {
        private let begun = AsyncStream.makeStream(of: Void.self)
        private let gate = DispatchSemaphore(value: 0)

        /// Takes the thread of the pool; await it after ``release()``.
        func hold(_ pool: PasswordHashingPool, lane: HashingLane = HashingLane()) async -> Task<
            Void, any Error
        > {
            let task = Task {
                try await pool.perform(lane: lane) { () -> Result<Void, PasswordHashError> in
                    self.begun.continuation.yield()
                    self.gate.wait()
                    return .success(())
                }
            }
            for await _ in begun.stream { break }
            return task
        }
        func release() { gate.signal() }
    }

    /// Starts a job that writes `name` into the list when it runs, and waits until it is queued.
    private func enqueue(
        _ name: String,
        _ pool: PasswordHashingPool,
        _ lane: HashingLane,
        into list: Log
    ) async -> Task<Void, any Error> {
        let before = pool.waitingCount + lane.waitingCount
        let task = Task {
            try await pool.perform(lane: lane) { () -> Result<Void, PasswordHashError> in
                list.add(name)
                return .success(())
            }
        }
        while pool.waitingCount + lane.waitingCount == before { await Task.yield() }
        return task
    }

    private final class Log: Sendable {
        private let entries = Mutex<[String]>([])
        func add(_ entry: String) { entries.withLock { $0.append(entry) } }
        var all: [String] { entries.withLock { $0 } }
    }

    // MARK: Hashing

    @Test func `hashes and checks`() async throws {
        let pool = PasswordHashingPool(threads: 2, algorithm: cheap)
        let lane = HashingLane()
        let encoded = try await pool.hash("secret", lane: lane)
        #expect(encoded.hasPrefix("$argon2id$v=19$m=64,t=1,p=1$"))
        #expect(try await pool.verify("secret", against: encoded, lane: lane))
        #expect(try await !pool.verify("Secret", against: encoded, lane: lane))
        #expect(try await !pool.verify("secret", against: nil, lane: lane))
        #expect(try await !pool.verify("secret", against: "garbage", lane: lane))
        #expect(try await pool.hash("x", lane: lane, algorithm: .bcrypt(cost: 4)).hasPrefix("$2b$04$"))
        await #expect(throws: PasswordHashError.passwordContainsNUL) {
            try await pool.hash("x\0", lane: lane, algorithm: .bcrypt(cost: 4))
        }
    }

    // MARK: Fairness and limits

    @Test func `a lane with 300 jobs delays another lane by one`() async throws {
        let pool = PasswordHashingPool(threads: 1, queueLimit: 8)
        let blocker = Blocker()
        let log = Log()
        let held = await blocker.hold(pool)
        let batch = HashingLane()
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<300 { tasks.append(await enqueue("batch \(number)", pool, batch, into: log)) }
        #expect(pool.waitingCount == 1)
        tasks.append(await enqueue("single", pool, HashingLane(), into: log))
        blocker.release()
        for task in tasks { try await task.value }
        try await held.value
        let order = log.all
        #expect(order.firstIndex(of: "single") == 1)
        #expect(order.filter { $0 != "single" } == (0..<300).map { "batch \($0)" }, "a lane keeps its order")
        #expect(batch.waitingCount == 0)
    }

    @Test func `one job more than may wait is refused at once`() async throws {
        let pool = PasswordHashingPool(threads: 1, queueLimit: 3)
        let blocker = Blocker()
        let log = Log()
        let held = await blocker.hold(pool)
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<3 { tasks.append(await enqueue("\(number)", pool, HashingLane(), into: log)) }
        let refusedLane = HashingLane()
        await #expect(throws: PasswordHashError.queueFull) { try await pool.hash("x", lane: refusedLane) }
        blocker.release()
        for task in tasks { try await task.value }
        try await held.value
        // The refusal has freed its lane.
        _ = try await pool.hash("x", lane: refusedLane, algorithm: cheap)
        #expect(log.all == ["0", "1", "2"])
    }

    @Test func `a lane that is full refuses`() async throws {
        let pool = PasswordHashingPool(threads: 1)
        let blocker = Blocker()
        let log = Log()
        let lane = HashingLane(limit: 2)
        let held = await blocker.hold(pool, lane: lane)
        let first = await enqueue("1", pool, lane, into: log)
        let second = await enqueue("2", pool, lane, into: log)
        await #expect(throws: PasswordHashError.queueFull) { try await pool.hash("x", lane: lane) }
        blocker.release()
        for task in [held, first, second] { try await task.value }
        #expect(log.all == ["1", "2"])
    }

    @Test func `jobs of a lane go on when the queue has filled up meanwhile`() async throws {
        let pool = PasswordHashingPool(threads: 1, queueLimit: 1)
        let blocker = Blocker()
        let log = Log()
        let lane = HashingLane()
        let held = await blocker.hold(pool, lane: lane)
        let waiting = await enqueue("of the lane", pool, lane, into: log)
        let other = await enqueue("other", pool, HashingLane(), into: log)
        #expect(pool.waitingCount == 1)
        blocker.release()
        for task in [held, waiting, other] { try await task.value }
        #expect(log.all == ["other", "of the lane"])
    }

    // MARK: Cancelling and ending

    @Test func `a cancelled job leaves its place and never runs`() async throws {
        let pool = PasswordHashingPool(threads: 1, queueLimit: 1)
        let blocker = Blocker()
        let log = Log()
        let held = await blocker.hold(pool)
        let lane = HashingLane()
        let queued = await enqueue("queued", pool, lane, into: log)
        let inLane = await enqueue("in the lane", pool, lane, into: log)
        let last = await enqueue("last", pool, lane, into: log)
        inLane.cancel()
        await #expect(throws: PasswordHashError.cancelled) { try await inLane.value }
        queued.cancel()
        // Answered although the thread is still held.
        await #expect(throws: PasswordHashError.cancelled) { try await queued.value }
        while lane.waitingCount > 0 { await Task.yield() }
        #expect(pool.waitingCount == 1)
        blocker.release()
        try await last.value
        try await held.value
        #expect(log.all == ["last"])
    }

    @Test func `a job that is cancelled while it runs is answered at once`() async throws {
        let pool = PasswordHashingPool(threads: 1)
        let blocker = Blocker()
        let held = await blocker.hold(pool)
        held.cancel()
        await #expect(throws: PasswordHashError.cancelled) { try await held.value }
        blocker.release()
        _ = try await pool.hash("x", lane: HashingLane(), algorithm: cheap)
    }

    @Test func `a task that is cancelled already queues nothing`() async throws {
        let pool = PasswordHashingPool(threads: 1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await pool.hash("x", lane: HashingLane())
        }
        await #expect(throws: PasswordHashError.cancelled) { try await task.value }
    }

    @Test func `shutting down refuses what waits and what comes later`() async throws {
        let pool = PasswordHashingPool(threads: 1)
        let blocker = Blocker()
        let log = Log()
        let held = await blocker.hold(pool)
        let lane = HashingLane()
        var waiting: [Task<Void, any Error>] = []
        for number in 0..<5000 { waiting.append(await enqueue("\(number)", pool, lane, into: log)) }
        pool.shutdown()
        for task in waiting { await #expect(throws: PasswordHashError.shutDown) { try await task.value } }
        await #expect(throws: PasswordHashError.shutDown) { try await pool.hash("x", lane: lane) }
        blocker.release()
        try await held.value
        #expect(log.all.isEmpty)
    }

    @Test func `many callers at once are all answered`() async throws {
        let pool = PasswordHashingPool(threads: 3, queueLimit: 1000, algorithm: cheap)
        let encoded = try PasswordHash.make("secret", cheap)
        let correct = try await withThrowingTaskGroup(of: Bool.self) { group in
            let lanes = (0..<7).map { _ in HashingLane() }
            for number in 0..<500 {
                group.addTask {
                    try await pool.verify(
                        number.isMultiple(of: 2) ? "secret" : "other",
                        against: encoded,
                        lane: lanes[number % 7]
                    )
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(correct == 250)
    }
}
