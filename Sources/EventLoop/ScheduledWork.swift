import Locking
import Synchronization

/// Work that a loop will run at a time, unless it is cancelled first.
package final class ScheduledWork: Sendable {
    /// On the clock of ``EventLoop/now``, in milliseconds.
    let due: UInt64
    private let work: Locked<(@Sendable () -> Void)?>
    private let cancelledTimers: CancelledTimers

    init(due: UInt64, work: @escaping @Sendable () -> Void, cancelledTimers: CancelledTimers) {
        self.due = due
        self.work = Locked(work)
        self.cancelledTimers = cancelledTimers
    }

    /// Drops the work, from any thread; does nothing when it has begun.
    package func cancel() {
        guard take() != nil else { return }
        cancelledTimers.add()
    }

    var isOver: Bool { work.withLock { $0 == nil } }

    func run() { take()?() }

    private func take() -> (@Sendable () -> Void)? {
        work.withLock { work in
            defer { work = nil }
            return work
        }
    }
}

/// How many cancelled timers a loop still holds, about.
///
/// Apart from the loop, as a weak reference to it would make every other reference slower.
final class CancelledTimers: Sendable {
    private let number = Atomic(0)

    var count: Int { number.load(ordering: .relaxed) }
    func add() { number.add(1, ordering: .relaxed) }
    func forget(_ count: Int) { number.subtract(count, ordering: .relaxed) }
}

/// A binary heap of scheduled work, soonest first; of equals, the one inserted first.
struct TimerQueue {
    private var heap: [(order: UInt64, work: ScheduledWork)] = []
    private var inserted: UInt64 = 0

    var count: Int { heap.count }
    var first: ScheduledWork? { heap.first?.work }

    mutating func insert(_ work: ScheduledWork) {
        inserted &+= 1
        heap.append((inserted, work))
        siftUp(heap.count - 1)
    }

    /// Removes and returns the soonest work if its time has come.
    mutating func popDue(at now: UInt64) -> ScheduledWork? {
        guard let first, first.due <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown(0)
        return first
    }

    mutating func removeCancelled() {
        heap.removeAll { $0.work.isOver }
        for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
    }

    private func precedes(_ a: Int, _ b: Int) -> Bool {
        (heap[a].work.due, heap[a].order) < (heap[b].work.due, heap[b].order)
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0, precedes(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && precedes(child, least) {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
