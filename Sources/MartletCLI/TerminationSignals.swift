import Dispatch
import Locking

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Waits for SIGTERM or SIGINT, which then no longer end the process by themselves.
final class TerminationSignals: Sendable {
    private let stream: AsyncStream<Int32>
    /// Sources end with the last reference to them.
    private let sources: Locked<[Source]>

    init() {
        let (stream, continuation) = AsyncStream<Int32>.makeStream(bufferingPolicy: .bufferingOldest(1))
        self.stream = stream
        let sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(number) }
            source.resume()
            return Source(value: source)
        }
        self.sources = Locked(sources)
    }

    /// The number of the first signal.
    func next() async -> Int32 {
        for await number in stream { return number }
        return SIGTERM
    }
}

/// SAFETY: a dispatch source may be used from any thread; here it is only kept.
private struct Source: @unchecked Sendable {
    let value: any DispatchSourceSignal
}
