import Foundation

/// A tiny HTTP server on the loopback that records requests and answers as a test says.
final class MockServer: @unchecked Sendable {
    // SAFETY: all mutable state is behind `lock`; descriptors are closed by their own threads.

    struct Request: Sendable {
        var method: String
        var target: String
        var headers: [String: String]
        var body: String

        var path: String { String(target.prefix { $0 != "?" }) }
        var query: String { String(target.drop { $0 != "?" }.dropFirst()) }

        func header(_ name: String) -> String? { headers[name.lowercased()] }

        /// The body as sorted JSON, for comparing with a literal.
        var json: String {
            guard let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)),
                let data = try? JSONSerialization.data(
                    withJSONObject: object,
                    options: [.sortedKeys, .withoutEscapingSlashes]
                )
            else { return body }
            return String(decoding: data, as: UTF8.self)
        }
    }

    struct Response: Sendable {
        var status = 200
        var headers = ["Content-Type": "application/json; charset=utf-8"]
        var body = "{}"
        /// Waits for this before answering.
        var gate: Gate?
        /// Closes the connection without an answer.
        var hangsUp = false

        static func json(_ body: String, status: Int = 200) -> Response {
            Response(status: status, body: body)
        }
        static func error(_ code: Int, _ text: String, status: Int = 400) -> Response {
            Response(status: status, body: #"{"code":\#(code),"error":"\#(text)"}"#)
        }
    }

    typealias Handler = @Sendable (Request) -> Response

    private let lock = NSCondition()
    private var recorded: [Request] = []
    private var handler: Handler
    private let listener: Int32
    let port: UInt16

    init(_ handler: @escaping Handler = { _ in .json("{}") }) throws {
        self.handler = handler
        listener = socket(AF_INET, Self.stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let fd = listener
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(fd, $0, length) }
        }
        guard isBound == 0, listen(listener, 512) == 0 else { throw POSIXError(.EADDRINUSE) }
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(fd, $0, &length) }
        }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in accepting() }
    }

    /// Stops listening; connections end by themselves.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    var url: URL {
        var parts = URLComponents()
        parts.scheme = "http"
        parts.host = "127.0.0.1"
        parts.port = Int(port)
        parts.path = "/parse"
        return parts.url ?? URL(fileURLWithPath: "/")
    }

    var requests: [Request] {
        lock.lock()
        defer { lock.unlock() }
        return recorded
    }

    /// Returns when a request of that kind has arrived.
    ///
    /// - Throws: ``NoSuchRequest`` when none does within ten seconds.
    func received(_ isMeant: @escaping @Sendable (Request) -> Bool = { _ in true }) async throws {
        let isThere = await withCheckedContinuation { done in
            Thread.detachNewThread { [self] in
                let limit = Date().addingTimeInterval(10)
                lock.lock()
                while !recorded.contains(where: isMeant), lock.wait(until: limit) {}
                let isThere = recorded.contains(where: isMeant)
                lock.unlock()
                done.resume(returning: isThere)
            }
        }
        guard isThere else { throw NoSuchRequest() }
    }

    struct NoSuchRequest: Error {}

    func answer(_ handler: @escaping Handler) {
        lock.lock()
        self.handler = handler
        lock.unlock()
    }

    private static var stream: Int32 {
        #if canImport(Glibc)
            Int32(SOCK_STREAM.rawValue)
        #else
            SOCK_STREAM
        #endif
    }

    private func accepting() {
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            Thread.detachNewThread { [self] in
                serve(connection)
                close(connection)
            }
        }
    }

    private func serve(_ connection: Int32) {
        var buffer: [UInt8] = []
        while let request = Self.read(connection, &buffer) {
            lock.lock()
            recorded.append(request)
            lock.broadcast()
            let handler = handler
            lock.unlock()
            let response = handler(request)
            response.gate?.wait()
            if response.hangsUp { return }
            var text = "HTTP/1.1 \(response.status) Status\r\n"
            for (name, value) in response.headers { text += "\(name): \(value)\r\n" }
            text += "Content-Length: \(response.body.utf8.count)\r\n\r\n" + response.body
            guard Self.write(connection, Array(text.utf8)) else { return }
        }
    }

    private static func write(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private static func read(_ connection: Int32, _ buffer: inout [UInt8]) -> Request? {
        func more() -> Bool {
            var chunk = [UInt8](repeating: 0, count: 16_384)
            let count = recv(connection, &chunk, chunk.count, 0)
            guard count > 0 else { return false }
            buffer.append(contentsOf: chunk[..<count])
            return true
        }
        let end: [UInt8] = [13, 10, 13, 10]
        var head: Range<Int>?
        while head == nil {
            head = buffer.firstRange(of: end)
            if head == nil, !more() { return nil }
        }
        guard let head else { return nil }
        let lines = String(decoding: buffer[..<head.lowerBound], as: UTF8.self).components(
            separatedBy: "\r\n"
        )
        let start = lines[0].split(separator: " ")
        guard start.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        while buffer.count < head.upperBound + length {
            if !more() { return nil }
        }
        let body = String(decoding: buffer[head.upperBound..<head.upperBound + length], as: UTF8.self)
        buffer.removeFirst(head.upperBound + length)
        return Request(method: String(start[0]), target: String(start[1]), headers: headers, body: body)
    }
}

/// A door that threads wait at until a test opens it.
final class Gate: @unchecked Sendable {
    // SAFETY: the condition guards the flag.
    private let condition = NSCondition()
    private var isOpen = false

    func wait() {
        condition.lock()
        while !isOpen { condition.wait() }
        condition.unlock()
    }

    func open() {
        condition.lock()
        isOpen = true
        condition.broadcast()
        condition.unlock()
    }
}
