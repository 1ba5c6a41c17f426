import Locking

/// A caller's place in a ``PasswordHashingPool``: one for each request or connection.
///
/// At most one job of a lane waits in the pool's queue or runs; the others wait in the lane, first come,
/// first served. So a batch of 300 log-ins delays another caller by one hash, not by 300.
package final class HashingLane: Sendable {
    private struct State {
        var isBusy = false
        /// The next job is the last element.
        var waiting: [HashingJob] = []
        /// Jobs that came after `waiting` was filled, in order of arrival.
        var arrived: [HashingJob] = []
    }

    private let state = Monitor(State())
    private let limit: Int

    /// `limit`: how many jobs may wait in the lane; one more is refused with ``PasswordHashError/queueFull``.
    package init(limit: Int = 10_000) {
        self.limit = limit
    }

    /// How many jobs wait in the lane.
    var waitingCount: Int { state.withLock { $0.waiting.count + $0.arrived.count } }

    enum Admission { case first, waits, full }

    /// Takes the lane for a job, or makes the job wait.
    func admit(_ job: HashingJob) -> Admission {
        state.withLock { state in
            guard state.isBusy else {
                state.isBusy = true
                return .first
            }
            guard state.waiting.count + state.arrived.count < limit else { return .full }
            state.arrived.append(job)
            return .waits
        }
    }

    /// Gives the lane to the next job somebody still waits for, or frees it.
    func advance() -> HashingJob? {
        state.withLock { state in
            while true {
                if state.waiting.isEmpty {
                    state.waiting = state.arrived.reversed()
                    state.arrived = []
                }
                guard let job = state.waiting.popLast() else {
                    state.isBusy = false
                    return nil
                }
                if job.isWanted { return job }
            }
        }
    }
}
