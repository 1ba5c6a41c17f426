import CEventLoop

/// What a ``TCPConnection`` tells its owner, always on the connection's loop.
package protocol TCPConnectionDelegate: AnyObject {
    /// `bytes` is the loop's shared buffer: copy what is to outlive the call.
    func connection(_ connection: TCPConnection, didRead bytes: UnsafeRawBufferPointer)
    /// The peer sends nothing more; it may still read.
    func connectionDidReadEnd(_ connection: TCPConnection)
    /// Everything that was queued has been handed to the system.
    func connectionDidDrain(_ connection: TCPConnection)
    /// Reset by the peer, or a failed write. Close it.
    func connection(_ connection: TCPConnection, didFail error: EventLoopError)
    /// The last call.
    func connectionDidClose(_ connection: TCPConnection)
}

/// A stream of bytes to a peer, bound to one loop.
///
/// Every member but ``loop`` is for the loop's thread. An idle connection holds no buffer: reads land in a
/// buffer of the loop, writes go to the socket first and only what it does not take is copied and queued.
// SAFETY: All state is confined to the thread of `loop`, checked in debug builds.
package final class TCPConnection: @unchecked Sendable {
    package let loop: EventLoop
    private var delegate: (any TCPConnectionDelegate)?
    private var handle: OpaquePointer?

    /// Takes over a connected, non-blocking socket, on the loop's thread.
    ///
    /// The delegate is kept until the connection has closed.
    ///
    /// - Throws: ``EventLoopError``; the descriptor is closed then.
    package init(descriptor: Int32, loop: EventLoop) throws(EventLoopError) {
        self.loop = loop
        assert(loop.isCurrent)
        var handle: OpaquePointer?
        let owner = Unmanaged.passRetained(self)
        let code = cel_tcp_open(loop.handle, descriptor, owner.toOpaque(), &handle)
        guard code == 0 else {
            owner.release()
            throw EventLoopError(code: code, operation: "take over a socket")
        }
        self.handle = handle
    }

    package var isOpen: Bool { handle != nil }

    /// Bytes that the socket has not taken yet.
    package var queuedBytes: Int { handle.map { cel_tcp_queued($0) } ?? 0 }

    /// ``queuedBytes`` and what the system holds but the peer has not acknowledged.
    ///
    /// It shrinks when the peer reads, while the queue alone may stand still for long: the system takes more
    /// only when a good part of its buffer is free. Costs a system call.
    package var outstandingBytes: Int { handle.map { cel_tcp_outstanding($0) } ?? 0 }

    /// Begins to read.
    package func start(delegate: any TCPConnectionDelegate) {
        self.delegate = delegate
        resumeReading()
    }

    package func resumeReading() {
        guard let handle else { return }
        _ = cel_tcp_read_start(handle)
    }

    /// Stops reading, so that the peer is held back once the system's buffers are full.
    package func pauseReading() {
        guard let handle else { return }
        cel_tcp_read_stop(handle)
    }

    /// The most bytes one read delivers, 1…65,536.
    package func limitReads(to bytes: Int) {
        guard let handle else { return }
        cel_tcp_set_read_limit(handle, bytes)
    }

    /// Writes both parts in order; what the socket does not take now is copied and sent later.
    ///
    /// The queue has no limit of its own: look at ``queuedBytes`` before writing more.
    ///
    /// - Returns: `false` when the peer is gone or the connection closed.
    package func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer? = nil) -> Bool {
        guard let handle else { return false }
        return cel_tcp_write(handle, first.baseAddress, first.count, second?.baseAddress, second?.count ?? 0)
            == 0
    }

    /// Sends FIN after what is queued; reading goes on.
    package func shutdownWrites() {
        guard let handle else { return }
        _ = cel_tcp_shutdown(handle)
    }

    /// Closes; what is still queued may not arrive.
    ///
    /// The delegate hears `connectionDidClose` later.
    package func close() {
        guard let handle else { return }
        self.handle = nil
        cel_tcp_close(handle)
    }

    /// Closes with RST, so that the system forgets what the peer does not read.
    package func abort() {
        guard let handle else { return }
        cel_tcp_abort_on_close(handle)
        close()
    }

    func didRead(_ bytes: UnsafeRawPointer?, count: Int) {
        guard handle != nil, let delegate else { return }
        if count >= 0 {
            delegate.connection(self, didRead: UnsafeRawBufferPointer(start: bytes, count: count))
        } else if count == CEL_EOF {
            delegate.connectionDidReadEnd(self)
        } else {
            delegate.connection(self, didFail: EventLoopError(code: Int32(count), operation: "read"))
        }
    }

    func didWrite(status: Int32) {
        guard let handle, let delegate else { return }
        if status < 0 {
            delegate.connection(self, didFail: EventLoopError(code: status, operation: "write"))
        } else if cel_tcp_queued(handle) == 0 {
            delegate.connectionDidDrain(self)
        }
    }

    func didClose() {
        handle = nil
        delegate?.connectionDidClose(self)
        delegate = nil
    }
}
