import Foundation

/// Runs what blocks on a thread of its own, so that async code beside it goes on.
package enum Blocking {
    package static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: body()) }.start()
        }
    }
}
