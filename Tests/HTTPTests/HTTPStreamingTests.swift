import EventLoop
import HTTP
import Synchronization
import Testing

@Suite("Bodies that pass through", .timeLimit(.minutes(1))) struct HTTPStreamingTests {
    /// Bytes that differ from place to place, made without a step for each: the tests are not optimised.
    private static func body(_ count: Int) -> [UInt8] {
        let unit = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 7 % 253) }
        var bytes: [UInt8] = []
        while bytes.count < count { bytes += unit.prefix(count - bytes.count) }
        return bytes
    }

    private static func digest(_ bytes: [UInt8]) -> String {
        var digest = SampledDigest()
        digest.update(bytes)
        return digest.text
    }

    private static func post(_ path: String, _ body: [UInt8], _ fields: String = "") -> [UInt8] {
        Array("POST \(path) HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\(fields)\r\n".utf8)
            + body
    }

    private static func chunked(_ path: String, _ body: [UInt8], by size: Int) -> [UInt8] {
        var bytes = Array("POST \(path) HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        for start in stride(from: 0, to: body.count, by: size) {
            let part = body[start..<min(start + size, body.count)]
            bytes += Array("\(String(part.count, radix: 16))\r\n".utf8) + part + Array("\r\n".utf8)
        }
        return bytes + Array("0\r\n\r\n".utf8)
    }

    // MARK: - Requests

    @Test(arguments: [1, 1000, 65_536, 131_072, 900_000])
    func `a body arrives whole, by length and by chunks, and the connection goes on`(size: Int) async throws {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            let body = Self.body(size)
            for request in [Self.post("/stream", body), Self.chunked("/stream", body, by: 7000)] {
                try await client.send(request)
                #expect(try await client.response().body == Self.digest(body))
            }
            try await client.send("GET /after HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await client.response().body.hasPrefix("GET /after"))
        }
    }

    @Test func `requests behind a streamed one are answered in order`() async throws {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            let body = Self.body(200_000)
            let all =
                Self.post("/stream", body) + Array("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
                + Self.post("/stream", body) + Array("GET /4 HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
            let sender = Task.detached { try await client.send(all) }
            #expect(try await client.response().body == Self.digest(body))
            #expect(try await client.response().body.hasPrefix("GET /2"))
            #expect(try await client.response().body == Self.digest(body))
            #expect(try await client.response().body.hasPrefix("GET /4"))
            try await sender.value
        }
    }

    @Test func `a client is held back while the handler does not read`() async throws {
        try await withServer(handler: TestHandler(maxBodyBytes: 64 << 20)) { _, port, handler in
            let client = try RawClient(port: port)
            let body = Self.body(24 << 20)
            try await client.send(
                "POST /stream/held HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n"
            )
            await handler.wait(for: "held")
            var sent = 0
            // Until the sockets' buffers are full for a while; without back-pressure all would go.
            for _ in 0..<200 {
                let count = client.sendCount(Array(body[sent..<min(sent + 65_536, body.count)]))
                sent += count
                if count == 0 { try await Task.sleep(for: .milliseconds(2)) }
            }
            #expect(sent < body.count)
            handler.release()
            try await client.send(Array(body[sent...]))
            #expect(try await client.response().body == Self.digest(body))
        }
    }

    @Test func `a handler that lags costs the client no deadline`() async throws {
        try await withServer {
            $0.deadlines.bodyIdle = .milliseconds(300)
        } _: { _, port, handler in
            let client = try RawClient(port: port)
            let body = Self.body(900_000)
            let sender = Task.detached { try await client.send(Self.post("/stream/held", body)) }
            await handler.wait(for: "held")
            try await Task.sleep(for: .milliseconds(1200))
            handler.release()
            #expect(try await client.response().body == Self.digest(body))
            try await sender.value
        }
    }

    @Test func `a silent body fails for the handler and ends with 408`() async throws {
        try await withServer {
            $0.deadlines.bodyIdle = .milliseconds(300)
        } _: { _, port, handler in
            let client = try RawClient(port: port)
            try await client.send("POST /stream HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc")
            let text = try await client.rest()
            #expect(text.hasPrefix("HTTP/1.1 408 ") && text.contains("Connection: close\r\n"))
            await handler.wait(for: "failed 408")
        }
    }

    @Test func `a body over the limit fails as soon as that is known`() async throws {
        try await withServer(handler: TestHandler(maxBodyBytes: 100_000)) { _, port, handler in
            let announced = try RawClient(port: port)
            try await announced.send("POST /stream HTTP/1.1\r\nHost: h\r\nContent-Length: 100001\r\n\r\n")
            #expect(try await announced.status() == 413)
            let client = try RawClient(port: port)
            let head = "POST /stream HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            try await client.send(Array((head + "186a1\r\n").utf8))
            let text = try await client.rest()
            #expect(text.hasPrefix("HTTP/1.1 413 ") && text.hasSuffix("request entity too large /stream"))
            await handler.wait(for: "failed 413")
        }
    }

    @Test func `a malformed chunk fails for the handler and ends with 400`() async throws {
        try await withServer { _, port, handler in
            let client = try RawClient(port: port)
            try await client.send("POST /stream HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz")
            #expect(try await client.rest().hasPrefix("HTTP/1.1 400 "))
            await handler.wait(for: "failed 400")
        }
    }

    @Test(arguments: [true, false])
    func `a connection that ends within the body fails it`(byReset: Bool) async throws {
        try await withServer { server, port, handler in
            do {
                let client = try RawClient(port: port)
                try await client.send("POST /stream HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nabc")
                try await Task.sleep(for: .milliseconds(20))
                if byReset { client.resetOnClose() }
            }
            await handler.wait(for: "failed 400")
            #expect(await server.waitForConnections(0))
        }
    }

    @Test func `what a handler leaves of a short body is thrown away and the connection goes on`()
        async throws
    {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            for path in ["/stream/early", "/stream/first", "/stream/early"] {
                let sender = Task.detached { try await client.send(Self.post(path, Self.body(500_000))) }
                let (head, body) = try await client.response()
                #expect(body == (path == "/stream/first" ? "true" : "early"))
                #expect(!head.contains("Connection"))
                try await sender.value
            }
            try await client.send("GET /after HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await client.response().body.hasPrefix("GET /after"))
        }
    }

    @Test func `what a handler leaves of a long body closes the connection after the answer`() async throws {
        try await withServer(handler: TestHandler(maxBodyBytes: 64 << 20)) { _, port, _ in
            let client = try RawClient(port: port)
            try await client.send(
                "POST /stream/early HTTP/1.1\r\nHost: h\r\nContent-Length: 30000000\r\n\r\nabc"
            )
            let text = try await client.rest()
            #expect(text.contains("Connection: close\r\n") && text.hasSuffix("early"))
        }
    }

    @Test func `leave to send is given when the handler asks for the body`() async throws {
        try await withServer { _, port, handler in
            let fields = "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n"
            let client = try RawClient(port: port)
            try await client.send("POST /stream/held HTTP/1.1\r\nHost: h\r\n" + fields)
            await handler.wait(for: "held")
            try await Task.sleep(for: .milliseconds(20))
            #expect(!client.hasInput)
            handler.release()
            #expect(try await client.response().head == "HTTP/1.1 100 Continue\r\n\r\n")
            try await client.send("abc")
            #expect(try await client.response().body == Self.digest(Array("abc".utf8)))
            // Without leave the client may send the body or not: only the end of the connection is clear.
            try await client.send("POST /stream/early HTTP/1.1\r\nHost: h\r\n" + fields)
            let text = try await client.rest()
            #expect(text.hasPrefix("HTTP/1.1 403 ") && text.contains("Connection: close\r\n"))
        }
    }

    // MARK: - Responses

    private static func sequence(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            bytes += TestHandler.sequence.prefix(min(251 * 200, count - bytes.count))
        }
        return bytes
    }

    @Test(arguments: [0, 1, 50_000, 3_000_000])
    func `a body of known length has it, and the connection goes on`(size: Int) async throws {
        try await withServer { _, port, handler in
            let client = try RawClient(port: port)
            for _ in 0..<2 {
                try await client.send("GET /produce?\(size) HTTP/1.1\r\nHost: h\r\n\r\n")
                let (head, body) = try await client.bytes()
                #expect(head.contains("Content-Length: \(size)\r\n") && !head.contains("Connection"))
                #expect(body == Self.sequence(size))
            }
            await handler.wait(for: "released")
        }
    }

    @Test(arguments: [0, 1, 50_000, 800_000])
    func `a body of unknown length comes in chunks`(size: Int) async throws {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            let request = "GET /produce?\(size)&chunked HTTP/1.1\r\nHost: h\r\n"
            try await client.send(request + "\r\n" + request + "Connection: close\r\n\r\n")
            let rest = try await client.restBytes()
            let end = Array("\r\n0\r\n\r\n".utf8)
            var expected: [UInt8] = []
            for start in stride(from: 0, to: size, by: 50_000) {
                let part = Self.sequence(size)[start..<min(start + 50_000, size)]
                expected +=
                    Array("\(start == 0 ? "" : "\r\n")\(String(part.count, radix: 16))\r\n".utf8) + part
            }
            expected += size == 0 ? Array(end.dropFirst(2)) : end
            let heads = rest.split(separator: expected).map { String(decoding: $0, as: UTF8.self) }
            #expect(heads.count == 2)
            #expect(heads.allSatisfy { $0.contains("Transfer-Encoding: chunked\r\n") })
            #expect(heads.allSatisfy { !$0.contains("Content-Length") })
        }
    }

    @Test func `for HTTP 1 0 the end of the connection ends a body of unknown length`() async throws {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            try await client.send("GET /produce?120000&chunked HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let rest = try await client.restBytes()
            #expect(rest.suffix(120_000).elementsEqual(Self.sequence(120_000)))
            let head = String(decoding: rest.dropLast(120_000), as: UTF8.self)
            #expect(head.contains("Connection: close\r\n") && head.hasSuffix("\r\n\r\n"))
            #expect(!head.contains("Transfer-Encoding") && !head.contains("Content-Length"))
        }
    }

    @Test func `HEAD has the length and makes no body`() async throws {
        try await withServer { _, port, handler in
            let client = try RawClient(port: port)
            try await client.send("HEAD /produce?100000 HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await client.response(isHead: true).head.contains("Content-Length: 100000\r\n"))
            try await client.send("GET /after HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await client.response().body.hasPrefix("GET /after"))
            #expect(handler.produced.load(ordering: .relaxed) == 0)
        }
    }

    @Test(arguments: ["200000&fails", "200000&fails&chunked", "200000&short"])
    func `a body that is not made whole cuts the connection`(query: String) async throws {
        try await withServer { server, port, _ in
            let client = try RawClient(port: port)
            try await client.send("GET /produce?\(query) HTTP/1.1\r\nHost: h\r\n\r\n")
            let received = try? await client.restBytes()
            // Either cut by a reset, or visibly incomplete.
            #expect(!(received ?? []).suffix(5).elementsEqual("0\r\n\r\n".utf8))
            #expect((received?.count ?? 0) < 201_000)
            #expect(await server.waitForConnections(0))
        }
    }

    @Test func `no more is made than the client takes, and what is left is released when it goes`()
        async throws
    {
        try await withServer { server, port, handler in
            let size = 64 << 20
            do {
                let client = try RawClient(port: port, receiveBuffer: 4096)
                try await client.send("GET /produce?\(size) HTTP/1.1\r\nHost: h\r\n\r\n")
                var last = -1
                while handler.produced.load(ordering: .relaxed) != last {
                    last = handler.produced.load(ordering: .relaxed)
                    try await Task.sleep(for: .milliseconds(100))
                }
                // What the sockets hold and the cap of the server, no more.
                #expect(last > 0 && last < 16 << 20)
            }
            await handler.wait(for: "released")
            #expect(await server.waitForConnections(0))
        }
    }

    @Test func `a client that takes nothing is cut, one that takes little is not`() async throws {
        try await withServer {
            $0.deadlines.write = .seconds(2)
        } _: { server, port, _ in
            let request = "GET /produce?\(32 << 20) HTTP/1.1\r\nHost: h\r\n\r\n"
            let slow = try RawClient(port: port, receiveBuffer: 65_536)
            let silent = try RawClient(port: port, receiveBuffer: 4096)
            try await slow.send(request)
            try await silent.send(request)
            for _ in 0..<30 {
                _ = slow.receiveSome(200_000)
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(await server.waitForConnections(1))
            withExtendedLifetime((slow, silent)) {}
        }
    }

    @Test func `a shutdown lets a body end`() async throws {
        let group = try EventLoopGroup(count: 1)
        var configuration = HTTPServerConfiguration(host: "127.0.0.1", port: 0)
        configuration.backlog = 8
        let server = HTTPServer(group: group, configuration: configuration, handler: TestHandler())
        let client = try RawClient(port: try await server.start(), receiveBuffer: 65_536)
        try await client.send("GET /produce?12000000 HTTP/1.1\r\nHost: h\r\n\r\n")
        while !client.hasInput { try await Task.sleep(for: .milliseconds(2)) }
        let shutdown = Task { await server.shutdown(grace: .seconds(20)) }
        let body = try await client.restBytes()
        #expect(body.suffix(12_000_000).elementsEqual(Self.sequence(12_000_000)))
        await shutdown.value
        await group.shutdown()
    }
}
