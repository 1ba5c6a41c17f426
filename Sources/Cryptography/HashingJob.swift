import Locking

/// One piece of work for a ``PasswordHashingPool``, with whoever waits for it.
final class HashingJob: Sendable {
    let lane: HashingLane
    private let work: @Sendable () -> Void
    private let giveUp: @Sendable (PasswordHashError) -> Void
    private let wanted: @Sendable () -> Bool

    init<T: Sendable>(
        lane: HashingLane,
        promise: Promise<T>,
        work: @escaping @Sendable () -> Result<T, PasswordHashError>
    ) {
        self.lane = lane
        self.work = { promise.fulfil(work()) }
        giveUp = { promise.fulfil(.failure($0)) }
        wanted = { promise.isPending }
    }

    /// Whether somebody still waits for the result.
    var isWanted: Bool { wanted() }

    func run() { work() }

    func fail(_ error: PasswordHashError) { giveUp(error) }
}

/// A result that is delivered once; whatever comes later is dropped.
final class Promise<T: Sendable>: Sendable {
    typealias Outcome = Result<T, PasswordHashError>

    private enum State {
        case new
        case awaited(CheckedContinuation<Outcome, Never>)
        case early(Outcome)
        case done
    }

    private let state = Monitor(State.new)

    var isPending: Bool {
        state.withLock { state in
            switch state {
            case .new, .awaited: true
            case .early, .done: false
            }
        }
    }

    func fulfil(_ outcome: Outcome) {
        let continuation: CheckedContinuation<Outcome, Never>? = state.withLock { state in
            switch state {
            case .new: state = .early(outcome)
            case .awaited(let continuation):
                state = .done
                return continuation
            case .early, .done: break
            }
            return nil
        }
        continuation?.resume(returning: outcome)
    }

    /// Waits for the outcome; to be called once; `onCancel` runs after the outcome became `cancelled`.
    func outcome(onCancel: @Sendable () -> Void) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early: Outcome? = state.withLock { state in
                    guard case .early(let outcome) = state else {
                        state = .awaited(continuation)
                        return nil
                    }
                    state = .done
                    return outcome
                }
                if let early { continuation.resume(returning: early) }
            }
        } onCancel: {
            fulfil(.failure(.cancelled))
            onCancel()
        }
    }
}
