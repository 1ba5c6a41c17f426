#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A value that one thread at a time reaches.
///
/// For short sections that never wait for anything. A POSIX mutex, because the thread sanitizer does not
/// understand `Synchronization.Mutex` on Linux and every race it then reports would have to be argued away.
// SAFETY: the state is touched only between lock and unlock; the C object never moves.
package final class Locked<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var state: State

    package init(_ state: sending State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` while no other thread is in here.
    package func withLock<R>(_ body: (inout State) throws -> R) rethrows -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
