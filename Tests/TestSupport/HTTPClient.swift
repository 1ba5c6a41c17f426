import Dispatch

/// A client of a server on 127.0.0.1 over one keep-alive connection, one request at a time.
///
/// It waits on a thread of its own, so that what it waits for can run. A connection that the server has closed
/// is opened again for the next request; within a request nothing is repeated.
package final class HTTPClient: Sendable {
    private let queue = DispatchQueue(label: "http-client")
    private let state: State

    // SAFETY: reached on `queue` only.
    private final class State: @unchecked Sendable {
        let port: Int
        let receiveBuffer: Int32?
        let timeoutSeconds: Int
        var connection: RawConnection?
        var connectionsOpened = 0

        init(port: Int, receiveBuffer: Int32?, timeoutSeconds: Int) {
            self.port = port
            self.receiveBuffer = receiveBuffer
            self.timeoutSeconds = timeoutSeconds
        }

        func open() throws -> RawConnection {
            if let connection { return connection }
            let new = try RawConnection(
                port: port,
                receiveBuffer: receiveBuffer,
                timeoutSeconds: timeoutSeconds
            )
            connection = new
            connectionsOpened += 1
            return new
        }
    }

    /// Connects with the first request.
    package init(port: Int, receiveBuffer: Int32? = nil, timeoutSeconds: Int = 30) {
        state = State(port: port, receiveBuffer: receiveBuffer, timeoutSeconds: timeoutSeconds)
    }

    /// Sends a request and reads its response.
    ///
    /// `Host` is added, and `Content-Length` where there is a body.
    package func send(
        _ method: String,
        _ target: String,
        headers: [(String, String)] = [],
        body: [UInt8]? = nil
    ) async throws -> HTTPReply {
        try await exchange(
            Self.request(method, target, headers: headers, body: body),
            isHead: method == "HEAD"
        )
    }

    /// Sends bytes as they are and reads one response.
    package func exchange(_ bytes: [UInt8], isHead: Bool = false) async throws -> HTTPReply {
        try await use { connection in
            do {
                try connection.send(bytes)
            } catch let error as ConnectionFailure where error.isClosed {
                // A server may answer before it has everything, and close: the answer can still be read.
            }
            return try connection.receive(isHead: isHead)
        }
    }

    /// Does something with the connection on the client's own thread, where waiting is allowed.
    package func use<Value: Sendable>(
        _ body: @escaping @Sendable (RawConnection) throws -> Value
    ) async throws -> Value {
        let state = state
        return try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result {
                        do {
                            let value = try body(try state.open())
                            if let reply = value as? HTTPReply, reply.closes { state.connection = nil }
                            return value
                        } catch {
                            state.connection = nil
                            throw error
                        }
                    }
                )
            }
        }
    }

    /// Closes the connection.
    package func close() async {
        let state = state
        await withCheckedContinuation { continuation in
            queue.async {
                state.connection = nil
                continuation.resume()
            }
        }
    }

    /// How many connections were opened since the client was made.
    package var connectionsOpened: Int {
        get async {
            let state = state
            return await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: state.connectionsOpened) }
            }
        }
    }

    /// The bytes of a request.
    package static func request(
        _ method: String,
        _ target: String,
        headers: [(String, String)] = [],
        body: [UInt8]? = nil
    ) -> [UInt8] {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Length: \(body.count)\r\n" }
        return Array((text + "\r\n").utf8) + (body ?? [])
    }
}
