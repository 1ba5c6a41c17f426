import CEventLoop

/// Delivers signals of the operating system on a loop.
// SAFETY: `handles` is confined to the thread of `loop`; the rest is constant.
package final class SignalSource: @unchecked Sendable {
    let loop: EventLoop
    private let handler: @Sendable (Int32) -> Void
    private var handles: [OpaquePointer] = []

    /// Calls `handler` on the loop for each of the signals, from now until ``cancel()``.
    ///
    /// While it lives, the signals do not have their default effect: SIGTERM ends the process only if the
    /// handler does.
    package init(loop: EventLoop, signals: [Int32], _ handler: @escaping @Sendable (Int32) -> Void) {
        self.loop = loop
        self.handler = handler
        loop.execute { [self] in
            for signal in signals {
                var handle: OpaquePointer?
                let owner = Unmanaged.passRetained(self)
                if cel_signal_open(loop.handle, signal, owner.toOpaque(), &handle) == 0, let handle {
                    handles.append(handle)
                } else {
                    owner.release()
                }
            }
        }
    }

    /// Gives the signals their former effect back; the loop keeps the source until then.
    package func cancel() {
        loop.execute { [self] in
            // A loop that has stopped has closed its handles, and this runs elsewhere.
            if loop.isCurrent { for handle in handles { cel_signal_close(handle) } }
            handles = []
        }
    }

    func didReceive(_ number: Int32) { handler(number) }
}
