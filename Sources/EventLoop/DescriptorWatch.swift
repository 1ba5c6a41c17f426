import CEventLoop

/// Tells when a descriptor that another library owns can be read or written.
///
/// Everything happens on the loop's thread. The descriptor must stay open until ``close()``, after which its
/// owner may close it at once.
// SAFETY: All mutable state is confined to the thread of `loop`.
package final class DescriptorWatch: @unchecked Sendable {
    package let loop: EventLoop
    private var handle: OpaquePointer?
    private var isWatchingWrites = false
    private var ready: ((_ readable: Bool, _ writable: Bool) -> Void)?
    private var closed: (() -> Void)?

    /// Watches for reading from now on.
    ///
    /// - Parameters:
    ///   - loop: The loop whose thread the caller is on.
    ///   - descriptor: Open, and turned non-blocking by this.
    ///   - ready: Called again and again as long as there is something to do. An error or the end of the
    ///     stream counts as readable and writable.
    ///   - closed: Called when the loop stops, not after ``close()``.
    /// - Throws: ``EventLoopError`` when the descriptor cannot be watched; then nothing is called.
    package init(
        loop: EventLoop,
        descriptor: Int32,
        ready: @escaping (_ readable: Bool, _ writable: Bool) -> Void,
        closed: @escaping () -> Void
    ) throws(EventLoopError) {
        precondition(loop.isCurrent, "a descriptor is watched from the thread of its loop")
        self.loop = loop
        self.ready = ready
        self.closed = closed
        let owner = Unmanaged.passRetained(self)
        var code = cel_watch_open(loop.handle, descriptor, owner.toOpaque(), &handle)
        guard code == 0, let handle else {
            owner.release()
            throw EventLoopError(code: code, operation: "watch a descriptor")
        }
        code = cel_watch_set(handle, 1, 0)
        guard code == 0 else {
            close()
            throw EventLoopError(code: code, operation: "watch a descriptor")
        }
    }

    /// Watches for writing too, or not any more.
    package func setWatchingWrites(_ isOn: Bool) {
        guard let handle, isOn != isWatchingWrites else { return }
        isWatchingWrites = isOn
        _ = cel_watch_set(handle, 1, isOn ? 1 : 0)
    }

    /// Ends the watch; nothing is called from now on.
    package func close() {
        ready = nil
        closed = nil
        guard let handle else { return }
        self.handle = nil
        cel_watch_close(handle)
    }

    func didBecomeReady(readable: Bool, writable: Bool) { ready?(readable, writable) }

    func didClose() {
        handle = nil
        let closed = closed
        ready = nil
        self.closed = nil
        closed?()
    }
}
