import EventLoop

/// One client: reads requests, has them answered one at a time, writes the responses.
// SAFETY: All mutable state is confined to the thread of the connection's loop.
final class HTTPConnection: @unchecked Sendable, TCPConnectionDelegate {
    enum Phase {
        /// Between requests, or within a head.
        case head
        case body
        /// The handler works on a request while the body arrives.
        case streaming
        /// The handler has answered without the rest of the body, which is thrown away.
        case discarding
        /// The handler works on a request.
        case responding
        /// The body of a response is made and sent.
        case sending
        /// The client has yet to read much of the last response.
        case draining
        /// The last response is sent; what the client still sends is thrown away until it has read it.
        case lingering
        case closed
    }

    /// What may wait here, unparsed, while a request is answered.
    private static let pendingBytes = 64 * 1024
    /// What a client may go on sending after it was refused, before it is cut.
    private static let lingerBytes = 4 << 20

    let core: HTTPServer.Core
    let state: HTTPLoopState
    let tcp: TCPConnection
    private let remoteAddress: String
    private let id: UInt64
    private var slot: Int32 = -1
    var phase = Phase.head
    private var decoder = HTTPRequestDecoder()
    var head: HTTPRequestHead?
    /// What is remembered of the request that is being answered.
    private var isHead = false
    var minorVersion = 1
    var keepsAlive = true
    private var body: [UInt8] = []
    var bodyReceived = 0
    var bodyStarted: UInt64 = 0
    /// A body that is handed over while it arrives.
    var incoming: IncomingBody?
    /// Waits for the client to take what was sent of a body that is made meanwhile.
    var drained: CheckedContinuation<Bool, Never>?
    var task: Task<Void, Never>?
    /// Input that came while the connection could not take it.
    private var pending: [UInt8] = []
    private var isReadingPaused = false
    private(set) var hasPeerEnded = false
    private var lingered = 0
    private var outstandingBefore = 0

    init(_ socket: AcceptedSocket, core: HTTPServer.Core, state: HTTPLoopState, id: UInt64)
        throws(EventLoopError)
    {
        self.core = core
        self.state = state
        self.id = id
        remoteAddress = socket.remoteAddress
        tcp = try TCPConnection(descriptor: socket.descriptor, loop: state.loop)
    }

    var deadlines: HTTPServer.DeadlineMilliseconds { core.deadlines }

    /// Begins to read.
    func start() {
        slot = state.add(self)
        setDeadline(deadlines.keepAlive)
        tcp.start(delegate: self)
    }

    /// Answers 503 and closes, without reading a request.
    func turnAway(_ failure: HTTPFailure) {
        slot = state.add(self)
        tcp.start(delegate: self)
        respond(to: failure)
    }

    func setDeadline(_ milliseconds: UInt64?) {
        guard slot >= 0 else { return }
        state.setDeadline(milliseconds.map { state.loop.now &+ $0 }, for: slot)
    }

    // MARK: - Reading

    func connection(_ connection: TCPConnection, didRead bytes: UnsafeRawBufferPointer) {
        switch phase {
        case .head, .body, .streaming, .discarding:
            process(bytes)
        case .responding, .sending, .draining:
            keep(bytes)
        case .lingering:
            lingered += bytes.count
            if lingered > Self.lingerBytes { close() }
        case .closed:
            break
        }
    }

    private func keep(_ bytes: UnsafeRawBufferPointer) {
        pending.append(contentsOf: bytes)
        let room = Self.pendingBytes - pending.count
        if room > 0 { tcp.limitReads(to: room) } else { pauseReading() }
    }

    func pauseReading() {
        guard !isReadingPaused else { return }
        isReadingPaused = true
        tcp.pauseReading()
    }

    private func process(_ input: UnsafeRawBufferPointer) {
        var consumed = 0
        while true {
            let wasIdle = decoder.isIdle
            switch decoder.next(input, consumed: &consumed, limits: core.configuration.limits) {
            case .needInput:
                if phase == .head, wasIdle, !decoder.isIdle { setDeadline(deadlines.header) }
                return
            case .head(let head):
                guard begin(head, hasMoreInput: consumed < input.count) else { return }
            case .body(let range):
                take(UnsafeRawBufferPointer(rebasing: input[range]))
            case .end:
                endRequest()
                if phase == .head { continue }
                if consumed < input.count { keep(UnsafeRawBufferPointer(rebasing: input[consumed...])) }
                return
            case .refuse(let failure):
                return refuse(failure)
            }
        }
    }

    /// Returns whether to go on with the body.
    private func begin(_ head: HTTPRequestHead, hasMoreInput: Bool) -> Bool {
        self.head = head
        guard head.hasBody else { return true }
        let limit = core.handler.maxBodyBytes(for: head)
        if let length = head.contentLength, length > limit {
            respond(to: .bodyTooLarge)
            return false
        }
        decoder.maxBodyBytes = limit
        bodyReceived = 0
        bodyStarted = state.loop.now
        if core.handler.streamsBody(of: head) {
            beginStreaming(head, awaitsContinue: head.expectsContinue && !hasMoreInput)
            return true
        }
        phase = .body
        if let length = head.contentLength { body.reserveCapacity(min(length, 64 * 1024)) }
        setDeadline(deadlines.bodyIdle)
        if head.expectsContinue, !hasMoreInput { sendContinue() }
        return true
    }

    func sendContinue() {
        let line: StaticString = "HTTP/1.1 100 Continue\r\n\r\n"
        _ = tcp.write(UnsafeRawBufferPointer(start: line.utf8Start, count: line.utf8CodeUnitCount))
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        bodyReceived += bytes.count
        switch phase {
        case .streaming: guard hand(over: bytes) else { return }
        case .discarding: break
        default: body.append(contentsOf: bytes)
        }
        setBodyDeadline()
    }

    /// A silent body ends, and so does one that drips.
    func setBodyDeadline() {
        let earned = UInt64(bodyReceived) &* 1000 / deadlines.bodyBytesPerSecond
        let idle = state.loop.now &+ deadlines.bodyIdle
        state.setDeadline(min(idle, bodyStarted &+ deadlines.bodyIdle &+ earned), for: slot)
    }

    private func endRequest() {
        switch phase {
        case .streaming: endStreaming()
        case .discarding: completeResponse()
        default: answer()
        }
    }

    // MARK: - Answering

    /// Notes what the response depends on.
    func remember(_ head: HTTPRequestHead) {
        isHead = head.method == .head
        minorVersion = head.minorVersion
        keepsAlive = head.keepsAlive
    }

    func request(_ head: HTTPRequestHead, body: [UInt8]) -> HTTPRequest {
        HTTPRequest(head: head, body: body, remoteAddress: remoteAddress, connectionID: id)
    }

    private func answer() {
        guard let head = head.take() else { return }
        phase = .responding
        remember(head)
        // Otherwise the deadline stays as it is, and means nothing in this phase.
        if hasPeerEnded { setDeadline(deadlines.halfClosed) }
        let request = request(head, body: body)
        if !body.isEmpty { body = [] }
        task = Task(executorPreference: state.loop) { [self] in
            let response = await core.handler.respond(to: request)
            // After the loop has stopped, tasks end on other threads; the connection is gone then.
            if state.loop.isCurrent { finish(response) }
        }
    }

    func finish(_ response: HTTPResponse) {
        guard phase == .responding || phase == .streaming else { return }
        task = nil
        if incoming != nil { return finishStreaming(response) }
        send(response)
    }

    private func refuse(_ failure: HTTPFailure) {
        switch phase {
        case .streaming: failBody(failure)
        // It has been answered already.
        case .discarding: linger()
        default: respond(to: failure)
        }
    }

    /// Answers what cannot be handled.
    ///
    /// Framing is lost then, so the connection ends.
    func respond(to failure: HTTPFailure) {
        let head = head.take()
        isHead = head?.method == .head
        keepsAlive = false
        body = []
        pending = []
        send(core.handler.respond(to: failure, head: head))
    }

    func send(_ response: HTTPResponse) {
        keepsAlive = keepsAlive && !response.closesConnection && !state.isClosing && !hasPeerEndedForGood
        var isChunked = false
        if let producer = response.producer, producer.length == nil {
            isChunked = minorVersion == 1
            // The end of the connection is the only end that HTTP/1.0 has for a body of unknown length.
            if !isChunked { keepsAlive = false }
        }
        let connection: HTTPResponseEncoder.Connection =
            !keepsAlive ? .close : minorVersion == 0 ? .keepAlive : .unsaid
        state.output.removeAll(keepingCapacity: true)
        let sendsBody = HTTPResponseEncoder.encode(
            response,
            isHead: isHead,
            isChunked: isChunked,
            connection: connection,
            dateLine: state.dateLine,
            into: &state.output
        )
        let isWritten = state.output.withUnsafeBytes { output in
            sendsBody && response.producer == nil
                ? response.body.withUnsafeBytes { tcp.write(output, $0) } : tcp.write(output)
        }
        guard isWritten else { return close() }
        if sendsBody, let producer = response.producer { return send(producer, isChunked: isChunked) }
        completeResponse()
    }

    /// The response has been handed to the socket.
    func completeResponse() {
        guard keepsAlive else { return linger() }
        if incoming != nil, phase != .discarding { return beginDiscarding() }
        incoming = nil
        if tcp.queuedBytes > core.configuration.outputBytesCap {
            phase = .draining
            watchWrites()
        } else {
            nextRequest()
        }
    }

    /// The client has ended its side and nothing it sent is left.
    private var hasPeerEndedForGood: Bool { hasPeerEnded && pending.isEmpty }

    private func nextRequest() {
        phase = .head
        if tcp.queuedBytes > 0 { watchWrites() } else { setDeadline(deadlines.keepAlive) }
        guard !pending.isEmpty else {
            if hasPeerEnded || state.isClosing { linger() }
            return resumeReading()
        }
        let input = pending
        pending = []
        input.withUnsafeBytes { process($0) }
        switch phase {
        case .head, .body: hasPeerEnded ? linger() : resumeReading()
        case .streaming: hasPeerEnded ? failBody(.bodyCutOff) : resumeReading()
        default: break
        }
    }

    func resumeReading() {
        tcp.limitReads(to: Self.pendingBytes)
        guard isReadingPaused else { return }
        isReadingPaused = false
        tcp.resumeReading()
    }

    // MARK: - Ending

    /// Sends FIN, then waits for the client to read what was sent: closing at once with input unread would send
    /// RST, which may reach the client before it has read the response.
    func linger() {
        phase = .lingering
        pending = []
        tcp.shutdownWrites()
        if hasPeerEnded, tcp.queuedBytes == 0 { return close() }
        resumeReading()
        if tcp.queuedBytes > 0 { watchWrites() } else { setDeadline(deadlines.linger) }
    }

    func watchWrites() {
        outstandingBefore = tcp.outstandingBytes
        setDeadline(deadlines.write)
    }

    /// Closes an idle connection; one with a request in flight closes after its response.
    func closeWhenIdle() {
        if phase == .head, decoder.isIdle, tcp.queuedBytes == 0 { close() }
    }

    /// Gives up on whatever is in flight.
    func close() {
        guard phase != .closed else { return }
        phase = .closed
        giveUpRequest()
        if tcp.queuedBytes > 0 { tcp.abort() } else { tcp.close() }
    }

    private func giveUpRequest() {
        task?.cancel()
        task = nil
        incoming?.stream.fail(.clientGone)
        incoming = nil
        drained.take()?.resume(returning: false)
    }

    func connectionDidReadEnd(_ connection: TCPConnection) {
        hasPeerEnded = true
        switch phase {
        // Half a request is none; what was answered before still goes out.
        case .head, .body, .discarding: linger()
        case .streaming: failBody(.bodyCutOff)
        // It may still read (shutdown of its sending side): it gets its answer.
        case .responding: setDeadline(deadlines.halfClosed)
        case .sending, .draining, .closed: break
        case .lingering: if tcp.queuedBytes == 0 { close() }
        }
    }

    func connectionDidDrain(_ connection: TCPConnection) {
        switch phase {
        case .draining: nextRequest()
        case .sending: didDrainWhileSending()
        case .head where decoder.isIdle: state.isClosing ? close() : setDeadline(deadlines.keepAlive)
        case .lingering: hasPeerEnded ? close() : setDeadline(deadlines.linger)
        default: break
        }
    }

    func connection(_ connection: TCPConnection, didFail error: EventLoopError) { close() }

    func connectionDidClose(_ connection: TCPConnection) {
        phase = .closed
        giveUpRequest()
        if slot >= 0 { state.remove(slot) }
        slot = -1
        core.didClose()
    }

    func didReachDeadline() {
        if tcp.queuedBytes > 0, phase != .responding {
            // Progress is any byte taken since the last look.
            if tcp.outstandingBytes < outstandingBefore { watchWrites() } else { close() }
            return
        }
        switch phase {
        case .head where decoder.isIdle: close()
        case .head, .body, .streaming:
            refuse(HTTPFailure(status: 408, reason: "the request took too long"))
        case .responding: if hasPeerEnded { task?.cancel() }
        case .discarding: linger()
        // Only the client is waited for with a deadline, not whatever makes the body.
        case .sending: break
        case .draining, .lingering, .closed: close()
        }
    }
}
