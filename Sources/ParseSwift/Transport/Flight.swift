import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One call under way: it ends exactly once, by an answer, by cancellation or by its deadline.
///
/// An answer must be *claimed* before it changes anything. After that the call can no longer be cancelled,
/// so a caller who is told "cancelled" knows that the SDK's own state was not touched.
final class Flight: @unchecked Sendable {
    // SAFETY: all mutable state is behind `lock`.
    private enum State {
        case idle
        case flying
        case claimed
        case ended
    }

    private let lock = NSLock()
    private var state = State.idle
    private var abort: (@Sendable (ParseError) -> Void)?
    private var early: ParseError?
    private var task: URLSessionTask?
    private var deadline: DispatchWorkItem?

    // The open-source Foundation takes a lock of its own when a task is cancelled, and a Swift task's
    // cancellation handler runs under another; together they can lock each other out.
    private static let cancelQueue = DispatchQueue(label: "ParseSwift.cancel")

    /// Starts the flight; `abort` is called at most once, with the reason, if it is ended from outside.
    ///
    /// - Returns: `false` when it was ended before it began; `abort` has then been called.
    func begin(abort: @escaping @Sendable (ParseError) -> Void) -> Bool {
        lock.lock()
        if let early {
            lock.unlock()
            abort(early)
            return false
        }
        state = .flying
        self.abort = abort
        lock.unlock()
        return true
    }

    /// Takes the right to finish; `false` when the flight was ended before.
    func claim() -> Bool {
        lock.lock()
        defer { lock.unlock() }
        guard state == .flying else { return false }
        state = .claimed
        abort = nil
        task = nil
        deadline?.cancel()
        deadline = nil
        return true
    }

    var isFlying: Bool {
        lock.lock()
        defer { lock.unlock() }
        return state == .flying
    }

    /// Notes the network task, to be cancelled with the flight.
    func attach(_ task: URLSessionTask) {
        lock.lock()
        let late = state == .ended
        if !late { self.task = task }
        lock.unlock()
        if late { Self.cancelQueue.async { task.cancel() } }
    }

    /// Ends the flight when it is still under way after that many seconds.
    func limit(seconds: TimeInterval, on queue: DispatchQueue, reason: ParseError) {
        let item = DispatchWorkItem { [weak self] in self?.end(reason) }
        lock.lock()
        deadline = item
        lock.unlock()
        queue.asyncAfter(deadline: .now() + seconds, execute: item)
    }

    /// Ends the flight from outside; without effect once an answer was claimed.
    func end(_ reason: ParseError) {
        lock.lock()
        switch state {
        case .idle:
            early = reason
            state = .ended
            lock.unlock()
        case .flying:
            state = .ended
            let abort = abort
            let task = task
            self.abort = nil
            self.task = nil
            deadline?.cancel()
            deadline = nil
            lock.unlock()
            Self.cancelQueue.async {
                task?.cancel()
                abort?(reason)
            }
        case .claimed, .ended:
            lock.unlock()
        }
    }
}
