import Locking

/// Lets a checkpoint that needs the write lock in between two groups of writes, without polling.
final class WriteGate: Sendable {
    private struct State {
        var isInside = false
        var isPaused = false
    }

    private let monitor = Monitor(State())

    /// Waits while paused, then marks the writer as inside.
    func enter() {
        monitor.wait { state -> Void? in
            guard !state.isPaused else { return nil }
            state.isInside = true
            return ()
        }
    }

    func leave() {
        monitor.withLock { $0.isInside = false }
        monitor.wakeAll()
    }

    /// Runs `body` while the writer is outside and kept there.
    func whilePaused<R>(_ body: () -> R) -> R {
        monitor.withLock { $0.isPaused = true }
        monitor.wait { state -> Void? in state.isInside ? nil : .some(()) }
        defer {
            monitor.withLock { $0.isPaused = false }
            monitor.wakeAll()
        }
        return body()
    }
}
