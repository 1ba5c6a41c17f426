package import EventLoop
import Locking
import Synchronization

/// The connections of a process to one database.
///
/// They are opened when they are needed and replaced when they end. Calls that find none free wait in one queue,
/// first come, first served. While the server cannot be reached, calls fail at once with
/// ``PostgresError/Kind/unavailable``; the pool tries again by itself, at growing intervals up to 2 s.
package final class PostgresPool: Sendable {
    package let configuration: PostgresConfiguration
    private let loops: [EventLoop]
    private let state: Locked<PoolState>
    private let closing = Locked<[CheckedContinuation<Void, Never>]>([])
    private let nextWaiter = Atomic<UInt64>(0)

    /// Makes a pool; it connects when it is used.
    ///
    /// - Parameters:
    ///   - configuration: Where to and how.
    ///   - loops: Serve the connections, in turn; at least one.
    package init(_ configuration: PostgresConfiguration, loops: [EventLoop]) {
        precondition(!loops.isEmpty, "a pool has a loop")
        self.configuration = configuration
        self.loops = loops
        state = Locked(PoolState(configuration))
    }

    /// Connections that are open now.
    package var openConnections: Int { state.withLock { $0.openCount } }

    /// Calls that wait for a connection.
    package var waitingCalls: Int { state.withLock { $0.waitingCount } }

    /// Whether the last attempt to connect failed and there is no connection.
    package var isDown: Bool { state.withLock { $0.isDown } }

    /// Runs a statement that changes nothing, beside others on the same connection.
    ///
    /// If the connection turns out to be broken it is sent once more on another.
    ///
    /// - Throws: ``PostgresError``.
    package func query(
        _ sql: String,
        _ parameters: [PostgresValue] = []
    ) async throws(PostgresError) -> PostgresResult {
        let results = try await repeatedOnceWhenLost { () throws(PostgresError) in
            try await self.run([PostgresStatement(sql, parameters)], effect: .reads, use: .shared)
        }
        return results[0]
    }

    /// Runs statements as one transaction in one round trip: all of them are committed or none.
    ///
    /// - Throws: ``PostgresError``, with ``PostgresError/Kind/unknownOutcome`` when the connection was lost after
    ///   they were sent.
    @discardableResult
    package func run(_ statements: [PostgresStatement]) async throws(PostgresError) -> [PostgresResult] {
        try await repeatedOnceWhenLost { () throws(PostgresError) in
            try await self.run(statements, effect: .commits, use: .exclusive)
        }
    }

    /// Lends a connection that nobody else uses meanwhile; a transaction left open is rolled back.
    package func withConnection<T>(_ body: (PostgresConnection) async throws -> T) async throws -> T {
        let connection = try await acquire(.exclusive)
        defer {
            connection.leaveTransaction()
            release(connection, .exclusive)
        }
        return try await body(connection)
    }

    /// Closes the connections once what is under way is done; later calls throw ``PostgresError/Kind/closed``.
    package func close() async {
        await withCheckedContinuation { continuation in
            closing.withLock { $0.append(continuation) }
            perform(state.withLock { $0.close() }, refusal: .closed)
        }
    }

    private func run(
        _ statements: [PostgresStatement],
        effect: PostgresEffect,
        use: PoolState.Use
    ) async throws(PostgresError) -> [PostgresResult] {
        let connection = try await acquire(use)
        defer { release(connection, use) }
        return try await connection.run(statements, effect: effect)
    }

    /// A lost connection means that nothing was done: what may have been committed has an error of its own.
    private func repeatedOnceWhenLost<T>(
        _ body: () async throws(PostgresError) -> T
    ) async throws(PostgresError) -> T {
        do {
            return try await body()
        } catch {
            guard error.kind == .connectionLost else { throw error }
            return try await body()
        }
    }
}

// MARK: Acquiring

extension PostgresPool {
    private func acquire(_ use: PoolState.Use) async throws(PostgresError) -> PostgresConnection {
        let result: Result<PostgresConnection?, PostgresError> = state.withLock { state in
            Result { () throws(PostgresError) in try state.take(use) }
        }
        if let connection = try result.get() { return connection }
        return try await wait(use)
    }

    private func wait(_ use: PoolState.Use) async throws(PostgresError) -> PostgresConnection {
        let id = nextWaiter.wrappingAdd(1, ordering: .relaxed).newValue
        let timer = Locked<ScheduledWork?>(nil)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = PoolState.Waiter(id: id, use: use) { continuation.resume(returning: $0) }
                append(waiter)
                let timeout = loops[0].schedule(after: configuration.queueTimeout) { [weak self] in
                    guard let self else { return }
                    // None is busy when there is none: then the server does not answer.
                    let error =
                        openConnections == 0
                        ? PostgresError(.unavailable, "no connection could be made in time")
                        : PostgresError(.overloaded, "no connection became free in time")
                    giveUp(id, error)
                }
                timer.withLock { $0 = timeout }
                if Task.isCancelled { giveUp(id, .cancelled) }
            }
        } onCancel: {
            giveUp(id, .cancelled)
        }
        timer.withLock { $0?.cancel() }
        return try result.get()
    }

    private func append(_ waiter: PoolState.Waiter) {
        let result: Result<PoolState.Actions, PostgresError> = state.withLock { state in
            Result { () throws(PostgresError) in try state.append(waiter) }
        }
        switch result {
        case .success(let actions): perform(actions)
        case .failure(let error): waiter.resume(.failure(error))
        }
    }

    private func giveUp(_ id: UInt64, _ error: PostgresError) {
        state.withLock { $0.removeWaiter(id) }?.resume(.failure(error))
    }

    fileprivate func release(_ connection: PostgresConnection, _ use: PoolState.Use) {
        perform(state.withLock { $0.release(connection, use) })
    }

    private func perform(_ actions: PoolState.Actions, refusal: PostgresError? = nil) {
        for (waiter, connection) in actions.served { waiter.resume(.success(connection)) }
        for waiter in actions.refused {
            waiter.resume(.failure(refusal ?? PostgresError(.unavailable, "the server cannot be reached")))
        }
        for _ in 0..<actions.connectionsToOpen { open() }
        for connection in actions.connectionsToClose { connection.closeSoon() }
        if let delay = actions.retryAfter {
            loops[0].schedule(after: delay) { [weak self] in
                guard let self else { return }
                perform(state.withLock { $0.retry() })
            }
        }
        if actions.isClosed {
            let waiting = closing.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    private func open() {
        let loop = leastLoadedLoop()
        // Nobody awaits it but the queue: whoever wanted the connection may have got another meanwhile.
        Task(executorPreference: loop) { [self] in
            do throws(PostgresError) {
                let connection = try await PostgresConnection.open(
                    configuration,
                    on: loop,
                    onClose: { [weak self] connection in
                        guard let self else { return }
                        perform(state.withLock { $0.didClose(connection) })
                    }
                )
                perform(state.withLock { $0.didOpen(connection) })
            } catch {
                perform(
                    state.withLock { $0.didFail(error) },
                    refusal: PostgresError(.unavailable, error.message)
                )
            }
        }
    }

    private func leastLoadedLoop() -> EventLoop {
        let load = state.withLock { state in
            state.load(of: loops.map { loop in { $0.loop === loop } })
        }
        let least = load.indices.min { load[$0] < load[$1] } ?? 0
        return loops[least]
    }
}

// MARK: Transactions

extension PostgresPool {
    /// How often a transaction is tried that others keep from committing.
    private static let attemptLimit = 5

    /// Runs `body` in a transaction, and again, up to five times, when another transaction got in its way.
    ///
    /// The body must therefore have no effect outside of the database. When it throws, everything is rolled back.
    /// It must not use the pool: a pool of transactions that wait for connections would wait for ever.
    ///
    /// - Throws: What `body` throws; ``PostgresError``, with ``PostgresError/Kind/unknownOutcome`` when the
    ///   connection was lost between the commit and its answer.
    package func transaction<T>(
        _ isolation: PostgresIsolation = .readCommitted,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        var attempt = 1
        while true {
            do {
                return try await attemptTransaction(isolation, body)
            } catch let error as PostgresError where error.allowsAttempt(attempt, of: Self.attemptLimit) {
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...(4 << attempt))))
                attempt += 1
            }
        }
    }

    private func attemptTransaction<T>(
        _ isolation: PostgresIsolation,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        let connection = try await acquire(.exclusive)
        defer { release(connection, .exclusive) }
        do {
            let transaction = PostgresTransaction(connection, isolation)
            let result = try await body(transaction)
            try await transaction.commit()
            return result
        } catch {
            connection.leaveTransaction()
            throw error
        }
    }
}

extension PostgresError {
    fileprivate func allowsAttempt(_ attempt: Int, of limit: Int) -> Bool {
        // A transaction whose connection was lost before its commit is rolled back.
        if kind == .connectionLost { return attempt == 1 }
        return attempt < limit && (isTransient || isStalePlan || isUnknownStatement)
    }
}
