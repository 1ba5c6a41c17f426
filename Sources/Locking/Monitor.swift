#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A value behind a lock on which threads can also wait for a change.
///
/// Made of POSIX parts because the thread sanitizer does not understand `Synchronization.Mutex` on Linux.
// SAFETY: the state is touched only between lock and unlock; the C objects never move.
package final class Monitor<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    package init(_ state: sending State) {
        self.state = state
        // A zero-filled object is what the static initialisers give; neither call can fail without attributes.
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` while no other thread is in here.
    package func withLock<R>(_ body: (inout State) throws -> R) rethrows -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Runs `body` under the lock, again after each ``wakeAll()`` or ``wakeOne()``, until it gives a result.
    ///
    /// `timeout`: after this time without a result, `expired` decides.
    package func wait<R>(
        timeout: Duration? = nil,
        expired: (inout State) -> R? = { _ in nil },
        _ body: (inout State) -> R?
    )
        -> R
    {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        var deadline = timeout.map { timespec(after: $0) }
        while true {
            if let result = body(&state) { return result }
            guard var end = deadline else {
                pthread_cond_wait(condition, mutex)
                continue
            }
            if pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT {
                if let result = body(&state) ?? expired(&state) { return result }
                deadline = timeout.map { timespec(after: $0) }
            }
        }
    }

    /// Wakes one thread that waits.
    package func wakeOne() { pthread_cond_signal(condition) }

    /// Wakes all threads that wait.
    package func wakeAll() { pthread_cond_broadcast(condition) }
}

/// The wall-clock time `pthread_cond_timedwait` takes: now and a duration.
private func timespec(after duration: Duration) -> timespec {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let (seconds, attoseconds) = duration.components
    let nanoseconds = now.tv_nsec + Int(attoseconds / 1_000_000_000)
    return timespec(
        tv_sec: now.tv_sec + Int(seconds) + nanoseconds / 1_000_000_000,
        tv_nsec: nanoseconds % 1_000_000_000
    )
}
