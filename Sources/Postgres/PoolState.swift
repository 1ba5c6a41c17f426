import EventLoop

/// Who has which connection and who waits, without any I/O.
struct PoolState {
    /// What somebody wants a connection for.
    enum Use: Sendable {
        /// Others may read on it at the same time.
        case shared
        /// Nobody else uses it meanwhile.
        case exclusive
    }

    struct Waiter {
        let id: UInt64
        let use: Use
        let resume: @Sendable (Result<PostgresConnection, PostgresError>) -> Void
    }

    private struct Slot {
        let connection: PostgresConnection
        var isLeased = false
        var reads = 0

        var isIdle: Bool { !isLeased && reads == 0 }
    }

    /// What is to be done outside of the lock.
    struct Actions {
        var connectionsToOpen = 0
        var served: [(Waiter, PostgresConnection)] = []
        var refused: [Waiter] = []
        var connectionsToClose: [PostgresConnection] = []
        var retryAfter: Duration?
        var isClosed = false
    }

    /// Nobody joins those who wait for a statement that has taken so many milliseconds: it may take many more.
    private static let patience: UInt64 = 5

    private let connectionLimit: Int
    private let queueLimit: Int
    private let pipelineLimit: Int
    private var slots: [Slot] = []
    private var opening = 0
    private var waiters = Queue<Waiter>()
    private var failures = 0
    /// Why there is no connection; until one could be made, nobody waits.
    private var outage: PostgresError?
    private var isRetryScheduled = false
    private(set) var isClosed = false

    init(_ configuration: PostgresConfiguration) {
        connectionLimit = max(1, configuration.connectionLimit)
        queueLimit = configuration.queueLimit
        pipelineLimit = max(1, configuration.pipelineLimit)
    }

    var openCount: Int { slots.count }
    var waitingCount: Int { waiters.count }
    var isDown: Bool { outage != nil }

    /// How many connections each loop has; `loops` and the result have the same order.
    func load(of isOnLoop: [(PostgresConnection) -> Bool]) -> [Int] {
        isOnLoop.map { isOnLoop in slots.count { isOnLoop($0.connection) } }
    }

    /// A connection that is free now.
    ///
    /// - Returns: `nil` when the caller has to wait.
    /// - Throws: When waiting would be in vain.
    mutating func take(_ use: Use) throws(PostgresError) -> PostgresConnection? {
        if isClosed { throw .closed }
        if let outage { throw outage }
        // First come, first served.
        return waiters.isEmpty ? pick(use) : nil
    }

    /// Puts somebody into the queue, or serves or refuses him at once.
    mutating func append(_ waiter: Waiter) throws(PostgresError) -> Actions {
        if isClosed { throw .closed }
        if let outage { throw outage }
        guard waiters.count < queueLimit else {
            throw PostgresError(.overloaded, "too many calls wait for a connection")
        }
        waiters.append(waiter)
        return serve()
    }

    /// Takes somebody out of the queue who does not wait any more.
    mutating func removeWaiter(_ id: UInt64) -> Waiter? {
        waiters.removeFirst { $0.id == id }
    }

    mutating func release(_ connection: PostgresConnection, _ use: Use) -> Actions {
        guard let index = slots.firstIndex(where: { $0.connection === connection }) else { return Actions() }
        switch use {
        case .shared: slots[index].reads -= 1
        case .exclusive: slots[index].isLeased = false
        }
        return isClosed ? closeIdle() : serve()
    }

    mutating func didOpen(_ connection: PostgresConnection) -> Actions {
        // It may have ended before we heard that it began.
        guard connection.isOpen else {
            return didFail(PostgresError(.unavailable, "the connection ended at once"))
        }
        opening -= 1
        failures = 0
        outage = nil
        slots.append(Slot(connection: connection))
        return isClosed ? closeIdle() : serve()
    }

    mutating func didFail(_ error: PostgresError) -> Actions {
        opening -= 1
        failures += 1
        var actions = Actions()
        guard !isClosed else { return closeIdle() }
        if slots.isEmpty, opening == 0 {
            outage = PostgresError(.unavailable, error.message)
            actions.refused = waiters.removeAll()
        }
        guard !isRetryScheduled else { return actions }
        isRetryScheduled = true
        // Those who waited for it may do with what there is.
        actions.served = serve().served
        actions.retryAfter = Self.backOff(failures)
        return actions
    }

    /// The time of a back-off is over.
    mutating func retry() -> Actions {
        isRetryScheduled = false
        guard !isClosed else { return closeIdle() }
        guard isDown else { return serve() }
        opening += 1
        return Actions(connectionsToOpen: 1)
    }

    mutating func didClose(_ connection: PostgresConnection) -> Actions {
        slots.removeAll { $0.connection === connection }
        return isClosed ? closeIdle() : serve()
    }

    /// Refuses whoever waits or comes; connections end when they are idle.
    mutating func close() -> Actions {
        isClosed = true
        var actions = closeIdle()
        actions.refused = waiters.removeAll()
        return actions
    }

    private func closeIdle() -> Actions {
        Actions(
            connectionsToClose: slots.filter(\.isIdle).map(\.connection),
            isClosed: slots.isEmpty && opening == 0
        )
    }

    private mutating func serve() -> Actions {
        var actions = Actions()
        while let waiter = waiters.first, let connection = pick(waiter.use) {
            waiters.popFirst()
            actions.served.append((waiter, connection))
        }
        // While one fails after the other, the back-off decides when to try again.
        guard !isRetryScheduled, !isDown else { return actions }
        let wanted = min(waiters.count - opening, connectionLimit - slots.count - opening)
        actions.connectionsToOpen = max(0, wanted)
        opening += actions.connectionsToOpen
        return actions
    }

    private mutating func pick(_ use: Use) -> PostgresConnection? {
        guard let index = best(use) else { return nil }
        switch use {
        case .shared: slots[index].reads += 1
        case .exclusive: slots[index].isLeased = true
        }
        return slots[index].connection
    }

    /// An idle connection, at best on the caller's loop, which saves two changes of thread; for a read else the
    /// one with the fewest under way, once there are as many connections as may be.
    private func best(_ use: Use) -> Int? {
        var idle: Int?
        var least: Int?
        for (index, slot) in slots.enumerated() where !slot.isLeased && slot.connection.isOpen {
            if slot.isIdle {
                if slot.connection.loop.isCurrent { return index }
                idle = idle ?? index
            } else if slot.reads < pipelineLimit, !slot.connection.isStalled(longerThan: Self.patience),
                least.map({ slots[$0].reads > slot.reads }) ?? true
            {
                least = index
            }
        }
        if let idle { return idle }
        guard case .shared = use else { return nil }
        return slots.count + opening < connectionLimit && !isRetryScheduled ? nil : least
    }

    /// 50 ms, doubled with each failure up to 2 s, less up to a half so that not all come at once.
    private static func backOff(_ failures: Int) -> Duration {
        let most = min(2000.0, 50 * Double(1 << min(failures - 1, 10)))
        return .milliseconds(Int64(most * Double.random(in: 0.5...1)))
    }
}
