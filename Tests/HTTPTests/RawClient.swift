import EventLoop

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A socket to a server on 127.0.0.1 that sends exactly what a test says.
// SAFETY: A test that sends from another task while it reads touches disjoint state.
final class RawClient: @unchecked Sendable {
    struct Failure: Error {
        let text: String
        var isReset = false
    }

    let descriptor: Int32

    /// Connects; a small `receiveBuffer` (bytes) fills up soon when a test does not read.
    init(port: Int, receiveBuffer: Int32? = nil, timeoutSeconds: Int = 10) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(text: "socket: \(errno)") }
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Failure(text: "connect: \(errno)") }
    }

    deinit { close(descriptor) }

    /// Blocking calls have threads of their own, so that they do not hold up what they wait for.
    private static let threads = BlockingPool(name: "client", threads: 64, queueLimit: 1000)

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) async throws { try await Self.threads.run { try self.sendNow(bytes) } }

    /// One response: its head, and its body by Content-Length.
    func response(isHead: Bool = false) async throws -> (head: String, body: String) {
        try await Self.threads.run { try self.responseNow(isHead: isHead) }
    }

    /// The status of one response.
    func status() async throws -> Int { Int(try await response().head.dropFirst(9).prefix(3)) ?? 0 }

    /// Everything until the server closes.
    func rest() async throws -> String { try await Self.threads.run { try self.restNow() } }

    /// Whether the server closes, by FIN or RST, having sent nothing more.
    func isClosed() async -> Bool {
        do { return try await rest().isEmpty } catch { return (error as? Failure)?.isReset ?? false }
    }

    /// As ``response(isHead:)``, with the body as it is.
    func bytes() async throws -> (head: String, body: [UInt8]) {
        try await Self.threads.run { try self.bytesNow(isHead: false) }
    }

    /// As ``rest()``, as it is.
    func restBytes() async throws -> [UInt8] { try await Self.threads.run { try self.restBytesNow() } }

    private func sendNow(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(text: "send: \(errno)") }
            sent += count
        }
    }

    /// Sends what fits without waiting; `false` when nothing did.
    func sendSome(_ bytes: [UInt8]) -> Bool { sendCount(bytes) > 0 }

    /// Sends what fits without waiting; returns how much did.
    func sendCount(_ bytes: [UInt8]) -> Int {
        max(0, Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)))
    }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Has `deinit` close with RST.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Whether something can be read now, the end of the stream included.
    var hasInput: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) >= 0
    }

    /// Reads and forgets up to so many bytes without waiting; returns how many there were.
    func receiveSome(_ count: Int) -> Int {
        var part = [UInt8](repeating: 0, count: count)
        return max(0, recv(descriptor, &part, count, Int32(MSG_DONTWAIT)))
    }

    private var buffer: [UInt8] = []

    private func receive() throws -> Bool {
        var part = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &part, part.count, 0)
        guard count >= 0 else {
            let code = errno
            throw Failure(
                text: "recv: \(code), after \(text(Array(buffer.prefix(300))))",
                isReset: code == ECONNRESET
            )
        }
        buffer += part[..<count]
        return count > 0
    }

    private func responseNow(isHead: Bool) throws -> (head: String, body: String) {
        let (head, body) = try bytesNow(isHead: isHead)
        return (head, text(body))
    }

    private func bytesNow(isHead: Bool) throws -> (head: String, body: [UInt8]) {
        while true {
            if let end = find(Array("\r\n\r\n".utf8)) {
                let head = text(Array(buffer[..<(end + 4)]))
                let length = head.lowercased().components(after: "content-length: ").flatMap { Int($0) } ?? 0
                let total = end + 4 + (isHead ? 0 : length)
                while buffer.count < total {
                    guard try receive() else { throw Failure(text: "closed within a body") }
                }
                let body = Array(buffer[(end + 4)..<total])
                buffer.removeFirst(total)
                return (head, body)
            }
            guard try receive() else {
                throw Failure(text: "closed after \(text(Array(buffer.prefix(300))))")
            }
        }
    }

    private func restNow() throws -> String { text(try restBytesNow()) }

    private func restBytesNow() throws -> [UInt8] {
        while try receive() {}
        defer { buffer = [] }
        return buffer
    }

    private func find(_ needle: [UInt8]) -> Int? {
        guard buffer.count >= needle.count else { return nil }
        return (0...(buffer.count - needle.count)).first { Array(buffer[$0..<$0 + needle.count]) == needle }
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension String {
    /// What follows `marker` up to the end of the line.
    func components(after marker: String) -> String? {
        guard let range = firstRange(of: marker) else { return nil }
        return String(self[range.upperBound...].prefix { !$0.isNewline })
    }
}
