import CEventLoop
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Why a ``BlockingPool`` did not run a body.
package enum BlockingPoolError: Error, Sendable, Equatable {
    /// As many bodies wait as the pool allows.
    case queueFull
    /// ``BlockingPool/shutdown()`` was called.
    case shutDown
}

/// Threads for work that would block or keep a loop busy: password hashes, files, name resolution.
///
/// First come, first served, with a bounded queue: one too many is refused at once instead of waiting.
package final class BlockingPool: Sendable {
    private let core: Core

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - name: Of the threads, with a number.
    ///   - threads: At least 1.
    ///   - queueLimit: How many bodies may wait while all threads are busy; 0 or more.
    ///   - niceness: Added to the threads' priority where the system can do that for a thread (Linux): 0…19.
    package init(name: String, threads: Int, queueLimit: Int, niceness: Int32 = 0) {
        precondition(threads > 0 && queueLimit >= 0, "a pool has a thread and no negative queue")
        core = Core(threads: threads, queueLimit: queueLimit)
        for index in 0..<threads { core.startThread(name: "\(name)-\(index)", niceness: niceness) }
    }

    deinit { core.stop() }

    /// Bodies that wait for a thread now.
    package var queued: Int { core.queued }

    /// Runs `body` on a thread of the pool and resumes where the caller runs.
    ///
    /// A caller that is cancelled while its body waits leaves the queue; one that has begun runs to its end.
    ///
    /// - Throws: ``BlockingPoolError`` when the queue is full or the pool shut down, `CancellationError` when
    ///   cancelled before the body began, or what the body throws.
    package func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        let ticket = core.makeTicket()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<T, any Error>) in
                core.submit(
                    Job(ticket: ticket) {
                        let result = Result { try body() }
                        return { continuation.resume(with: result) }
                    } refuse: {
                        continuation.resume(throwing: $0)
                    }
                )
            }
        } onCancel: {
            core.cancel(ticket)
        }
    }

    /// Refuses new and waiting bodies; those that run end by themselves.
    package func shutdown() { core.stop() }
}

extension BlockingPool {
    /// One body; exactly one of `run` and `refuse` is called, once.
    fileprivate struct Job: Sendable {
        let ticket: UInt64
        /// Runs the body and returns what tells the caller, for when the thread counts as free again.
        let run: @Sendable () -> @Sendable () -> Void
        let refuse: @Sendable (any Error) -> Void
    }

    /// What threads and callers share. Threads keep it alive, not the pool.
    // SAFETY: Everything mutable is guarded by `lock`.
    fileprivate final class Core: @unchecked Sendable {
        private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let wake = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        private let threads: Int
        private let queueLimit: Int
        private var queue: [Job] = []
        private var head = 0
        private var busy = 0
        private var isStopped = false
        private let tickets = Atomic<UInt64>(0)

        init(threads: Int, queueLimit: Int) {
            self.threads = threads
            self.queueLimit = queueLimit
            pthread_mutex_init(lock, nil)
            pthread_cond_init(wake, nil)
        }

        deinit {
            pthread_cond_destroy(wake)
            pthread_mutex_destroy(lock)
            wake.deallocate()
            lock.deallocate()
        }

        private func locked<R>(_ body: () -> R) -> R {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return body()
        }

        private var waiting: Int { queue.count - head }
        var queued: Int { locked { waiting } }

        func makeTicket() -> UInt64 { tickets.wrappingAdd(1, ordering: .relaxed).newValue }

        func submit(_ job: Job) {
            let refusal: (any Error)? = locked {
                if isStopped { return BlockingPoolError.shutDown }
                if Task.isCancelled { return CancellationError() }
                // A body that a free thread is about to take does not count as waiting.
                if waiting >= queueLimit + max(0, threads - busy) { return BlockingPoolError.queueFull }
                queue.append(job)
                pthread_cond_signal(wake)
                return nil
            }
            if let refusal { job.refuse(refusal) }
        }

        func cancel(_ ticket: UInt64) {
            let job: Job? = locked {
                guard let index = queue[head...].firstIndex(where: { $0.ticket == ticket }) else {
                    return nil
                }
                return queue.remove(at: index)
            }
            job?.refuse(CancellationError())
        }

        func stop() {
            let rest: [Job] = locked {
                isStopped = true
                defer {
                    queue = []
                    head = 0
                }
                pthread_cond_broadcast(wake)
                return Array(queue[head...])
            }
            for job in rest { job.refuse(BlockingPoolError.shutDown) }
        }

        func startThread(name: String, niceness: Int32) {
            let start = ThreadStart(core: self, name: name, niceness: niceness)
            let argument = Unmanaged.passRetained(start)
            var attributes = pthread_attr_t()
            pthread_attr_init(&attributes)
            pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
            #if canImport(Glibc)
                var thread = pthread_t()
            #else
                var thread: pthread_t?
            #endif
            let code = pthread_create(&thread, &attributes, { ThreadStart.main($0) }, argument.toOpaque())
            pthread_attr_destroy(&attributes)
            precondition(code == 0, "the system gives no thread for a blocking pool")
        }

        func work() {
            while let job = next() {
                let tell = job.run()
                locked { busy -= 1 }
                tell()
            }
        }

        private func next() -> Job? {
            locked {
                while waiting == 0, !isStopped { pthread_cond_wait(wake, lock) }
                guard waiting > 0 else { return nil }
                let job = queue[head]
                head += 1
                // Giving the front back now and then keeps both ends cheap.
                if head == queue.count || head > 256 {
                    queue.removeFirst(head)
                    head = 0
                }
                busy += 1
                return job
            }
        }
    }

    private final class ThreadStart {
        let core: Core
        let name: String
        let niceness: Int32

        init(core: Core, name: String, niceness: Int32) {
            self.core = core
            self.name = name
            self.niceness = niceness
        }

        static func main(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let argument else { return nil }
            let start = Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
            cel_set_thread_name(start.name)
            if start.niceness != 0 { cel_set_thread_niceness(start.niceness) }
            start.core.work()
            return nil
        }
    }
}
