import EventLoop
import HTTP
import Locking
import Synchronization

/// Endpoints that tests need, and what they saw.
final class TestHandler: HTTPHandler {
    private let state = Locked<(events: [String], waiters: [(String, CheckedContinuation<Void, Never>)])>(
        ([], [])
    )
    private let holds = Locked<[CheckedContinuation<Void, Never>]>([])
    let maxBodyBytes: Int
    /// Bytes that producers have made.
    let produced = Atomic(0)

    init(maxBodyBytes: Int = 1 << 20) { self.maxBodyBytes = maxBodyBytes }

    func maxBodyBytes(for head: HTTPRequestHead) -> Int { maxBodyBytes }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        switch request.path {
        case "/echo":
            return HTTPResponse(status: 200, body: request.body)
        case "/big":
            return HTTPResponse(status: 200, body: Array(repeating: UInt8(ascii: "x"), count: 8 << 20))
        case "/hold":
            // Answered when the test says so.
            await withCheckedContinuation { continuation in
                holds.withLock { $0.append(continuation) }
                note("held")
            }
            return HTTPResponse(status: 200, body: Array("held".utf8))
        case "/forever":
            note("begun")
            await withTaskCancellationHandler {
                try? await Task.sleep(for: .seconds(3600))
            } onCancel: {
                note("cancelled")
            }
            return HTTPResponse(status: 200, body: Array("after all".utf8))
        case "/produce":
            return produced(request)
        case "/status":
            let status = request.query.flatMap { Int($0) } ?? 500
            return HTTPResponse(status: status, body: Array("body".utf8))
        case "/close":
            var response = HTTPResponse(status: 200, body: Array("bye".utf8))
            response.closesConnection = true
            return response
        case "/fields":
            var response = HTTPResponse(
                status: 200,
                headers: HTTPHeaders([
                    ("X-Own", "1"), ("Content-Length", "99"), ("transfer-encoding", "chunked"),
                    ("Connection", "close"), ("X-Bad", "a\r\nX-Injected: b"),
                ])
            )
            response.preformattedHeaders = Array("X-Pre: 2\r\n".utf8)
            return response
        default:
            let isOnLoop = EventLoop.current != nil
            return HTTPResponse(
                status: 200,
                body: Array("\(request.method) \(request.target) \(request.remoteAddress) \(isOnLoop)".utf8)
            )
        }
    }

    func streamsBody(of head: HTTPRequestHead) -> Bool { head.path.hasPrefix("/stream") }

    func respond(to request: HTTPRequest, body: HTTPBodyStream) async -> HTTPResponse {
        switch request.path {
        case "/stream/early":
            return HTTPResponse(status: 403, body: Array("early".utf8))
        case "/stream/held":
            await withCheckedContinuation { continuation in
                holds.withLock { $0.append(continuation) }
                note("held")
            }
        case "/stream/first":
            let first = try? await body.next()
            return HTTPResponse(status: 200, body: Array("\(first?.isEmpty == false)".utf8))
        default:
            break
        }
        do {
            var digest = SampledDigest()
            while let bytes = try await body.next() { digest.update(bytes) }
            return HTTPResponse(status: 200, body: Array(digest.text.utf8))
        } catch {
            note("failed \(error.status)")
            return HTTPResponse(status: 200, body: Array("must not be sent".utf8))
        }
    }

    /// The numbers up to 250, again and again.
    static let sequence = (0..<60_000).map { UInt8($0 % 251) }

    /// Chunks of 50,000 bytes that spell a sequence, with what the query asks to go wrong.
    private func produced(_ request: HTTPRequest) -> HTTPResponse {
        let parts = (request.query ?? "").split(separator: "&")
        let size = parts.first.flatMap { Int($0) } ?? 0
        let fails = parts.contains("fails")
        let length: Int? = parts.contains("chunked") ? nil : size + (parts.contains("short") ? 1 : 0)
        let sent = Locked(0)
        let token = Token { [self] in note("released") }
        var response = HTTPResponse(status: 200)
        response.producer = HTTPBodyProducer(length: length) { [self] in
            withExtendedLifetime(token) {}
            await Task.yield()
            let start = sent.withLock { $0 }
            if fails, start >= size / 2 { throw CancellationError() }
            let count = min(50_000, size - start)
            guard count > 0 else { return nil }
            sent.withLock { $0 += count }
            produced.add(count, ordering: .relaxed)
            return Array(Self.sequence[(start % 251)..<(start % 251 + count)])
        }
        return response
    }

    /// Says when it is released.
    private final class Token: Sendable {
        private let onRelease: @Sendable () -> Void
        init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }
        deinit { onRelease() }
    }

    func respond(to failure: HTTPFailure, head: HTTPRequestHead?) -> HTTPResponse {
        HTTPResponse(
            status: failure.status,
            headers: HTTPHeaders([("X-Failure", "1")]),
            body: Array("\(failure.reason) \(head?.path ?? "-")".utf8)
        )
    }

    /// Lets all held requests go.
    func release() {
        let held = holds.withLock { holds in
            defer { holds = [] }
            return holds
        }
        for continuation in held { continuation.resume() }
    }

    private func note(_ event: String) {
        let ready = state.withLock { state in
            state.events.append(event)
            let ready = state.waiters.filter { $0.0 == event }
            state.waiters.removeAll { $0.0 == event }
            return ready
        }
        for (_, continuation) in ready { continuation.resume() }
    }

    /// Returns when the event has happened.
    func wait(for event: String) async {
        await withCheckedContinuation { continuation in
            let hasHappened = state.withLock { state in
                if state.events.contains(event) { return true }
                state.waiters.append((event, continuation))
                return false
            }
            if hasHappened { continuation.resume() }
        }
    }
}

/// How many bytes there were, and a hash of every 61st of them.
struct SampledDigest {
    private var count = 0
    private var sum = 0

    mutating func update(_ bytes: [UInt8]) {
        var position = (61 - count % 61) % 61
        while position < bytes.count {
            sum = (sum &* 31 &+ Int(bytes[position])) & 0xFFFF_FFFF
            position += 61
        }
        count += bytes.count
    }

    var text: String { "\(count) \(sum)" }
}

/// A server on a free port for the time of `body`.
func withServer<T>(
    loops: Int = 2,
    handler: TestHandler = TestHandler(),
    configure: (inout HTTPServerConfiguration) -> Void = { _ in },
    _ body: (HTTPServer, Int, TestHandler) async throws -> T
) async throws -> T {
    var configuration = HTTPServerConfiguration(host: "127.0.0.1", port: 0)
    configure(&configuration)
    let group = try EventLoopGroup(count: loops)
    let server = HTTPServer(group: group, configuration: configuration, handler: handler)
    let port = try await server.start()
    let result: Result<T, any Error>
    do { result = .success(try await body(server, port, handler)) } catch { result = .failure(error) }
    await server.shutdown(grace: .milliseconds(100))
    await group.shutdown()
    handler.release()
    return try result.get()
}

extension HTTPServer {
    /// Returns when so many connections are open; gives up after five seconds.
    func waitForConnections(_ count: Int) async -> Bool {
        let start = ContinuousClock.now
        while activeConnections != count {
            guard ContinuousClock.now - start < .seconds(5) else { return false }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return true
    }
}
