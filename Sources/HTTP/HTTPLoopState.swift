import EventLoop

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the connections of one loop share: deadlines, the output buffer, the date.
// SAFETY: Confined to the thread of `loop`.
final class HTTPLoopState: @unchecked Sendable {
    private static let sweepInterval: Duration = .milliseconds(250)

    let loop: EventLoop
    /// Where responses are encoded; emptied by whoever uses it.
    var output: [UInt8] = []
    /// Set by a shutdown: idle connections close, others after their response.
    var isClosing = false
    private var connections: [HTTPConnection?] = []
    /// Milliseconds of the loop's clock, by slot; `.max` for none.
    ///
    /// Apart from the connections, so that a sweep
    /// over thousands of them reads a few kilobytes.
    private var deadlines: [UInt64] = []
    private var freeSlots: [Int32] = []
    private var openCount = 0
    private var isSweeping = false
    private var cachedDateLine: [UInt8] = []
    private var dateExpires: UInt64 = 0

    init(loop: EventLoop) {
        self.loop = loop
        output.reserveCapacity(4096)
    }

    func add(_ connection: HTTPConnection) -> Int32 {
        openCount += 1
        if !isSweeping { scheduleSweep() }
        if let slot = freeSlots.popLast() {
            connections[Int(slot)] = connection
            return slot
        }
        connections.append(connection)
        deadlines.append(.max)
        return Int32(connections.count - 1)
    }

    func remove(_ slot: Int32) {
        connections[Int(slot)] = nil
        deadlines[Int(slot)] = .max
        freeSlots.append(slot)
        openCount -= 1
    }

    var all: [HTTPConnection] { connections.compactMap { $0 } }

    /// Replaces the deadline, on the loop's clock; `nil` for none.
    func setDeadline(_ deadline: UInt64?, for slot: Int32) { deadlines[Int(slot)] = deadline ?? .max }

    private func scheduleSweep() {
        isSweeping = true
        // Not weakly: a weak reference would make every other one slower. The timer ends with the last
        // connection.
        loop.schedule(after: Self.sweepInterval) { [self] in sweep() }
    }

    private func sweep() {
        isSweeping = false
        let now = loop.now
        for slot in deadlines.indices where deadlines[slot] <= now {
            deadlines[slot] = .max
            connections[slot]?.didReachDeadline()
        }
        if openCount > 0 { scheduleSweep() }
    }

    /// `Date: …\r\n`, made anew when the second changes.
    var dateLine: [UInt8] {
        let now = loop.now
        if now >= dateExpires {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            cachedDateLine = Array("Date: \(HTTPDate.format(secondsSince1970: time.tv_sec))\r\n".utf8)
            dateExpires = now + 1000 - UInt64(time.tv_nsec / 1_000_000)
        }
        return cachedDateLine
    }
}
