import Locking
import Dispatch
import Foundation

/// A piece of work that can be run in each of the three forms.
///
/// The work itself is written with callbacks, so that the synchronous form needs no thread of Swift's
/// concurrency pool (which a blocked caller may be using up) and the asynchronous form blocks none.
struct Call<Value: Sendable>: Sendable {
    /// Starts the work.
    ///
    /// `finish` is called exactly once, on a queue of the module.
    let start: @Sendable (Flight, _ finish: @escaping @Sendable (Result<Value, ParseError>) -> Void) -> Void

    /// The synchronous form: blocks the calling thread, which may be the main one.
    func wait() throws -> Value {
        guard !ParseClient.isOnStateQueue else {
            throw ParseError(
                code: .otherCause,
                message: "A synchronous call cannot be made while an object is being decoded or encoded."
            )
        }
        let done = DispatchSemaphore(value: 0)
        let box = Locked<Result<Value, ParseError>?>(nil)
        start(Flight()) { result in
            box.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        guard let result = box.withLock({ $0 }) else { throw ParseError.cancelled }
        return try result.get()
    }

    /// The completion form: returns at once and calls back on `queue`.
    func deliver(on queue: DispatchQueue, _ completion: @escaping (Result<Value, ParseError>) -> Void) {
        // SAFETY: the closure is stored, handed on and called once; it runs on the queue its owner chose,
        // never beside the code that made it. It is not `@Sendable` in the signature because a closure of
        // a `@MainActor` class then could not touch its own class.
        let box = UncheckedBox(completion)
        start(Flight()) { result in
            queue.async { box.value(result) }
        }
    }

    /// The asynchronous form; cancelling the task ends the request.
    func value() async throws -> Value {
        let flight = Flight()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                start(flight) { result in
                    continuation.resume(with: result.mapError { $0 as any Error })
                }
            }
        } onCancel: {
            flight.end(.cancelled)
        }
    }
}
