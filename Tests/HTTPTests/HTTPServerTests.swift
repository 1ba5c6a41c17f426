import EventLoop
import HTTP
import Testing

@Suite("The HTTP server", .timeLimit(.minutes(1))) struct HTTPServerTests {
    // MARK: - Responses

    @Test func `answers on the loop with length and date and keeps the connection`() async throws {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            for number in 0..<3 {
                try await client.send("GET /a?\(number) HTTP/1.1\r\nHost: h\r\n\r\n")
                let (head, body) = try await client.response()
                #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(body == "GET /a?\(number) 127.0.0.1 true")
                #expect(head.contains("Content-Length: \(body.utf8.count)\r\n"))
                #expect(head.components(after: "Date: ")?.hasSuffix(" GMT") == true)
                #expect(!head.contains("Connection"))
            }
        }
    }

    @Test(arguments: [(200, true), (204, false), (304, false), (404, true), (500, true)])
    func `has a length where the status allows one`(status: Int, hasBody: Bool) async throws {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            try await client.send("GET /status?\(status) HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.0\r\n\r\n")
            let (head, body) = try await client.response()
            #expect(head.hasPrefix("HTTP/1.1 \(status) "))
            #expect(head.contains("Content-Length: 4\r\n") == hasBody)
            #expect(body == (hasBody ? "body" : ""))
            // Whatever the status, the connection goes on.
            #expect(!head.contains("Connection"))
            #expect(try await client.status() == 200)
        }
    }

    @Test func `HEAD has the length of the body and no body`() async throws {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            try await client.send("HEAD /status?200 HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await client.response(isHead: true).head.contains("Content-Length: 4\r\n"))
            try await client.send("GET /next HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await client.response().body.hasPrefix("GET /next"))
        }
    }

    @Test func `an empty body has length 0, and framing fields of the handler are dropped`() async throws {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            try await client.send("GET /fields HTTP/1.1\r\nHost: h\r\n\r\n")
            let head = try await client.response().head.split(separator: "\r\n").map(String.init)
            #expect(
                head.filter { !$0.hasPrefix("Date") } == [
                    "HTTP/1.1 200 OK", "X-Own: 1", "X-Bad: a  X-Injected: b", "X-Pre: 2", "Content-Length: 0",
                ]
            )
        }
    }

    @Test(
        arguments: [
            ("HTTP/1.1", "", nil), ("HTTP/1.1", "Connection: close\r\n", "close"), ("HTTP/1.0", "", "close"),
            ("HTTP/1.0", "Connection: keep-alive\r\n", "keep-alive"),
        ] as [(String, String, String?)]
    )
    func `says close exactly when it closes`(version: String, field: String, said: String?) async throws {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            try await client.send("GET / \(version)\r\nHost: h\r\n\(field)\r\n")
            let head = try await client.response().head
            #expect(head.components(after: "Connection: ") == said)
            if said == "close" {
                #expect(await client.isClosed())
            } else {
                try await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try await client.status() == 200)
            }
        }
    }

    @Test func `a handler may close the connection`() async throws {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            try await client.send("GET /close HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n")
            let all = try await client.rest()
            #expect(all.contains("Connection: close\r\n"))
            #expect(all.hasSuffix("bye"))
        }
    }

    @Test func `a body larger than the socket takes arrives whole`() async throws {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            try await client.send("GET /big HTTP/1.0\r\n\r\n")
            #expect(try await client.rest().hasSuffix(String(repeating: "x", count: 8 << 20)))
        }
    }

    // MARK: - Requests

    @Test func `pipelined requests are answered in order`() async throws {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            try await client.send((0..<500).map { "GET /\($0) HTTP/1.1\r\nHost: h\r\n\r\n" }.joined())
            for number in 0..<500 { #expect(try await client.response().body.hasPrefix("GET /\(number) ")) }
        }
    }

    @Test func `pipelined requests wait while one is answered, however many bytes they have`() async throws {
        try await withServer { _, port, handler in
            let client = try RawClient(port: port)
            try await client.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
            await handler.wait(for: "held")
            let count = 3000
            let all = (0..<count).map {
                "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n\(1000 + $0)"
            }
            let sender = Task.detached { try await client.send(all.joined()) }
            handler.release()
            #expect(try await client.response().body == "held")
            for number in 0..<count { #expect(try await client.response().body == "\(1000 + number)") }
            try await sender.value
        }
    }

    @Test func `chunked and fixed bodies arrive whole`() async throws {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            let data = String(repeating: "0123456789abcdef", count: 20_000)
            try await client.send(
                "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: \(data.utf8.count)\r\n\r\n\(data)"
            )
            #expect(try await client.response().body == data)
            try await client.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
            try await client.send(
                "\(String(data.utf8.count, radix: 16))\r\n\(data)\r\n3;x=y\r\nabc\r\n0\r\nT: u\r\n\r\n"
            )
            #expect(try await client.response().body == data + "abc")
        }
    }

    @Test func `100 Continue is sent when the body is waited for`() async throws {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            let head = "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
            try await client.send(head)
            #expect(try await client.response().head == "HTTP/1.1 100 Continue\r\n\r\n")
            try await client.send("hi")
            #expect(try await client.response().body == "hi")
            // The body is there already: nothing to invite.
            try await client.send(head + "ho")
            #expect(try await client.response().body == "ho")
        }
    }

    @Test func `100 Continue is not sent for a body that will not be read`() async throws {
        try await withServer(handler: TestHandler(maxBodyBytes: 10)) { _, port, _ in
            let client = try RawClient(port: port)
            try await client.send(
                "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n"
            )
            let all = try await client.rest()
            #expect(all.hasPrefix("HTTP/1.1 413 "))
            #expect(all.hasSuffix("request entity too large /echo"))
        }
    }

    @Test(arguments: [(10, 200), (11, 413), (1 << 30, 413)])
    func `a declared length over the limit is refused at once`(length: Int, status: Int) async throws {
        try await withServer(handler: TestHandler(maxBodyBytes: 10)) { _, port, _ in
            let client = try RawClient(port: port)
            try await client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n")
            if status == 200 { try await client.send(String(repeating: "x", count: length)) }
            #expect(try await client.status() == status)
        }
    }

    @Test(arguments: [(10, 200), (11, 413)])
    func `a chunked body is refused when it grows over the limit`(length: Int, status: Int) async throws {
        try await withServer(handler: TestHandler(maxBodyBytes: 10)) { _, port, _ in
            let client = try RawClient(port: port)
            try await client.send("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<length { try await client.send("1\r\nx\r\n") }
            if status == 200 { try await client.send("0\r\n\r\n") }
            #expect(try await client.status() == status)
        }
    }

    @Test func `a client that sends its large body all the same reads the 413`() async throws {
        try await withServer(handler: TestHandler(maxBodyBytes: 10)) { _, port, _ in
            let client = try RawClient(port: port)
            let body = [UInt8](repeating: 120, count: 2 << 20)
            try await client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: \(body.count)\r\n\r\n")
            try await client.send(body)
            let (head, text) = try await client.response()
            #expect(head.hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
            #expect(head.contains("Connection: close\r\n"))
            #expect(text == "request entity too large /echo")
        }
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\n\n", 400), ("GET / HTTP/3.0\r\n\r\n", 505), ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET /" + String(repeating: "a", count: 17_000), 414),
        ("GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 101), 431),
        ("GET / HTTP/1.1\r\nX: " + String(repeating: "y", count: 33_000), 431),
        ("PUT / HTTP/1.1\r\nHost: h\r\nExpect: x\r\n\r\n", 417),
        ("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
    ]) func `what it refuses the handler words, and the connection closes`(text: String, status: Int)
        async throws
    {
        try await withServer { _, port, _ in
            let client = try RawClient(port: port)
            try await client.send(text)
            let all = try await client.rest()
            #expect(all.hasPrefix("HTTP/1.1 \(status) "))
            #expect(all.contains("X-Failure: 1\r\n"))
            #expect(all.contains("Connection: close\r\n"))
        }
    }

    @Test func `a flood of header bytes is cut`() async throws {
        try await withServer { server, port, _ in
            let client = try RawClient(port: port)
            let part = "X-Flood: \(String(repeating: "y", count: 1000))\r\n"
            try? await client.send("GET / HTTP/1.1\r\n" + String(repeating: part, count: 10_000))
            #expect(await server.waitForConnections(0))
        }
    }

    // MARK: - Clients that end or dawdle

    @Test func `a client that ends its side still gets the answer`() async throws {
        try await withServer { server, port, handler in
            let client = try RawClient(port: port)
            try await client.send(
                "GET /hold HTTP/1.1\r\nHost: h\r\n\r\nGET /second HTTP/1.1\r\nHost: h\r\n\r\n"
            )
            await handler.wait(for: "held")
            client.endSending()
            handler.release()
            #expect(try await client.response().body == "held")
            let (head, body) = try await client.response()
            #expect(body.hasPrefix("GET /second"))
            // Whether the server has seen the end by now, and so announces its own, is a race.
            #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(await client.isClosed())
            #expect(await server.waitForConnections(0))
        }
    }

    @Test func `half a request and the end of the stream is no request`() async throws {
        try await withServer { server, port, _ in
            let client = try RawClient(port: port)
            try await client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabc")
            client.endSending()
            #expect(await client.isClosed())
            #expect(await server.waitForConnections(0))
        }
    }

    @Test func `a client that is gone has its request cancelled`() async throws {
        try await withServer(configure: { $0.deadlines.halfClosed = .milliseconds(50) }) {
            server,
            port,
            handler in
            var client: RawClient? = try RawClient(port: port)
            try await client?.send("GET /forever HTTP/1.1\r\nHost: h\r\n\r\n")
            await handler.wait(for: "begun")
            client = nil
            await handler.wait(for: "cancelled")
            #expect(await server.waitForConnections(0))
        }
    }

    @Test func `a reset cancels the request at once`() async throws {
        try await withServer(configure: { $0.deadlines.halfClosed = .seconds(60) }) { server, port, handler in
            var client: RawClient? = try RawClient(port: port)
            try await client?.send("GET /forever HTTP/1.1\r\nHost: h\r\n\r\n")
            await handler.wait(for: "begun")
            client?.resetOnClose()
            client = nil
            await handler.wait(for: "cancelled")
            #expect(await server.waitForConnections(0))
        }
    }

    @Test func `a dripped head is cut with 408`() async throws {
        try await withServer(configure: { $0.deadlines.header = .milliseconds(300) }) { _, port, _ in
            let client = try RawClient(port: port)
            let start = ContinuousClock.now
            var isCut = false
            for byte in Array("GET / HTTP/1.1\r\nHost: hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh".utf8) {
                guard client.sendSome([byte]), ContinuousClock.now - start < .seconds(3) else { break }
                try await Task.sleep(for: .milliseconds(40))
                if client.hasInput { isCut = true; break }
            }
            #expect(isCut)
            let (head, _) = try await client.response()
            #expect(head.hasPrefix("HTTP/1.1 408 "))
            #expect(head.contains("Connection: close"))
        }
    }

    @Test func `a dripped body is cut though it never pauses`() async throws {
        try await withServer(configure: { $0.deadlines.bodyIdle = .milliseconds(300) }) { _, port, _ in
            let client = try RawClient(port: port)
            try await client.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 500\r\n\r\n")
            var isCut = false
            for _ in 0..<100 where client.sendSome([120]) {
                try await Task.sleep(for: .milliseconds(30))
                if client.hasInput { isCut = true; break }
            }
            #expect(isCut)
            #expect(try await client.status() == 408)
        }
    }

    @Test func `an idle connection is closed silently`() async throws {
        try await withServer(configure: { $0.deadlines.keepAlive = .milliseconds(200) }) { _, port, _ in
            let client = try RawClient(port: port)
            #expect(await client.isClosed())
            let second = try RawClient(port: port)
            try await second.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await second.status() == 200)
            #expect(await second.isClosed())
        }
    }

    @Test func `clients that do not read are cut and harm nobody`() async throws {
        try await withServer(loops: 1, configure: { $0.deadlines.write = .milliseconds(500) }) {
            server,
            port,
            _ in
            let deaf = try (0..<20).map { _ in try RawClient(port: port, receiveBuffer: 4096) }
            let requests = Array(String(repeating: "GET /big HTTP/1.1\r\nHost: h\r\n\r\n", count: 200).utf8)
            for client in deaf { _ = client.sendSome(requests) }
            let client = try RawClient(port: port)
            for _ in 0..<50 {
                try await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try await client.status() == 200)
            }
            #expect(await server.waitForConnections(1))
            _ = deaf
        }
    }

    @Test func `a slow reader that makes progress is not cut`() async throws {
        try await withServer(configure: { $0.deadlines.write = .seconds(2) }) { _, port, _ in
            let client = try RawClient(port: port, receiveBuffer: 65_536)
            try await client.send("GET /big HTTP/1.0\r\n\r\n")
            var received = 0
            for _ in 0..<20 {
                received += client.receiveSome(200_000)
                try await Task.sleep(for: .milliseconds(150))
            }
            let rest = try await client.rest().utf8.count
            #expect(received + rest > 8 << 20)
        }
    }

    // MARK: - Many connections

    @Test func `one connection too many is told so`() async throws {
        try await withServer(configure: { $0.maxConnections = 2 }) { server, port, _ in
            let first = try RawClient(port: port)
            let second = try RawClient(port: port)
            #expect(await server.waitForConnections(2))
            let all = try await RawClient(port: port).rest()
            #expect(all.hasPrefix("HTTP/1.1 503 "))
            #expect(all.contains("Connection: close\r\n"))
            for client in [first, second] {
                try await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                #expect(try await client.status() == 200)
            }
        }
    }

    @Test func `connections opened and dropped leave nothing behind`() async throws {
        try await withServer { server, port, _ in
            for round in 0..<20 {
                let clients = try (0..<100).map { _ in try RawClient(port: port) }
                for (index, client) in clients.enumerated() where index % 3 != 0 {
                    try await client.send(index % 3 == 1 ? "GET / HTTP/1.1\r\nHost: h\r\n\r\n" : "GET / HT")
                    if index % 7 == 0, round % 2 == 0 { client.resetOnClose() }
                }
            }
            #expect(await server.waitForConnections(0))
        }
    }

    // MARK: - Start and end

    @Test func `an address that is taken is an error`() async throws {
        try await withServer { _, port, _ in
            let group = try EventLoopGroup(count: 1)
            let second = HTTPServer(
                group: group,
                configuration: HTTPServerConfiguration(host: "127.0.0.1", port: port),
                handler: TestHandler()
            )
            await #expect(throws: EventLoopError.self) { try await second.start() }
            let nowhere = HTTPServer(
                group: group,
                configuration: HTTPServerConfiguration(host: "no such host", port: 0),
                handler: TestHandler()
            )
            await #expect(throws: EventLoopError.self) { try await nowhere.start() }
            await group.shutdown()
        }
    }

    @Test func `all addresses of both families are one host`() async throws {
        try await withServer(configure: { $0.host = "::" }) { _, port, _ in
            let client = try RawClient(port: port)
            try await client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await client.response().body == "GET / ::ffff:127.0.0.1 true")
        }
    }

    @Test func `loops that stop under a server close its connections`() async throws {
        let group = try EventLoopGroup(count: 2)
        let handler = TestHandler()
        let server = HTTPServer(
            group: group,
            configuration: HTTPServerConfiguration(host: "127.0.0.1", port: 0),
            handler: handler
        )
        let port = try await server.start()
        let clients = try (0..<4).map { _ in try RawClient(port: port) }
        for client in clients { try await client.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n") }
        await handler.wait(for: "held")
        #expect(await server.waitForConnections(4))
        await group.shutdown()
        for client in clients { #expect(await client.isClosed()) }
        #expect(server.activeConnections == 0)
        handler.release()
        await server.shutdown(grace: .zero)
    }

    @Test func `a shutdown closes idle connections and lets requests end`() async throws {
        try await withServer { server, port, handler in
            let idle = try RawClient(port: port)
            try await idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await idle.status() == 200)
            let busy = try RawClient(port: port)
            try await busy.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
            await handler.wait(for: "held")
            async let ended: Void = server.shutdown(grace: .seconds(30))
            #expect(await idle.isClosed())
            #expect(throws: RawClient.Failure.self) { _ = try RawClient(port: port) }
            handler.release()
            let (head, body) = try await busy.response()
            #expect(body == "held")
            #expect(head.contains("Connection: close\r\n"))
            #expect(await busy.isClosed())
            await ended
            #expect(server.activeConnections == 0)
        }
    }

    @Test func `a handler that never ends does not hold a shutdown beyond its grace`() async throws {
        try await withServer { server, port, handler in
            let client = try RawClient(port: port)
            try await client.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n")
            await handler.wait(for: "held")
            let start = ContinuousClock.now
            await server.shutdown(grace: .milliseconds(200))
            #expect(ContinuousClock.now - start < .seconds(2))
            #expect(await client.isClosed())
        }
    }
}
