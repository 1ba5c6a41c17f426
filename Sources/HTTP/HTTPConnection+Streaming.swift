import EventLoop

/// A request body on its way to a handler.
final class IncomingBody {
    let stream: HTTPBodyStream
    /// The client waits for `100 Continue`, which it gets when the handler asks for the body.
    var awaitsContinue: Bool
    /// Since when the handler lags, on the loop's clock.
    var pausedAt: UInt64?
    /// Why no more of it comes.
    var failure: HTTPFailure?

    init(stream: HTTPBodyStream, awaitsContinue: Bool) {
        self.stream = stream
        self.awaitsContinue = awaitsContinue
    }
}

// Bodies that pass through while they arrive, and ones that are made while they are sent.
extension HTTPConnection {
    /// What of a body nobody wants is read and thrown away, so that the connection can go on.
    private static let discardedBytes = 1 << 20

    func beginStreaming(_ head: HTTPRequestHead, awaitsContinue: Bool) {
        remember(head)
        phase = .streaming
        setDeadline(deadlines.bodyIdle)
        let loop = state.loop
        let stream = HTTPBodyStream { [self] in
            if loop.isCurrent { resumeStreaming() } else { loop.execute { [self] in resumeStreaming() } }
        }
        incoming = IncomingBody(stream: stream, awaitsContinue: awaitsContinue)
        let request = request(head, body: [])
        task = Task(executorPreference: loop) { [self] in
            let response = await core.handler.respond(to: request, body: stream)
            if state.loop.isCurrent { finish(response) }
        }
    }

    /// Gives a part of the body to the handler; returns whether to wait for the next one.
    func hand(over bytes: UnsafeRawBufferPointer) -> Bool {
        guard let incoming else { return false }
        if incoming.stream.append(bytes) { return true }
        // While the handler lags the client is not to blame for silence.
        incoming.pausedAt = incoming.pausedAt ?? state.loop.now
        pauseReading()
        setDeadline(nil)
        return false
    }

    /// The handler asks for the body, or for more of it.
    func resumeStreaming() {
        guard phase == .streaming, let incoming else { return }
        if incoming.awaitsContinue {
            incoming.awaitsContinue = false
            sendContinue()
        }
        guard incoming.pausedAt != nil else { return }
        endPause()
    }

    private func endPause() {
        if let pausedAt = incoming?.pausedAt.take() { bodyStarted &+= state.loop.now &- pausedAt }
        setBodyDeadline()
        resumeReading()
    }

    func endStreaming() {
        incoming?.stream.finish()
        incoming = nil
        head = nil
        phase = .responding
        if hasPeerEnded { setDeadline(deadlines.halfClosed) }
    }

    /// Ends the body for the handler; once it has noticed, the client is told.
    func failBody(_ failure: HTTPFailure) {
        phase = .responding
        incoming?.failure = failure
        incoming?.stream.fail(failure)
        pauseReading()
        setDeadline(hasPeerEnded ? deadlines.halfClosed : nil)
    }

    /// The handler has answered although the body has not ended, or not well.
    func finishStreaming(_ response: HTTPResponse) {
        guard let incoming else { return }
        if let failure = incoming.failure {
            self.incoming = nil
            return respond(to: failure)
        }
        // What is left in the stream would only be kept for nobody.
        incoming.stream.fail(.clientGone)
        let rest = head?.contentLength.map { $0 - bodyReceived }
        head = nil
        let isShort = rest.map { $0 <= Self.discardedBytes } ?? false
        // A client that waits for leave may never send the body, and cannot be told not to.
        if !isShort || incoming.awaitsContinue || response.producer != nil { keepsAlive = false }
        if !keepsAlive { self.incoming = nil }
        phase = .responding
        send(response)
    }

    func beginDiscarding() {
        phase = .discarding
        endPause()
    }

    // MARK: - Sending

    func send(_ producer: HTTPBodyProducer, isChunked: Bool) {
        phase = .sending
        setDeadline(nil)
        task = Task(executorPreference: state.loop) { [self] in
            let isWhole = await sendChunks(of: producer, isChunked: isChunked)
            if state.loop.isCurrent { finishSending(isWhole) }
        }
    }

    private func finishSending(_ isWhole: Bool) {
        guard phase == .sending else { return }
        task = nil
        guard !isWhole else { return completeResponse() }
        // With RST, as a client of HTTP/1.0 takes FIN for the end of the body.
        tcp.abort()
        close()
    }

    /// Returns whether the client can have all of the body.
    private func sendChunks(of producer: HTTPBodyProducer, isChunked: Bool) async -> Bool {
        var rest = producer.length ?? .max
        var isFirst = true
        do {
            while let chunk = try await producer.next() {
                guard state.loop.isCurrent, phase == .sending, chunk.count <= rest else { return false }
                if chunk.isEmpty { continue }
                if producer.length != nil { rest -= chunk.count }
                guard write(chunk, isChunked: isChunked, isFirst: isFirst) else { return false }
                isFirst = false
                guard await isReadyForMore() else { return false }
            }
        } catch {
            return false
        }
        guard state.loop.isCurrent, phase == .sending else { return false }
        guard isChunked else { return producer.length == nil || rest == 0 }
        return Array((isFirst ? "0\r\n\r\n" : "\r\n0\r\n\r\n").utf8).withUnsafeBytes { tcp.write($0) }
    }

    /// A chunk's line end goes out with the line of the next one, so that each is one write.
    private func write(_ chunk: [UInt8], isChunked: Bool, isFirst: Bool) -> Bool {
        guard isChunked else { return chunk.withUnsafeBytes { tcp.write($0) } }
        let line = Array("\(isFirst ? "" : "\r\n")\(String(chunk.count, radix: 16))\r\n".utf8)
        return line.withUnsafeBytes { line in chunk.withUnsafeBytes { tcp.write(line, $0) } }
    }

    /// Waits while the client has much to take; `false` when it is gone.
    private func isReadyForMore() async -> Bool {
        guard tcp.queuedBytes > core.configuration.outputBytesCap else { return true }
        watchWrites()
        return await withCheckedContinuation { drained = $0 }
    }

    func didDrainWhileSending() {
        setDeadline(nil)
        drained.take()?.resume(returning: true)
    }
}
