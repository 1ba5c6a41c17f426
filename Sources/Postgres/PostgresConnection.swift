import CPQ
package import EventLoop
import Locking
import Synchronization

/// One connection to a server, on one loop.
///
/// Calls may come from any task, and several may be under way: they are sent at once, without waiting for the
/// answers of those before, and are answered in order (the protocol's pipeline). Statements are prepared at their
/// first use.
// SAFETY: Everything mutable is confined to the thread of `loop`, but for what is atomic.
package final class PostgresConnection: @unchecked Sendable {
    /// What the server will answer next.
    enum Expectation {
        case prepared(PreparedStatement, Segment)
        case executed(PostgresStatement, PreparedStatement?, Segment)
        case deallocated
        case sync(Segment)
    }

    package let loop: EventLoop
    let configuration: PostgresConfiguration
    private let onNotification: @Sendable (_ channel: String, _ payload: String) -> Void
    private let onClose: @Sendable (PostgresConnection) -> Void
    private let isUsable = Atomic(true)
    /// When the server began with what it is doing, in milliseconds; 0 when it has nothing to do.
    private let busySince = Atomic<UInt64>(0)

    private(set) var handle: OpenHandle?
    private var watch: DescriptorWatch?
    var expected = Queue<Expectation>()
    var prepared: PreparedStatements
    /// Waits until a cancellation that is under way can hit nobody else.
    private var held = Queue<Segment>()
    private var isCancelling = false
    var cancellations = 0
    private var lastProgress: UInt64 = 0
    private var isTimerSet = false
    private var closeWaiters: [CloseWaiter] = []
    private var answersNothingTwice = false

    private init(
        _ handle: OpenHandle,
        _ configuration: PostgresConfiguration,
        _ loop: EventLoop,
        _ onNotification: @escaping @Sendable (String, String) -> Void,
        _ onClose: @escaping @Sendable (PostgresConnection) -> Void
    ) {
        self.handle = handle
        self.configuration = configuration
        self.loop = loop
        self.onNotification = onNotification
        self.onClose = onClose
        prepared = PreparedStatements(limit: configuration.statementLimit)
    }

    /// Connects, logs in and makes the settings.
    ///
    /// - Parameters:
    ///   - configuration: Where to and how.
    ///   - loop: Serves the connection from then on.
    ///   - onNotification: Gets what comes on channels the connection listens on, in order, on the loop.
    ///   - onClose: Told once, on the loop, when the connection has ended for whatever reason.
    /// - Returns: The connection, which lives until it is closed or lost.
    /// - Throws: ``PostgresError/Kind/unavailable`` with the reason.
    package static func open(
        _ configuration: PostgresConfiguration,
        on loop: EventLoop,
        onNotification: @escaping @Sendable (_ channel: String, _ payload: String) -> Void = { _, _ in },
        onClose: @escaping @Sendable (PostgresConnection) -> Void = { _ in }
    ) async throws(PostgresError) -> PostgresConnection {
        let handle = try await Connector.connect(configuration)
        let connection = PostgresConnection(handle, configuration, loop, onNotification, onClose)
        let failure = await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: connection.start()) }
        }
        if let failure { throw failure }
        do throws(PostgresError) {
            try await connection.makeSettings()
        } catch {
            await connection.close()
            throw PostgresError(.unavailable, "the settings were refused: \(error.message)")
        }
        return connection
    }

    private func makeSettings() async throws(PostgresError) {
        let settings = configuration.allSettings
        let calls = settings.indices.map {
            "pg_catalog.set_config($\(2 * $0 + 1), $\(2 * $0 + 2), false)"
        }
        let statement = PostgresStatement(
            "SELECT \(calls.joined(separator: ", "))",
            settings.flatMap { [.text($0.name), .text($0.value)] },
            isReusable: false
        )
        _ = try await run([statement], effect: .reads)
    }

    /// Whether it has not ended, as far as we know.
    package var isOpen: Bool { isUsable.load(ordering: .relaxed) }

    /// Whether the server has been at one and the same thing for so long that others had better not wait for it.
    func isStalled(longerThan milliseconds: UInt64) -> Bool {
        let start = busySince.load(ordering: .relaxed)
        return start > 0 && EventLoop.monotonicMilliseconds > start + milliseconds
    }

    /// Notes that the server begins with the next thing, or has none.
    func markProgress() {
        busySince.store(expected.isEmpty ? 0 : EventLoop.monotonicMilliseconds, ordering: .relaxed)
    }

    /// Sends the statements together and waits for all answers: one round trip.
    ///
    /// Outside of a transaction they are one: all of them are committed or none.
    ///
    /// A caller that is cancelled has the server told; it gets ``PostgresError/Kind/cancelled`` unless the
    /// statements had been done by then.
    ///
    /// - Parameters:
    ///   - statements: In this order.
    ///   - effect: What a lost connection means for the caller.
    /// - Returns: A result for each statement.
    /// - Throws: ``PostgresError``, that of the first statement that failed.
    package func run(
        _ statements: [PostgresStatement],
        effect: PostgresEffect
    ) async throws(PostgresError) -> [PostgresResult] {
        for statement in statements {
            if let refusal = statement.refusal { throw refusal }
        }
        guard !Task.isCancelled else { throw .cancelled }
        let cancelled = Locked<Segment?>(nil)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let segment = Segment(statements, effect: effect) { continuation.resume(returning: $0) }
                cancelled.withLock { $0 = segment }
                let isCancelled = Task.isCancelled
                loop.execute {
                    if isCancelled { segment.isCancelled = true }
                    self.submit(segment)
                }
            }
        } onCancel: {
            loop.execute {
                if let segment = cancelled.withLock({ $0 }) { self.cancel(segment) }
            }
        }
        return try result.get()
    }

    /// Ends the connection; what is under way fails.
    package func close() async {
        await withCheckedContinuation { continuation in
            loop.execute {
                self.lose("the connection was closed")
                continuation.resume()
            }
        }
    }

    /// Ends the connection without waiting for that.
    func closeSoon() {
        loop.execute { self.lose("the connection was closed") }
    }

    /// Waits until the connection has ended, but not longer than `timeout`.
    ///
    /// - Returns: Whether it has ended. A cancelled task does not wait.
    package func waitUntilClosed(timeout: Duration) async -> Bool {
        let waiter = CloseWaiter()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.execute {
                    guard self.handle != nil, !waiter.isOver else {
                        return continuation.resume(returning: self.handle == nil)
                    }
                    waiter.resume = { continuation.resume(returning: $0) }
                    self.closeWaiters.append(waiter)
                    self.loop.schedule(after: timeout) { self.end(waiter) }
                }
            }
        } onCancel: {
            loop.execute { self.end(waiter) }
        }
    }

    private func end(_ waiter: CloseWaiter) {
        closeWaiters.removeAll { $0 === waiter }
        waiter.end(false)
    }
}

/// Somebody who waits for the end of a connection.
// SAFETY: confined to the thread of the connection's loop.
private final class CloseWaiter: @unchecked Sendable {
    private(set) var isOver = false
    var resume: ((Bool) -> Void)?

    func end(_ isClosed: Bool) {
        isOver = true
        resume?(isClosed)
        resume = nil
    }
}

// MARK: On the loop

extension PostgresConnection {
    private func start() -> PostgresError? {
        guard loop.isCurrent, let handle else { return .closed }
        do {
            watch = try DescriptorWatch(
                loop: loop,
                descriptor: PQsocket(handle.pointer),
                ready: { readable, _ in self.didBecomeReady(readable: readable) },
                closed: { self.lose("the event loop has stopped") }
            )
            return nil
        } catch {
            self.handle = nil
            return PostgresError(.unavailable, "\(error)")
        }
    }

    private func submit(_ segment: Segment) {
        guard let handle else {
            return segment.fail(PostgresError(.connectionLost, "the connection has ended"))
        }
        guard !segment.isCancelled else { return segment.fail(.cancelled) }
        guard !isCancelling else { return held.append(segment) }
        let wasIdle = expected.isEmpty
        if wasIdle { lastProgress = loop.now }
        guard send(segment, on: handle.pointer) else {
            let message = handle.message
            lose(message)
            // When not even its end could be sent, it is not among those that wait for an answer.
            return segment.lose(message)
        }
        if wasIdle { markProgress() }
        flush()
        startTimer()
    }

    private func didBecomeReady(readable: Bool) {
        guard let handle else { return }
        lastProgress = loop.now
        let isAlive = !readable || PQconsumeInput(handle.pointer) == 1
        receiveResults(handle.pointer)
        receiveNotifications(handle.pointer)
        guard self.handle != nil else { return }
        guard isAlive, PQstatus(handle.pointer) == CONNECTION_OK else { return lose(handle.message) }
        flush()
        cancelIfNeeded()
    }

    private func flush() {
        guard let handle else { return }
        switch PQflush(handle.pointer) {
        case 0: watch?.setWatchingWrites(false)
        case 1: watch?.setWatchingWrites(true)
        default: lose(handle.message)
        }
    }

    private func receiveResults(_ pointer: OpaquePointer) {
        while self.handle != nil, let next = expected.first, PQisBusy(pointer) == 0 {
            guard let result = PQgetResult(pointer) else {
                // The end of a statement's answer; after an error of the commit also one before the sync.
                if case .sync = next {
                    guard !answersNothingTwice else { return lose("the answers are out of step") }
                    answersNothingTwice = true
                } else {
                    expected.popFirst()
                }
                continue
            }
            answersNothingTwice = false
            guard PQstatus(pointer) == CONNECTION_OK else {
                PQclear(result)
                return lose(PQerrorMessage(pointer).map { String(cString: $0) } ?? "")
            }
            receive(PostgresResult(result), status: PQresultStatus(result), result, for: next)
        }
    }

    private func receiveNotifications(_ pointer: OpaquePointer) {
        // Also reads what came while nothing was expected.
        while let notification = PQnotifies(pointer) {
            let channel = String(cString: notification.pointee.relname)
            let payload = notification.pointee.extra.map { String(cString: $0) } ?? ""
            PQfreemem(notification)
            onNotification(channel, payload)
        }
    }

    /// Sends a segment again that failed through the fault of another.
    func resend(_ segment: Segment) {
        segment.mayBeResent = false
        segment.reset()
        submit(segment)
    }

    /// Ends the connection and tells everybody.
    func lose(_ message: String) {
        guard handle != nil else { return }
        isUsable.store(false, ordering: .relaxed)
        watch?.close()
        watch = nil
        // Closes the socket, if no cancellation holds it.
        handle = nil
        for expectation in expected.removeAll() {
            if case .sync(let segment) = expectation { segment.lose(message) }
        }
        for segment in held.removeAll() {
            segment.fail(PostgresError(.connectionLost, message))
        }
        let waiters = closeWaiters
        closeWaiters = []
        for waiter in waiters { waiter.end(true) }
        onClose(self)
    }

    /// Ends a transaction that somebody has left open; the connection goes if that fails.
    func leaveTransaction() {
        loop.execute { [self] in
            guard let handle, PQtransactionStatus(handle.pointer) != PQTRANS_IDLE else { return }
            submit(
                Segment([PostgresStatement("ROLLBACK")], effect: .continues) { result in
                    if case .failure(let error) = result { self.lose(error.message) }
                }
            )
        }
    }
}

// MARK: Time-outs and cancellation

extension PostgresConnection {
    private func startTimer() {
        guard !isTimerSet, !expected.isEmpty else { return }
        isTimerSet = true
        let limit = configuration.answerTimeout
        let elapsed = Duration.milliseconds(Int64(loop.now &- lastProgress))
        loop.schedule(after: max(.milliseconds(1), limit - elapsed)) { [weak self] in
            guard let self else { return }
            isTimerSet = false
            guard handle != nil, !expected.isEmpty else { return }
            if Duration.milliseconds(Int64(loop.now &- lastProgress)) >= limit {
                lose("the server does not answer")
            } else {
                startTimer()
            }
        }
    }

    private func cancel(_ segment: Segment) {
        guard !segment.isOver else { return }
        segment.isCancelled = true
        if held.removeFirst(where: { $0 === segment }) != nil { return segment.fail(.cancelled) }
        cancelIfNeeded()
    }

    /// Has the server stop what it does, if that is for somebody who does not want it any more.
    private func cancelIfNeeded() {
        guard !isCancelling, let handle, let segment = expected.first?.segment, segment.isCancelled,
            !segment.isCancellationSent, segment.error == nil
        else { return }
        isCancelling = true
        segment.isCancellationSent = true
        cancellations += 1
        let token = CancelToken(handle)
        Task(executorPreference: loop) {
            await Connector.cancel(token)
            self.loop.execute { self.didCancel() }
        }
    }

    /// Lets others go on once the cancellation can no longer hit them.
    private func didCancel() {
        isCancelling = false
        for segment in held.removeAll() { submit(segment) }
        // The signal may reach the server's process a moment after we were told: who is hit is sent again.
        cancellations += 1
        cancelIfNeeded()
    }
}

extension PostgresConnection.Expectation {
    var segment: Segment? {
        switch self {
        case .prepared(_, let segment), .executed(_, _, let segment), .sync(let segment): segment
        case .deallocated: nil
        }
    }
}
