/// A strict decoder of HTTP/1.1 requests (RFC 9112) that does no I/O.
///
/// The owner feeds bytes and does what the returned action says. The same bytes give the same actions however
/// they are split (body parts aside, which come as they arrive). What two implementations could read
/// differently is refused, as it may be an attempt to smuggle a request past a proxy.
package struct HTTPRequestDecoder: Sendable {
    package enum Action: Sendable {
        /// All of the input is consumed; more is needed.
        case needInput
        /// A head is complete. Set ``maxBodyBytes`` before going on.
        case head(HTTPRequestHead)
        /// A part of the body, as a range of the input.
        case body(Range<Int>)
        /// The request is complete; the next call begins another.
        case end
        /// The request is refused. Nothing more can be read from this connection.
        case refuse(HTTPFailure)
    }

    enum State: Sendable {
        case head
        case fixedBody(remaining: Int)
        case chunked(ChunkedBody)
        case complete
        case refused(HTTPFailure)
    }

    /// The largest body to accept, counted without chunk framing.
    package var maxBodyBytes = Int.max
    private var scanner = HeadScanner()
    private var state = State.head

    package init() {}

    /// Whether no byte of a request has been seen since the last one ended.
    package var isIdle: Bool {
        if case .head = state { scanner.isEmpty } else { false }
    }

    /// Reads on.
    ///
    /// - Parameters:
    ///   - input: Bytes not yet consumed.
    ///   - consumed: Grows by what was used, for the caller to skip.
    ///   - limits: The same for all of a request.
    /// - Returns: What to do; call again until it is `needInput` or `refuse`.
    package mutating func next(
        _ input: UnsafeRawBufferPointer,
        consumed: inout Int,
        limits: HTTPLimits
    ) -> Action {
        switch state {
        case .head:
            return nextHead(input, &consumed, limits)
        case .fixedBody(let remaining):
            guard remaining > 0 else { return finish() }
            guard remaining <= maxBodyBytes else { return refuse(.bodyTooLarge) }
            let available = min(remaining, input.count - consumed)
            guard available > 0 else { return .needInput }
            state = .fixedBody(remaining: remaining - available)
            defer { consumed += available }
            return .body(consumed..<consumed + available)
        case .chunked(var body):
            // Taken out so that the trailer's bytes are not copied.
            state = .complete
            let step = body.next(input, consumed: &consumed, maxBodyBytes: maxBodyBytes, limits: limits)
            switch step {
            case .needInput:
                state = .chunked(body)
                return .needInput
            case .body(let range):
                state = .chunked(body)
                return .body(range)
            case .end: return finish()
            case .refuse(let failure): return refuse(failure)
            }
        case .complete:
            return finish()
        case .refused(let failure):
            return .refuse(failure)
        }
    }

    private mutating func nextHead(
        _ input: UnsafeRawBufferPointer,
        _ consumed: inout Int,
        _ limits: HTTPLimits
    ) -> Action {
        do {
            guard let bytes = try scanner.scan(input, consumed: &consumed, limits: limits) else {
                return .needInput
            }
            let head = try HTTPHeadParser.parse(bytes)
            maxBodyBytes = .max
            state = head.isChunked ? .chunked(ChunkedBody()) : .fixedBody(remaining: head.contentLength ?? 0)
            return .head(head)
        } catch {
            return refuse(error)
        }
    }

    private mutating func finish() -> Action {
        state = .head
        return .end
    }

    private mutating func refuse(_ failure: HTTPFailure) -> Action {
        state = .refused(failure)
        return .refuse(failure)
    }
}
