import Locking

/// The body of a request as it arrives, for one consumer.
///
/// At most ``bufferedBytes`` and one read of the socket wait here: then the connection stops reading, so that a
/// client is held back by a consumer that lags, until the consumer asks again.
package final class HTTPBodyStream: Sendable {
    /// From so many bytes on that nobody has taken, the connection does not read.
    static let bufferedBytes = 128 * 1024

    private struct State {
        var buffer: [UInt8] = []
        var end: End?
        var waiter: CheckedContinuation<Void, Never>?
        var isPaused = false
        /// What to tell the connection when the consumer wants bytes; `nil` once none will come.
        var onDemand: (@Sendable () -> Void)?
        var wasAskedFor = false
    }

    private enum End {
        case complete
        case failed(HTTPFailure)
    }

    private let state: Locked<State>

    /// A body that is there already.
    package init(_ bytes: [UInt8]) {
        state = Locked(State(buffer: bytes, end: .complete))
    }

    /// A body that a connection feeds.
    ///
    /// `onDemand` is called on any thread, with the first ``next()`` and whenever reading may go on.
    init(onDemand: @escaping @Sendable () -> Void) {
        state = Locked(State(onDemand: onDemand))
    }

    /// The bytes that have come since the last call, at least one; `nil` at the end of the body.
    ///
    /// Waits while there are none.
    ///
    /// - Throws: ``HTTPFailure`` when the body does not come whole: it is over its limit, malformed, too slow, or
    ///   the client is gone. Nothing follows then.
    package func next() async throws(HTTPFailure) -> [UInt8]? {
        while true {
            switch take() {
            case .bytes(let bytes): return bytes
            case .end(.complete): return nil
            case .end(.failed(let failure)): throw failure
            case .nothing: await waitForMore()
            }
        }
    }

    /// All of the body from here on, which its limit bounds.
    ///
    /// - Throws: As ``next()``.
    package func collect() async throws(HTTPFailure) -> [UInt8] {
        var body = try await next() ?? []
        while let bytes = try await next() { body += bytes }
        return body
    }

    private enum Taken {
        case bytes([UInt8])
        case end(End)
        case nothing
    }

    private func take() -> Taken {
        let (taken, onDemand) = state.withLock { state -> (Taken, (@Sendable () -> Void)?) in
            // What came before a failure is of no use: no consumer keeps half a body.
            if case .failed = state.end, let end = state.end { return (.end(end), nil) }
            let isDemand = state.isPaused || !state.wasAskedFor
            state.wasAskedFor = true
            let demand = isDemand ? state.onDemand : nil
            state.isPaused = false
            guard !state.buffer.isEmpty else { return (state.end.map(Taken.end) ?? .nothing, demand) }
            var bytes: [UInt8] = []
            swap(&bytes, &state.buffer)
            return (.bytes(bytes), demand)
        }
        onDemand?()
        return taken
    }

    private func waitForMore() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.end != nil || !state.buffer.isEmpty { return true }
                precondition(state.waiter == nil, "a body has one consumer")
                state.waiter = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    /// Takes bytes over; returns whether there is room for more.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (waiter, hasRoom) = state.withLock { state in
            if state.buffer.isEmpty { state.buffer.reserveCapacity(min(bytes.count, Self.bufferedBytes)) }
            state.buffer.append(contentsOf: bytes)
            state.isPaused = state.buffer.count >= Self.bufferedBytes
            return (state.waiter.take(), !state.isPaused)
        }
        waiter?.resume()
        return hasRoom
    }

    /// The body is complete.
    func finish() { end(.complete) }

    /// Nothing more comes, and what came is worthless.
    func fail(_ failure: HTTPFailure) { end(.failed(failure)) }

    private func end(_ end: End) {
        let (waiter, onDemand) = state.withLock { state in
            if state.end == nil { state.end = end }
            return (state.waiter.take(), state.onDemand.take())
        }
        waiter?.resume()
        // Released outside of the lock: it may hold the last reference to a connection.
        withExtendedLifetime(onDemand) {}
    }
}
