import CEventLoop
import Synchronization

/// The loops of a process, one per core unless told otherwise.
package final class EventLoopGroup: Sendable {
    package let loops: [EventLoop]
    private let turn = Atomic(0)

    /// How many cores are online now; at least 1.
    package static var onlineCores: Int { Int(cel_online_cores()) }

    /// Makes and starts the loops, and has the process ignore SIGPIPE.
    ///
    /// - Parameter count: At least 1.
    /// - Throws: ``EventLoopError`` when the system is out of descriptors, memory or threads.
    package init(count: Int = EventLoopGroup.onlineCores) throws(EventLoopError) {
        precondition(count > 0, "a group has at least one loop")
        cel_ignore_sigpipe()
        var loops: [EventLoop] = []
        for index in 0..<count {
            let loop = try EventLoop(name: "loop-\(index)")
            try loop.start()
            loops.append(loop)
        }
        self.loops = loops
    }

    /// The loops in turn.
    package func next() -> EventLoop {
        let turn = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return loops[Int(UInt(bitPattern: turn) % UInt(loops.count))]
    }

    /// Stops all loops; returns when all have closed their sockets.
    package func shutdown() async {
        for loop in loops { await loop.stop() }
    }
}
