#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A value behind a lock on which threads can also wait for a change.
///
/// Made of POSIX parts because the thread sanitizer does not understand `Synchronization.Mutex` on Linux.
// SAFETY: the state is touched only between lock and unlock; the C objects never move.
final class Monitor<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    init(_ state: sending State) {
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

    func withLock<R>(_ body: (inout State) -> R) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state)
    }

    /// Runs `body` under the lock, again after each wake-up, until it gives a result.
    func wait<R>(_ body: (inout State) -> R?) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            pthread_cond_wait(condition, mutex)
        }
    }

    func wakeOne() { pthread_cond_signal(condition) }

    func wakeAll() { pthread_cond_broadcast(condition) }
}
