import Locking

/// Operations waiting for a bounded number of threads, which start when there is work and end when idle.
final class WorkQueue: Sendable {
    private struct State {
        var waiting: FIFO<PendingOperation> = FIFO()
        var threads = 0
        var idleThreads = 0
        var isClosed = false
    }

    private let monitor = Monitor(State())
    private let limit: Int
    private let threadLimit: Int
    private let idleTimeout: Duration

    init(limit: Int, threadLimit: Int, idleTimeout: Duration) {
        self.limit = limit
        self.threadLimit = threadLimit
        self.idleTimeout = idleTimeout
    }

    /// Queues the operation, or fails it at once when the queue is full or closed.
    ///
    /// `serve`: what a new thread runs, if one is started for this operation.
    func append(_ operation: PendingOperation, serve: @escaping @Sendable () -> Void) {
        enum Outcome { case queued, wake, start, refused(SQLiteError) }
        let outcome = monitor.withLock { state in
            if state.isClosed { return Outcome.refused(.closed) }
            if state.waiting.count >= limit { return .refused(.queueFull) }
            state.waiting.append(operation)
            // An idle thread may have been woken for an earlier one already.
            if state.idleThreads >= state.waiting.count { return .wake }
            guard state.threads < threadLimit else { return state.idleThreads > 0 ? .wake : .queued }
            state.threads += 1
            return .start
        }
        switch outcome {
        case .queued: break
        case .wake: monitor.wakeOne()
        case .refused(let error): operation.fail(error)
        case .start:
            if !startThread({ [self] in run(serve) }) { threadWasRefused() }
        }
    }

    /// Waits for operations and takes up to `count`; `nil` tells the calling thread to end.
    func take(upTo count: Int) -> [PendingOperation]? {
        monitor.withLock { $0.idleThreads += 1 }
        // Stops being idle under the same lock that gives it the work: otherwise an operation that comes
        // between would count on this thread, and wait for it while another could start.
        return monitor.wait(
            timeout: idleTimeout,
            expired: { state in
                state.idleThreads -= 1
                return .some(nil)
            },
            { state in
                guard !state.waiting.isEmpty || state.isClosed else { return nil }
                state.idleThreads -= 1
                return .some(state.waiting.isEmpty ? nil : state.waiting.removeFirst(upTo: count))
            }
        )
    }

    /// Takes one operation if there is one now.
    func takeWithoutWaiting() -> PendingOperation? {
        monitor.withLock { $0.waiting.removeFirst(upTo: 1).first }
    }

    var waitingCount: Int { monitor.withLock { $0.waiting.count } }

    /// Refuses new operations; those that wait are still done.
    func close() {
        monitor.withLock { $0.isClosed = true }
        monitor.wakeAll()
    }

    /// Waits until the queue, which was closed, is empty and its threads have ended.
    func waitUntilFinished() {
        monitor.wait { state -> Void? in state.threads == 0 && state.waiting.isEmpty ? .some(()) : nil }
    }

    private func run(_ serve: @Sendable () -> Void) {
        while true {
            serve()
            // An operation may have come between the last look and now, and counted on this thread.
            let mayEnd = monitor.withLock { state in
                guard state.waiting.isEmpty else { return false }
                state.threads -= 1
                return true
            }
            if mayEnd { break }
        }
        monitor.wakeAll()
    }

    private func threadWasRefused() {
        // Other threads will do what waits; without any, nobody would.
        let abandoned = monitor.withLock { state in
            state.threads -= 1
            return state.threads == 0 ? state.waiting.removeFirst(upTo: .max) : []
        }
        for operation in abandoned { operation.fail(SQLiteError.noThread) }
        monitor.wakeAll()
    }
}

/// A first-in, first-out list that does not move its elements on each removal.
struct FIFO<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func removeFirst(upTo limit: Int) -> [Element] {
        let taken = min(limit, count)
        var result: [Element] = []
        result.reserveCapacity(taken)
        for index in head..<head + taken {
            if let element = elements[index] { result.append(element) }
            elements[index] = nil
        }
        head += taken
        if head == elements.count {
            elements.removeAll(keepingCapacity: elements.count <= 1024)
            head = 0
        } else if head >= 256, head * 2 >= elements.count {
            // Half of the storage is spent: moving the rest costs less than it took to get here.
            elements.removeFirst(head)
            head = 0
        }
        return result
    }
}
