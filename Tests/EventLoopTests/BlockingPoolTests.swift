import EventLoop
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Holds threads until it is opened, and tells when they have come.
private final class Gate: Sendable {
    private let isOpen = Atomic(false)
    private let arrivals = Atomic(0)

    func pass() {
        arrivals.add(1, ordering: .sequentiallyConsistent)
        while !isOpen.load(ordering: .sequentiallyConsistent) { usleep(200) }
    }

    func open() { isOpen.store(true, ordering: .sequentiallyConsistent) }

    func waitForArrivals(_ count: Int) async {
        while arrivals.load(ordering: .sequentiallyConsistent) < count { await Task.yield() }
    }
}

/// Collects values from any thread.
final class Recorder<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    func add(_ value: Value) { values.withLock { $0.append(value) } }
    var all: [Value] { values.withLock { $0 } }
}

@Suite("A blocking pool") struct BlockingPoolTests {
    private struct Oops: Error {}

    @Test func `gives what the body returns or throws`() async throws {
        let pool = BlockingPool(name: "test", threads: 1, queueLimit: 1)
        #expect(try await pool.run { 42 } == 42)
        await #expect(throws: Oops.self) { try await pool.run { throw Oops() } }
    }

    @Test func `refuses one body too many at once and recovers`() async throws {
        let pool = BlockingPool(name: "test", threads: 1, queueLimit: 2)
        let gate = Gate()
        let running = Task { try await pool.run { gate.pass() } }
        await gate.waitForArrivals(1)
        let waiting = (0..<2).map { number in Task { try await pool.run { number } } }
        while pool.queued < 2 { await Task.yield() }
        await #expect(throws: BlockingPoolError.queueFull) { try await pool.run {} }
        gate.open()
        try await running.value
        #expect(try await waiting[0].value == 0)
        #expect(try await waiting[1].value == 1)
        #expect(try await pool.run { true })
    }

    @Test func `without a queue takes as many as it has threads`() async throws {
        let pool = BlockingPool(name: "test", threads: 2, queueLimit: 0)
        let gate = Gate()
        let first = Task { try await pool.run { gate.pass() } }
        let second = Task { try await pool.run { gate.pass() } }
        await gate.waitForArrivals(2)
        await #expect(throws: BlockingPoolError.queueFull) { try await pool.run {} }
        gate.open()
        try await first.value
        try await second.value
        for _ in 0..<200 { try await pool.run {} }
    }

    @Test func `runs bodies in the order they came`() async throws {
        let pool = BlockingPool(name: "test", threads: 1, queueLimit: 1000)
        let gate = Gate()
        let seen = Recorder<Int>()
        let blocker = Task { try await pool.run { gate.pass() } }
        await gate.waitForArrivals(1)
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<600 {
            tasks.append(Task { try await pool.run { seen.add(number) } })
            while pool.queued <= number { await Task.yield() }
        }
        gate.open()
        try await blocker.value
        for task in tasks { try await task.value }
        #expect(seen.all == Array(0..<600))
    }

    @Test func `a cancelled caller leaves the queue, and its place is free`() async throws {
        let pool = BlockingPool(name: "test", threads: 1, queueLimit: 1)
        let gate = Gate()
        let ran = Recorder<Bool>()
        let blocker = Task { try await pool.run { gate.pass() } }
        await gate.waitForArrivals(1)
        let waiting = Task { try await pool.run { ran.add(true) } }
        while pool.queued < 1 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let next = Task { try await pool.run { "next" } }
        while pool.queued < 1 { await Task.yield() }
        gate.open()
        try await blocker.value
        #expect(try await next.value == "next")
        #expect(ran.all.isEmpty)
    }

    @Test func `a caller that is cancelled already does not wait`() async {
        let pool = BlockingPool(name: "test", threads: 1, queueLimit: 1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await pool.run {}
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a shutdown refuses what waits and what comes`() async throws {
        let pool = BlockingPool(name: "test", threads: 1, queueLimit: 5)
        let gate = Gate()
        let blocker = Task { try await pool.run { gate.pass() } }
        await gate.waitForArrivals(1)
        let waiting = Task { try await pool.run {} }
        while pool.queued < 1 { await Task.yield() }
        pool.shutdown()
        await #expect(throws: BlockingPoolError.shutDown) { try await waiting.value }
        await #expect(throws: BlockingPoolError.shutDown) { try await pool.run {} }
        gate.open()
        try await blocker.value
    }

    @Test func `a caller on a loop resumes on that loop`() async throws {
        let loop = try EventLoop(name: "test")
        try loop.start()
        let pool = BlockingPool(name: "test", threads: 1, queueLimit: 5)
        let places = try await Task(executorPreference: loop) {
            let inBody = try await pool.run { loop.isCurrent }
            return [inBody, loop.isCurrent]
        }.value
        #expect(places == [false, true])
        await loop.stop()
    }
}

@Suite("A signal source") struct SignalSourceTests {
    @Test func `delivers the signal on its loop and ends when cancelled`() async throws {
        let group = try EventLoopGroup(count: 1)
        let (stream, sink) = AsyncStream.makeStream(of: Int32.self)
        let source = SignalSource(loop: group.loops[0], signals: [SIGUSR1]) { sink.yield($0) }
        await Task(executorPreference: group.loops[0]) {}.value
        kill(getpid(), SIGUSR1)
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == SIGUSR1)
        source.cancel()
        await group.shutdown()
    }
}
