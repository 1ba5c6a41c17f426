/// Runs what keeps a processor busy for long apart from the event loops.
///
/// The other connections of the caller's loop go on meanwhile. It is cancelled with its caller.
nonisolated(nonsending) func aside<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    // Detached, since a child task would run where its parent prefers to: on the loop.
    let task = Task.detached { try await body() }
    return try await withTaskCancellationHandler {
        try await task.value
    } onCancel: {
        task.cancel()
    }
}
