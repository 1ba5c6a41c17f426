import Locking
#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The bounded queue of a ``PasswordHashingPool`` and the threads that work it off.
final class HashingQueue: Sendable {
    private struct State {
        var waiting: [HashingJob] = []
        var threads = 0
        var idleThreads = 0
        var isShutDown = false
    }

    private let monitor = Monitor(State())
    private let threadLimit: Int
    private let limit: Int

    init(threadLimit: Int, limit: Int) {
        self.threadLimit = max(1, threadLimit)
        self.limit = max(1, limit)
    }

    /// Adds a job at the end, or fails it at once.
    ///
    /// `holdsPlace`: the job's lane has just left the queue, so the limit does not apply to it; the queue
    /// exceeds it by no more than the number of threads.
    func append(_ job: HashingJob, holdsPlace: Bool) {
        var next: HashingJob? = job
        var holdsPlace = holdsPlace
        // A refused job makes room for the next of its lane. A loop, as a lane may be long.
        while let job = next, let error = offer(job, holdsPlace: holdsPlace) {
            job.fail(error)
            next = job.lane.advance()
            holdsPlace = true
        }
    }

    /// Answers why the job was not taken.
    private func offer(_ job: HashingJob, holdsPlace: Bool) -> PasswordHashError? {
        let (error, needsThread): (PasswordHashError?, Bool) = monitor.withLock { state in
            if state.isShutDown { return (.shutDown, false) }
            if state.waiting.count >= limit, !holdsPlace { return (.queueFull, false) }
            state.waiting.append(job)
            // An idle thread may have been woken for an earlier job already.
            guard state.idleThreads < state.waiting.count, state.threads < threadLimit else {
                return (nil, false)
            }
            state.threads += 1
            return (nil, true)
        }
        if error == nil, !needsThread { monitor.wakeOne() }
        if needsThread, !startThread() { threadWasRefused() }
        return error
    }

    /// Takes a job that was cancelled out of the queue, and lets its lane go on.
    func remove(_ job: HashingJob) {
        let wasWaiting = monitor.withLock { state in
            // At most `limit` comparisons, and a cancellation is rare.
            guard let index = state.waiting.firstIndex(where: { $0 === job }) else { return false }
            state.waiting.remove(at: index)
            return true
        }
        if wasWaiting { finish(job) { _ in } }
    }

    var waitingCount: Int { monitor.withLock { $0.waiting.count } }

    /// Fails what waits and everything that comes later; running jobs end normally.
    func shutDown() {
        let abandoned = monitor.withLock { state in
            state.isShutDown = true
            defer { state.waiting = [] }
            return state.waiting
        }
        monitor.wakeAll()
        for job in abandoned { finish(job) { $0.fail(.shutDown) } }
    }

    /// Ends a job in the given way and brings the next one of its lane in.
    private func finish(_ job: HashingJob, _ end: (HashingJob) -> Void) {
        end(job)
        if let next = job.lane.advance() { append(next, holdsPlace: true) }
    }

    // MARK: Threads

    private func serve() {
        lowerPriority()
        while let job = take() {
            finish(job) { if $0.isWanted { $0.run() } }
        }
    }

    /// Waits for a job; `nil` tells the calling thread to end.
    private func take() -> HashingJob? {
        monitor.withLock { $0.idleThreads += 1 }
        return monitor.wait { state -> HashingJob?? in
            guard !state.waiting.isEmpty || state.isShutDown else { return nil }
            // Under the same lock, so that no job that comes now counts on this thread.
            state.idleThreads -= 1
            // Moving at most `limit` references costs nothing next to a hash.
            return .some(state.waiting.isEmpty ? nil : state.waiting.removeFirst())
        }
    }

    private func startThread() -> Bool {
        // SAFETY: the retained object is consumed exactly once, by the thread or by the failure path.
        let box = Unmanaged.passRetained(self)
        #if canImport(Glibc)
            var thread = pthread_t()
            let code = pthread_create(&thread, nil, { run($0) }, box.toOpaque())
            if code == 0 { pthread_detach(thread) }
        #else
            var thread: pthread_t?
            let code = pthread_create(&thread, nil, { run($0) }, box.toOpaque())
            if code == 0, let thread { pthread_detach(thread) }
        #endif
        if code != 0 { box.release() }
        return code == 0

        func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let argument else { return nil }
            Unmanaged<HashingQueue>.fromOpaque(argument).takeRetainedValue().serve()
            return nil
        }
    }

    private func threadWasRefused() {
        // Other threads will do what waits; without any, nobody would.
        let abandoned: [HashingJob] = monitor.withLock { state in
            state.threads -= 1
            guard state.threads == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for job in abandoned { job.fail(.failed) }
        for job in abandoned { finish(job) { _ in } }
    }

    /// Makes the event loops win when processors are scarce.
    private func lowerPriority() {
        #if canImport(Glibc)
            // On Linux this is about the calling thread only.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 5)
        #else
            _ = pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0)
        #endif
    }
}
