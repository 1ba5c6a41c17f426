#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Hashes passwords on threads of its own, of low priority, with a bounded and fair queue.
///
/// Threads start at the first job. A pool that is let go shuts itself down.
package final class PasswordHashingPool: Sendable {
    /// What ``hash(_:lane:algorithm:)`` uses unless told otherwise, and whose cost an unknown user has.
    package let algorithm: PasswordAlgorithm
    private let queue: HashingQueue

    /// Makes a pool.
    ///
    /// - Parameters:
    ///   - threads: How many hashes are computed at the same time; one processor stays free by default.
    ///   - queueLimit: How many jobs wait for a thread; one more is refused at once.
    ///   - algorithm: For new hashes.
    package init(
        threads: Int = PasswordHashingPool.defaultThreads,
        queueLimit: Int = 1024,
        algorithm: PasswordAlgorithm = .standard
    ) {
        self.algorithm = algorithm
        queue = HashingQueue(threadLimit: threads, limit: queueLimit)
    }

    deinit { queue.shutDown() }

    package static var defaultThreads: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1) }

    /// A new hash of the password, see ``PasswordHash/make(_:_:)``.
    package func hash(
        _ password: String,
        lane: HashingLane,
        algorithm: PasswordAlgorithm? = nil
    ) async throws(PasswordHashError) -> String {
        let algorithm = algorithm ?? self.algorithm
        return try await perform(lane: lane) {
            Result { () throws(PasswordHashError) in try PasswordHash.make(password, algorithm) }
        }
    }

    /// Whether the password fits the stored hash.
    ///
    /// Without a hash (no such user, or one without a password), and for a hash that cannot be checked,
    /// this costs as much as a real check with the pool's algorithm, and is `false`: the time does not
    /// tell whether a user exists.
    package func verify(
        _ password: String,
        against encoded: String?,
        lane: HashingLane
    ) async throws(PasswordHashError) -> Bool {
        let algorithm = algorithm
        return try await perform(lane: lane) {
            .success(PasswordHash.verify(password, against: encoded, sameCostAs: algorithm))
        }
    }

    /// How many jobs wait for a thread; those that wait in their lanes are not counted.
    package var waitingCount: Int { queue.waitingCount }

    /// Refuses what waits and whatever comes later with ``PasswordHashError/shutDown``.
    package func shutdown() { queue.shutDown() }

    /// Runs `work` when the lane and a thread are free.
    func perform<T: Sendable>(
        lane: HashingLane,
        _ work: @escaping @Sendable () -> Result<T, PasswordHashError>
    ) async throws(PasswordHashError) -> T {
        guard !Task.isCancelled else { throw .cancelled }
        let promise = Promise<T>()
        let job = HashingJob(lane: lane, promise: promise, work: work)
        switch lane.admit(job) {
        case .first: queue.append(job, holdsPlace: false)
        case .waits: break
        case .full: throw .queueFull
        }
        return try await promise.outcome { queue.remove(job) }.get()
    }
}
