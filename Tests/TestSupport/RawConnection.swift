#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Why a connection could not be used.
package struct ConnectionFailure: Error, CustomStringConvertible {
    package let description: String
    /// The other side has ended the connection, in order or by a reset.
    package let isClosed: Bool
}

/// A socket to 127.0.0.1 that sends exactly the bytes it is told to, and reads responses of HTTP/1.1.
///
/// Every call blocks, for at most the time-out; async code uses ``HTTPClient``.
package final class RawConnection {
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    /// Connects.
    ///
    /// - Parameters:
    ///   - port: The port of the server.
    ///   - receiveBuffer: Bytes the system keeps for a reader that does not read; `nil` for its default.
    ///   - timeoutSeconds: What one call may wait at most.
    /// - Throws: ``ConnectionFailure`` when nobody listens there.
    package init(port: Int, receiveBuffer: Int32? = nil, timeoutSeconds: Int = 30) throws {
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw Self.failure("socket") }
        // A server started meanwhile must not keep this connection open.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        if let receiveBuffer { set(SO_RCVBUF, receiveBuffer) }
        let timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        set(SO_RCVTIMEO, timeout)
        set(SO_SNDTIMEO, timeout)
        #if canImport(Darwin)
            set(SO_NOSIGPIPE, Int32(1))
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else {
            let error = Self.failure("connect")
            close(descriptor)
            throw error
        }
        var noDelay: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &noDelay, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        close(descriptor)
    }

    package func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { sendSome($0, 0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Self.failure("send") }
            sent += count
        }
    }

    package func send(_ text: String) throws {
        try send(Array(text.utf8))
    }

    /// Sends what the system takes without waiting.
    ///
    /// - Returns: How many bytes that were.
    package func sendWithoutWaiting(_ bytes: [UInt8]) -> Int {
        max(0, bytes.withUnsafeBytes { sendSome($0, Int32(MSG_DONTWAIT)) })
    }

    /// Says that nothing more comes, and can still read.
    package func endSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads one response.
    ///
    /// - Parameter isHead: The response has no body, whatever its length says.
    /// - Returns: The response; interim ones are passed over.
    /// - Throws: ``ConnectionFailure`` when it does not come whole, or in time.
    package func receive(isHead: Bool = false) throws -> HTTPReply {
        while true {
            let head = try receiveHead()
            // Interim responses (RFC 9110, section 15.2) are not the answer.
            if head.status < 200 { continue }
            let length = head.header("Content-Length").flatMap { Int($0) } ?? 0
            let isEmpty = isHead || head.status == 204 || head.status == 304
            let body = try take(isEmpty ? 0 : length)
            return HTTPReply(status: head.status, headers: head.headers, body: body)
        }
    }

    /// Everything until the server closes.
    package func receiveRest() throws -> [UInt8] {
        while try fill() {}
        defer { buffer = [] }
        return buffer
    }

    /// Whether the server has sent something or ended the connection by now.
    package var hasInput: Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK)
    }

    /// Whether the server ends the connection, having sent nothing more.
    package func isClosedByServer() -> Bool {
        do {
            return try receiveRest().isEmpty
        } catch {
            return (error as? ConnectionFailure)?.isClosed ?? false
        }
    }

    private func receiveHead() throws -> HTTPReply {
        let end = Array("\r\n\r\n".utf8)
        var from = 0
        while true {
            if let position = position(of: end, from: from) {
                let lines = String(decoding: try take(position + end.count), as: UTF8.self)
                    .split(separator: "\r\n").map(String.init)
                let status = lines.first.flatMap { Int($0.dropFirst(9).prefix(3)) }
                guard let status, lines[0].hasPrefix("HTTP/1.1 ") else {
                    throw ConnectionFailure(description: "no status line: \(lines)", isClosed: false)
                }
                let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
                    guard let colon = line.firstIndex(of: ":") else { return nil }
                    let value = line[line.index(after: colon)...].drop { $0 == " " }
                    return (String(line[..<colon]), String(value))
                }
                return HTTPReply(status: status, headers: headers, body: [])
            }
            from = max(0, buffer.count - end.count)
            guard try fill() else {
                throw ConnectionFailure(
                    description: "closed after \(buffer.count) bytes of a response",
                    isClosed: true
                )
            }
        }
    }

    private func position(of needle: [UInt8], from start: Int) -> Int? {
        guard buffer.count >= start + needle.count else { return nil }
        return (start...(buffer.count - needle.count)).first {
            buffer[$0..<$0 + needle.count].elementsEqual(needle)
        }
    }

    private func take(_ count: Int) throws -> [UInt8] {
        while buffer.count < count {
            guard try fill() else {
                throw ConnectionFailure(description: "closed within a response", isClosed: true)
            }
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer[..<count])
    }

    private func fill() throws -> Bool {
        var part = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(descriptor, &part, part.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure("recv") }
            buffer += part[..<count]
            return count > 0
        }
    }

    private func sendSome(_ bytes: UnsafeRawBufferPointer, _ flags: Int32) -> Int {
        #if canImport(Glibc)
            Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags | Int32(MSG_NOSIGNAL))
        #else
            Darwin.send(descriptor, bytes.baseAddress, bytes.count, flags)
        #endif
    }

    private func set(_ option: Int32, _ value: some Any) {
        withUnsafeBytes(of: value) {
            _ = setsockopt(descriptor, SOL_SOCKET, option, $0.baseAddress, socklen_t($0.count))
        }
    }

    private static func failure(_ call: String) -> ConnectionFailure {
        let code = errno
        return ConnectionFailure(
            description: "\(call): \(String(cString: strerror(code)))",
            isClosed: code == ECONNRESET || code == EPIPE
        )
    }
}
