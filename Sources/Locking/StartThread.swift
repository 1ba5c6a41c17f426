#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Starts a thread that runs `body` once and ends; `false` when the system refuses.
package func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    final class Start {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    // Virtual memory only; macOS would give 512 KiB, too little for SQLite's deepest expressions.
    pthread_attr_setstacksize(&attributes, 4 << 20)
    // SAFETY: the retained box is consumed exactly once, by the thread or by the failure path.
    let box = Unmanaged.passRetained(Start(body))
    #if canImport(Glibc)
        var thread = pthread_t()
        let code = pthread_create(&thread, &attributes, { run($0) }, box.toOpaque())
    #else
        var thread: pthread_t?
        let code = pthread_create(&thread, &attributes, { run($0) }, box.toOpaque())
    #endif
    if code != 0 { box.release() }
    return code == 0

    func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let argument else { return nil }
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        start.body()
        return nil
    }
}
