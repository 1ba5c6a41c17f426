package import EventLoop
import Locking
import Synchronization

/// An HTTP/1.1 server on a group of event loops.
///
/// One loop accepts and deals the connections out in turn; a connection then stays on its loop, and its
/// requests are handled there, one at a time.
package final class HTTPServer: Sendable {
    private let group: EventLoopGroup
    private let core: Core
    private let states: [HTTPLoopState]
    private let listener = Locked<TCPListener?>(nil)
    private let dealt = Atomic(0)

    package init(group: EventLoopGroup, configuration: HTTPServerConfiguration, handler: any HTTPHandler) {
        self.group = group
        core = Core(configuration: configuration, handler: handler)
        states = group.loops.map(HTTPLoopState.init)
    }

    /// Connections that are open now.
    package var activeConnections: Int { core.connections }

    /// Begins to accept.
    ///
    /// - Returns: The port, also when 0 was asked for.
    /// - Throws: ``EventLoopError`` when the address is unknown, taken or not allowed.
    package func start() async throws(EventLoopError) -> Int {
        let configuration = core.configuration
        let onProblem = configuration.onProblem
        let listener = try await TCPListener(
            loop: group.loops[0],
            host: configuration.host,
            port: configuration.port,
            backlog: configuration.backlog
        ) { error in
            onProblem?(error.description)
        } accept: { [self] socket in
            deal(socket)
        }
        self.listener.withLock { $0 = listener }
        return listener.port
    }

    /// Stops accepting, closes idle connections and lets requests in flight end.
    ///
    /// - Parameter grace: What they get at most; after it they are cancelled and cut.
    package func shutdown(grace: Duration) async {
        let listener = listener.withLock { listener in
            defer { listener = nil }
            return listener
        }
        await listener?.close()
        for state in states {
            state.loop.execute {
                state.isClosing = true
                for connection in state.all { connection.closeWhenIdle() }
            }
        }
        let cut = group.loops[0].schedule(after: grace) { [states] in
            for state in states {
                state.loop.execute { for connection in state.all { connection.close() } }
            }
        }
        await core.waitUntilEmpty()
        cut.cancel()
    }

    private func deal(_ socket: AcceptedSocket) {
        let open = core.didOpen()
        let limit = core.configuration.maxConnections
        // Some are told that there is no place; beyond that even telling would be too much.
        guard open <= limit + 1024 else {
            socket.discard()
            return core.didClose()
        }
        let number = dealt.wrappingAdd(1, ordering: .relaxed).newValue
        let state = states[number % states.count]
        let core = core
        let accept: @Sendable () -> Void = {
            guard
                let connection = try? HTTPConnection(socket, core: core, state: state, id: UInt64(number))
            else { return core.didClose() }
            if state.isClosing { return connection.turnAway(.shuttingDown) }
            open <= limit ? connection.start() : connection.turnAway(.tooManyConnections)
        }
        if state.loop.isCurrent { accept() } else { state.loop.execute(accept) }
    }
}

extension HTTPServer {
    /// What the server shares with its connections.
    final class Core: Sendable {
        let configuration: HTTPServerConfiguration
        let deadlines: DeadlineMilliseconds
        let handler: any HTTPHandler
        private let count = Atomic(0)
        private let waiters = Locked<[CheckedContinuation<Void, Never>]>([])

        init(configuration: HTTPServerConfiguration, handler: any HTTPHandler) {
            self.configuration = configuration
            self.handler = handler
            deadlines = DeadlineMilliseconds(configuration.deadlines)
        }

        var connections: Int { count.load(ordering: .relaxed) }

        /// Returns how many are open with this one.
        func didOpen() -> Int { count.add(1, ordering: .relaxed).newValue }

        func didClose() {
            guard count.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
            let waiting = waiters.withLock { waiters in
                defer { waiters = [] }
                return waiters
            }
            for waiter in waiting { waiter.resume() }
        }

        func waitUntilEmpty() async {
            await withCheckedContinuation { continuation in
                let isEmpty = waiters.withLock { waiters in
                    if count.load(ordering: .acquiring) == 0 { return true }
                    waiters.append(continuation)
                    return false
                }
                if isEmpty { continuation.resume() }
            }
        }
    }

    /// The deadlines on the loop's clock.
    struct DeadlineMilliseconds: Sendable {
        let header, bodyIdle, bodyBytesPerSecond, write, keepAlive, halfClosed, linger: UInt64

        init(_ deadlines: HTTPDeadlines) {
            header = deadlines.header.wholeMilliseconds
            bodyIdle = deadlines.bodyIdle.wholeMilliseconds
            bodyBytesPerSecond = UInt64(max(1, deadlines.bodyBytesPerSecond))
            write = deadlines.write.wholeMilliseconds
            keepAlive = deadlines.keepAlive.wholeMilliseconds
            halfClosed = deadlines.halfClosed.wholeMilliseconds
            linger = deadlines.linger.wholeMilliseconds
        }
    }
}

extension HTTPFailure {
    static let shuttingDown = HTTPFailure(status: 503, reason: "the server is shutting down")
    static let bodyCutOff = HTTPFailure(status: 400, reason: "the body is cut off")
    static let clientGone = HTTPFailure(status: 400, reason: "the client is gone")
    static let tooManyConnections = HTTPFailure(status: 503, reason: "too many connections")
}
