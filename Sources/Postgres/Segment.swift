/// Statements that are sent together, up to one synchronisation point, and succeed or fail together.
// SAFETY: confined to the thread of the connection's loop, but for `cancel`, which goes there by itself.
final class Segment: @unchecked Sendable {
    let statements: [PostgresStatement]
    let effect: PostgresEffect
    private var completion: ((Result<[PostgresResult], PostgresError>) -> Void)?
    private var results: [PostgresResult] = []
    private(set) var error: PostgresError?
    /// Its caller does not want it any more.
    var isCancelled = false
    /// The server was asked to give it up, which is done once.
    var isCancellationSent = false
    /// It may be sent again once, when it failed through the fault of another.
    var mayBeResent = true
    /// How many cancellations the connection had sent when this one went out.
    var cancellationsBefore = 0

    init(
        _ statements: [PostgresStatement],
        effect: PostgresEffect,
        completion: @escaping (Result<[PostgresResult], PostgresError>) -> Void
    ) {
        self.statements = statements
        self.effect = effect
        self.completion = completion
    }

    var isOver: Bool { completion == nil }

    func add(_ result: PostgresResult) { results.append(result) }

    /// Keeps the first error: the others follow from it.
    func add(_ error: PostgresError) { if self.error == nil { self.error = error } }

    func reset() {
        results = []
        error = nil
    }

    /// Hands the caller what came; does nothing the second time.
    func finish() {
        if let error { return fail(error) }
        completion?(.success(results))
        completion = nil
    }

    func fail(_ error: PostgresError) {
        completion?(.failure(error))
        completion = nil
    }

    /// What it means for the caller that the connection was lost after this was sent.
    func lose(_ message: String) {
        switch effect {
        case .reads, .continues: fail(PostgresError(.connectionLost, message))
        case .commits: fail(PostgresError(.unknownOutcome, message))
        }
    }
}
