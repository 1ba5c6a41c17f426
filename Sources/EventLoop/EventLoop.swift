import CEventLoop
import Locking
import Synchronization

/// One thread that waits for sockets, timers and jobs, and is a task executor.
///
/// `Task(executorPreference: loop) { … }` runs on the loop's thread, so a handler that does not leave it costs
/// no thread switch. Whatever runs here must not block: use a ``BlockingPool`` for that.
package final class EventLoop: TaskExecutor {
    enum Work {
        case job(UnownedJob)
        case closure(@Sendable () -> Void)
    }

    private struct Inbox {
        var work: [Work] = []
        var isWakePending = false
        var isStopped = false
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private enum Phase { case made, running, stopping }

    /// How many jobs run before the loop has looked at all its sockets again.
    ///
    /// Counted over all callbacks until the next idle one: were it for each callback, clients that pipeline
    /// without reading would multiply it by their number.
    private static let jobsPerTurn = 512

    package let name: String
    private let inbox = Locked(Inbox())
    private let phase = Locked(Phase.made)
    // SAFETY: Set once in `init`, freed in `deinit`; used on the loop's thread only, but for `cel_loop_wake`,
    // which libuv allows from any thread and which is called under the inbox lock while the loop lives.
    nonisolated(unsafe) private(set) var handle: OpaquePointer
    // SAFETY: Touched on the loop's thread only.
    nonisolated(unsafe) private var local: [Work] = []
    nonisolated(unsafe) private var draining: [Work] = []
    nonisolated(unsafe) private var isDraining = false
    nonisolated(unsafe) private var isIdleOn = false
    nonisolated(unsafe) private var jobsLeft = jobsPerTurn
    // SAFETY: touched on the loop's own thread only.
    nonisolated(unsafe) private var timers = TimerQueue()
    private let cancelledTimers = CancelledTimers()

    /// Makes a loop; ``start()`` gives it its thread.
    ///
    /// - Throws: ``EventLoopError`` when the system is out of descriptors or memory.
    package init(name: String) throws(EventLoopError) {
        self.name = name
        // A stand-in until `self` may be passed on.
        handle = OpaquePointer(EventLoopCallbacks.table)
        var made: OpaquePointer?
        let code = cel_loop_make(&made, Unmanaged.passUnretained(self).toOpaque(), EventLoopCallbacks.table)
        guard code == 0, let made else {
            phase.withLock { $0 = .stopping }
            inbox.withLock { $0.isStopped = true }
            handleIsMissing.store(true, ordering: .relaxed)
            throw EventLoopError(code: code, operation: "make event loop \(name)")
        }
        handle = made
    }

    private let handleIsMissing = Atomic(false)

    deinit {
        guard !handleIsMissing.load(ordering: .relaxed) else { return }
        cel_loop_free(handle, phase.withLock { $0 == .made } ? 0 : 1)
    }

    /// Starts the thread; a second call does nothing.
    ///
    /// - Throws: ``EventLoopError`` when the system gives no thread.
    package func start() throws(EventLoopError) {
        let isFirst = phase.withLock { phase in
            defer { if phase == .made { phase = .running } }
            return phase == .made
        }
        guard isFirst else { return }
        let owner = Unmanaged.passRetained(self)
        let code = cel_loop_start(handle, name)
        guard code == 0 else {
            owner.release()
            phase.withLock { $0 = .made }
            throw EventLoopError(code: code, operation: "start event loop \(name)")
        }
    }

    /// Closes every socket and timer of the loop and returns when its thread has nothing left to do.
    ///
    /// Work that is handed to a stopped loop runs on Swift's global pool, so no task is lost; scheduled work is dropped. May be called from
    /// anywhere, also from a task on this loop, and more than once.
    package func stop() async {
        let wasRunning = phase.withLock { phase in
            defer { if phase == .running { phase = .stopping } }
            return phase
        }
        guard wasRunning != .made else { return }
        if wasRunning == .running { execute { [self] in cel_loop_stop(handle) } }
        await withCheckedContinuation { continuation in
            let isOver = inbox.withLock { inbox in
                if !inbox.isStopped { inbox.stopWaiters.append(continuation) }
                return inbox.isStopped
            }
            if isOver { continuation.resume() }
        }
    }

    /// Whether the caller is on this loop's thread.
    package var isCurrent: Bool { cel_current() == Unmanaged.passUnretained(self).toOpaque() }

    /// The loop whose thread the caller is on.
    package static var current: EventLoop? {
        cel_current().map { Unmanaged<EventLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Milliseconds of a clock that only goes forward, read once per turn, on the loop's thread only.
    package var now: UInt64 { cel_loop_now(handle) }

    /// Milliseconds of the same clock, read now, on any thread.
    package static var monotonicMilliseconds: UInt64 { cel_monotonic_ms() }

    /// Runs `work` on the loop's thread, after what was handed in before from the same thread.
    package func execute(_ work: @escaping @Sendable () -> Void) { hand(.closure(work)) }

    package func enqueue(_ job: consuming ExecutorJob) { hand(.job(UnownedJob(job))) }

    /// Runs `work` on the loop's thread after at least `delay`, rounded up to milliseconds.
    @discardableResult
    package func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledWork {
        let due = cel_monotonic_ms() &+ delay.wholeMilliseconds
        let scheduled = ScheduledWork(due: due, work: work, cancelledTimers: cancelledTimers)
        if isCurrent { insert(scheduled) } else { execute { [self] in insert(scheduled) } }
        return scheduled
    }

    // MARK: - Jobs

    private func hand(_ work: Work) {
        if isCurrent {
            local.append(work)
            // Outside of a callback of ours (never seen today) nobody would come by to run it.
            if !isDraining { turnOnIdle() }
            return
        }
        let isStopped = inbox.withLock { inbox in
            if inbox.isStopped { return true }
            inbox.work.append(work)
            if !inbox.isWakePending {
                inbox.isWakePending = true
                cel_loop_wake(handle)
            }
            return false
        }
        if isStopped { runElsewhere(work) }
    }

    private func runElsewhere(_ work: Work) {
        let executor = asUnownedTaskExecutor()
        Task.detached { [self] in
            Self.run(work, on: executor)
            withExtendedLifetime(self) {}
        }
    }

    private static func run(_ work: Work, on executor: UnownedTaskExecutor) {
        switch work {
        case .job(let job): unsafe_run(job, executor)
        case .closure(let closure): closure()
        }
    }

    private static func unsafe_run(_ job: UnownedJob, _ executor: UnownedTaskExecutor) {
        job.runSynchronously(on: executor)
    }

    /// Runs `body` as a callback of the loop, then the jobs it caused.
    @inline(__always)
    func turn(_ body: () -> Void) {
        isDraining = true
        body()
        drain()
        isDraining = false
    }

    private func drain() {
        let executor = asUnownedTaskExecutor()
        while !local.isEmpty, jobsLeft > 0 {
            // Two arrays take turns, so that their storage is kept.
            swap(&local, &draining)
            jobsLeft -= draining.count
            for work in draining { Self.run(work, on: executor) }
            draining.removeAll(keepingCapacity: draining.count <= 4096)
        }
        if !local.isEmpty { turnOnIdle() }
    }

    private func turnOnIdle() {
        guard !isIdleOn else { return }
        isIdleOn = true
        cel_loop_set_idle(handle, 1)
    }

    // MARK: - Callbacks of the C loop

    func didWake() {
        turn {
            inbox.withLock { inbox in
                inbox.isWakePending = false
                if local.isEmpty { swap(&local, &inbox.work) } else { local += inbox.work }
                inbox.work.removeAll(keepingCapacity: true)
            }
        }
    }

    func didIdle() {
        turn {
            isIdleOn = false
            jobsLeft = Self.jobsPerTurn
            cel_loop_set_idle(handle, 0)
        }
    }

    func didReachTimer() {
        turn {
            let now = cel_monotonic_ms()
            while let work = timers.popDue(at: now) { work.run() }
            armTimer()
        }
    }

    func didStop() {
        let (rest, waiters) = inbox.withLock { inbox in
            inbox.isStopped = true
            defer {
                inbox.work = []
                inbox.stopWaiters = []
            }
            return (local + inbox.work, inbox.stopWaiters)
        }
        cel_loop_close(handle)
        local = []
        timers = TimerQueue()
        for work in rest { runElsewhere(work) }
        for waiter in waiters { waiter.resume() }
        Unmanaged.passUnretained(self).release()
    }

    // MARK: - Timers

    private func insert(_ work: ScheduledWork) {
        let cancelled = cancelledTimers.count
        if cancelled > 64, cancelled > timers.count / 2 {
            timers.removeCancelled()
            cancelledTimers.forget(cancelled)
        }
        timers.insert(work)
        if timers.first === work { armTimer() }
    }

    private func armTimer() {
        guard let first = timers.first else { return }
        cel_loop_update_time(handle)
        let now = cel_monotonic_ms()
        cel_loop_set_timer(handle, first.due > now ? first.due - now : 0)
    }
}

extension Duration {
    /// Milliseconds, rounded up; 0 for a negative duration.
    package var wholeMilliseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return UInt64(seconds) &* 1000 &+ UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
