import EventLoop
import Synchronization
import Testing

@Suite("An event loop") struct EventLoopTests {
    private func withLoop(_ body: (EventLoop) async throws -> Void) async throws {
        let loop = try EventLoop(name: "test")
        try loop.start()
        try await body(loop)
        await loop.stop()
    }

    @Test func `a task that prefers the loop runs on its thread before and after a suspension`() async throws
    {
        try await withLoop { loop in
            let places = await Task(executorPreference: loop) {
                let before = loop.isCurrent
                await Task.detached {}.value
                await Task.yield()
                return [before, loop.isCurrent, EventLoop.current === loop]
            }.value
            #expect(places == [true, true, true])
            #expect(!loop.isCurrent)
            #expect(EventLoop.current == nil)
        }
    }

    @Test func `work handed in from one thread runs in order`() async throws {
        try await withLoop { loop in
            let seen = Recorder<Int>()
            for number in 0..<10_000 { loop.execute { seen.add(number) } }
            await Task(executorPreference: loop) {}.value
            #expect(seen.all == Array(0..<10_000))
        }
    }

    @Test func `work handed in from many threads all runs`() async throws {
        try await withLoop { loop in
            let count = Counter()
            await withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<5_000 { loop.execute { count.increment() } }
                    }
                }
            }
            await Task(executorPreference: loop) {}.value
            #expect(count.value == 40_000)
        }
    }

    @Test func `jobs that breed jobs do not starve timers`() async throws {
        try await withLoop { loop in
            let isOver = Counter()
            @Sendable func breed() {
                guard isOver.value == 0 else { return }
                loop.execute(breed)
            }
            loop.execute(breed)
            await withCheckedContinuation { continuation in
                loop.schedule(after: .milliseconds(20)) { continuation.resume() }
            }
            isOver.increment()
        }
    }

    @Test func `timers fire in the order of their times`() async throws {
        try await withLoop { loop in
            let (stream, sink) = AsyncStream.makeStream(of: Int.self)
            for delay in [300, 100, 200, 0] {
                loop.schedule(after: .milliseconds(delay)) { sink.yield(delay) }
            }
            var seen: [Int] = []
            for await delay in stream {
                seen.append(delay)
                if seen.count == 4 { break }
            }
            #expect(seen == [0, 100, 200, 300])
        }
    }

    @Test func `cancelled work does not run, the rest does`() async throws {
        try await withLoop { loop in
            let ran = Recorder<Int>()
            // In one turn of the loop, so that none can fire before it is cancelled.
            await Task(executorPreference: loop) {
                let works = (0..<500).map { number in
                    loop.schedule(after: .milliseconds(30)) { ran.add(number) }
                }
                for (number, work) in works.enumerated() where number % 100 != 0 { work.cancel() }
            }.value
            await withCheckedContinuation { continuation in
                loop.schedule(after: .milliseconds(40)) { continuation.resume() }
            }
            #expect(ran.all == [0, 100, 200, 300, 400])
        }
    }

    @Test func `a stopped loop still runs what it is handed, elsewhere`() async throws {
        let loop = try EventLoop(name: "test")
        try loop.start()
        await loop.stop()
        await loop.stop()
        let isOnLoop = await Task(executorPreference: loop) { loop.isCurrent }.value
        #expect(!isOnLoop)
    }

    @Test func `a task on the loop may stop it`() async throws {
        let loop = try EventLoop(name: "test")
        try loop.start()
        await Task(executorPreference: loop) { await loop.stop() }.value
    }

    @Test func `a loop that is never started can be dropped`() throws {
        _ = try EventLoop(name: "test")
    }

    @Test func `a group deals its loops in turn`() async throws {
        let group = try EventLoopGroup(count: 3)
        let names = (0..<6).map { _ in group.next().name }
        #expect(names == ["loop-0", "loop-1", "loop-2", "loop-0", "loop-1", "loop-2"])
        await group.shutdown()
    }
}

/// Counts from any thread.
private final class Counter: Sendable {
    private let count = Atomic(0)

    func increment() { count.add(1, ordering: .relaxed) }
    var value: Int { count.load(ordering: .relaxed) }
}

@Suite("A duration in milliseconds") struct DurationTests {
    @Test(
        arguments: [
            (Duration.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1001), 2),
            (.seconds(75), 75_000), (.seconds(-1), 0), (.nanoseconds(-1), 0),
        ] as [(Duration, UInt64)]
    )
    func `is rounded up and never negative`(duration: Duration, milliseconds: UInt64) {
        #expect(duration.wholeMilliseconds == milliseconds)
    }
}
