import CEventLoop

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A socket that was accepted but not yet bound to a loop.
package struct AcceptedSocket: Sendable {
    /// Connected and non-blocking; whoever gets it closes it.
    package let descriptor: Int32
    /// The peer's IP address as text, as the kernel tells it (`::ffff:192.0.2.1` for IPv4 on an IPv6 socket).
    package let remoteAddress: String

    /// Closes the socket without having used it.
    package func discard() { cel_close_fd(descriptor) }
}

/// Accepts connections on one loop and hands each to `accept` there.
///
/// When the process is out of descriptors it stops accepting for a while instead of spinning; the kernel's
/// backlog holds the callers meanwhile.
// SAFETY: All mutable state is confined to the thread of `loop`.
package final class TCPListener: @unchecked Sendable {
    private static let acceptsPerTurn = 64
    private static let backOff: Duration = .milliseconds(200)

    package let loop: EventLoop
    /// The port it listens on, also when 0 was asked for.
    package let port: Int
    private let accept: @Sendable (AcceptedSocket) -> Void
    private let didFail: @Sendable (EventLoopError) -> Void
    private var handle: OpaquePointer?
    private var closeWaiters: [CheckedContinuation<Void, Never>] = []

    /// Listens at once; resolving a name may block.
    ///
    /// - Parameters:
    ///   - loop: Where connections are accepted.
    ///   - host: An address or a name; `::` means all addresses of both families.
    ///   - port: 0…65,535; 0 takes any that is free.
    ///   - backlog: How many callers the kernel holds until they are accepted.
    ///   - didFail: Told when a connection could not be accepted, on the loop.
    ///   - accept: Gets each socket, on the loop.
    /// - Throws: ``EventLoopError`` when the address is unknown, taken or not allowed.
    package init(
        loop: EventLoop,
        host: String,
        port: Int,
        backlog: Int = 1024,
        didFail: @escaping @Sendable (EventLoopError) -> Void,
        accept: @escaping @Sendable (AcceptedSocket) -> Void
    ) async throws(EventLoopError) {
        self.loop = loop
        self.accept = accept
        self.didFail = didFail
        let operation = "listen on \(host):\(port)"
        var realPort: Int32 = 0
        var resolverError: UnsafePointer<CChar>?
        let descriptor = cel_listen(host, Int32(port), Int32(backlog), &realPort, &resolverError)
        if let resolverError {
            throw EventLoopError(code: 0, operation: operation, detail: String(cString: resolverError))
        }
        guard descriptor >= 0 else { throw EventLoopError(code: descriptor, operation: operation) }
        self.port = Int(realPort)
        let code = await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: self.open(descriptor)) }
        }
        guard code == 0 else {
            cel_close_fd(descriptor)
            throw EventLoopError(code: code, operation: operation)
        }
    }

    private func open(_ descriptor: Int32) -> Int32 {
        self.descriptor = descriptor
        let owner = Unmanaged.passRetained(self)
        let code = cel_poll_open(loop.handle, descriptor, owner.toOpaque(), &handle)
        if code != 0 { owner.release() }
        return code
    }

    private var descriptor: Int32 = -1

    /// Stops listening; returns when the port is free again.
    package func close() async {
        await withCheckedContinuation { continuation in
            loop.execute { [self] in
                guard let handle else { return continuation.resume() }
                closeWaiters.append(continuation)
                cel_poll_close(handle)
            }
        }
    }

    func acceptAll() {
        for _ in 0..<Self.acceptsPerTurn {
            guard handle != nil else { return }
            var address = [CChar](repeating: 0, count: 64)
            let client = cel_accept(descriptor, &address, address.count)
            if client >= 0 {
                let text = address.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
                accept(
                    AcceptedSocket(descriptor: client, remoteAddress: String(decoding: text, as: UTF8.self))
                )
                continue
            }
            switch -client {
            case EAGAIN, EWOULDBLOCK: return
            case ECONNABORTED, EPROTO: continue
            default:
                didFail(EventLoopError(code: client, operation: "accept a connection"))
                return pause()
            }
        }
    }

    private func pause() {
        guard let handle else { return }
        _ = cel_poll_set(handle, 0)
        loop.schedule(after: Self.backOff) { [weak self] in
            guard let self, let handle = self.handle else { return }
            _ = cel_poll_set(handle, 1)
        }
    }

    func didClose() {
        handle = nil
        for waiter in closeWaiters { waiter.resume() }
        closeWaiters = []
    }
}
