import Synchronization

/// A call waiting for a database thread, without its result type.
// SAFETY: after it was queued, only the thread that took it touches its state, and the queue's lock orders
// that after its creation. `cancelled` is atomic.
class PendingOperation: @unchecked Sendable {
    private let cancelled = Atomic(false)

    /// The caller no longer wants the result.
    final var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    final func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Runs the body, keeps its result and answers the error it ended with; may be repeated.
    func perform(_ connection: SQLiteConnection) -> (any Error)? {
        preconditionFailure("PendingOperation is abstract.")
    }

    /// Hands the kept result to the caller.
    func deliver() { preconditionFailure("PendingOperation is abstract.") }

    /// Hands an error to the caller instead.
    func fail(_ error: any Error) { preconditionFailure("PendingOperation is abstract.") }
}

/// A call with its body and the continuation that awaits it.
// SAFETY: as its superclass.
final class Operation<T: Sendable>: PendingOperation, @unchecked Sendable {
    private let body: @Sendable (SQLiteConnection) throws -> T
    private var continuation: CheckedContinuation<T, any Error>?
    private var result: Result<T, any Error>?

    private init(_ body: @escaping @Sendable (SQLiteConnection) throws -> T) {
        self.body = body
    }

    /// Makes an operation, passes it to `enqueue` and waits until someone delivers or fails it.
    ///
    /// A cancelled operation that nobody has begun is dropped; one that runs is finished.
    static func run(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> T,
        enqueue: (PendingOperation) -> Void
    ) async throws -> T {
        let operation = Operation(body)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                operation.continuation = continuation
                enqueue(operation)
            }
        } onCancel: {
            operation.cancel()
        }
    }

    override func perform(_ connection: SQLiteConnection) -> (any Error)? {
        do {
            result = .success(try body(connection))
            return nil
        } catch {
            result = .failure(error)
            return error
        }
    }

    override func deliver() {
        guard let result else { preconditionFailure("An operation is delivered only after it ran.") }
        continuation?.resume(with: result)
        continuation = nil
    }

    override func fail(_ error: any Error) {
        continuation?.resume(throwing: error)
        continuation = nil
    }
}
