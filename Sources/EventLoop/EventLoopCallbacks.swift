import CEventLoop

/// The entry points libuv calls, one table for all loops.
enum EventLoopCallbacks {
    // SAFETY: Written once here, only read afterwards, never freed.
    nonisolated(unsafe) static let table: UnsafePointer<cel_callbacks> = {
        let table = UnsafeMutablePointer<cel_callbacks>.allocate(capacity: 1)
        table.initialize(
            to: cel_callbacks(
                woken: { loop($0).didWake() },
                idle: { loop($0).didIdle() },
                timer: { loop($0).didReachTimer() },
                stopped: { loop($0).didStop() },
                tcp_read: { owner, bytes, count in
                    let connection = Unmanaged<TCPConnection>.fromOpaque(owner).takeUnretainedValue()
                    connection.loop.turn { connection.didRead(bytes, count: count) }
                },
                tcp_written: { owner, status in
                    let connection = Unmanaged<TCPConnection>.fromOpaque(owner).takeUnretainedValue()
                    connection.loop.turn { connection.didWrite(status: status) }
                },
                tcp_closed: { owner in
                    let connection = Unmanaged<TCPConnection>.fromOpaque(owner).takeRetainedValue()
                    connection.loop.turn { connection.didClose() }
                },
                poll_readable: { owner, _ in
                    let listener = Unmanaged<TCPListener>.fromOpaque(owner).takeUnretainedValue()
                    listener.loop.turn { listener.acceptAll() }
                },
                poll_closed: { owner in
                    let listener = Unmanaged<TCPListener>.fromOpaque(owner).takeRetainedValue()
                    listener.loop.turn { listener.didClose() }
                },
                watch_ready: { owner, readable, writable in
                    let watch = Unmanaged<DescriptorWatch>.fromOpaque(owner).takeUnretainedValue()
                    watch.loop.turn { watch.didBecomeReady(readable: readable != 0, writable: writable != 0) }
                },
                watch_closed: { owner in
                    let watch = Unmanaged<DescriptorWatch>.fromOpaque(owner).takeRetainedValue()
                    watch.loop.turn { watch.didClose() }
                },
                signal_received: { owner, number in
                    let source = Unmanaged<SignalSource>.fromOpaque(owner).takeUnretainedValue()
                    source.loop.turn { source.didReceive(number) }
                },
                signal_closed: { Unmanaged<SignalSource>.fromOpaque($0).release() }
            )
        )
        return UnsafePointer(table)
    }()

    private static func loop(_ owner: UnsafeMutableRawPointer) -> EventLoop {
        Unmanaged<EventLoop>.fromOpaque(owner).takeUnretainedValue()
    }
}
