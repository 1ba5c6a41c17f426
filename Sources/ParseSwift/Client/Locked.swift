import Foundation

/// A value behind a lock.
///
/// `Synchronization.Mutex` needs iOS 18, and this module supports iOS 15.
final class Locked<State>: @unchecked Sendable {
    // SAFETY: `state` is only touched between `lock()` and `unlock()`.
    private let lock = NSLock()
    private var state: State

    init(_ state: State) {
        self.state = state
    }

    /// Runs `body` with exclusive access; `body` must be short and must not call back into user code.
    func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}

/// Carries a value across threads whose safety is argued for where the box is made.
struct UncheckedBox<Value>: @unchecked Sendable {
    // SAFETY: each use states why only one thread at a time reaches the value.
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
