import HTTP
import JSON
import TestSupport
import Testing

/// Requests that are malformed, oversized or meant to harm.
@Suite(.serialized)
struct HostileInputTests {
    /// Refusals that leave the connection usable: the next request on it is answered.
    @Test func `no refusal closes a connection without saying so`() async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice")
        let requests: [(status: Int, bytes: [UInt8])] = [
            (403, HTTPClient.request("GET", "/parse/users")),
            (400, request("POST", "/users", #"{"username":"#)),
            (400, request("POST", "/users", "[1]")),
            (400, request("POST", "/users", "{}")),
            (404, request("GET", "/nosuchroute")),
            (404, request("PATCH", "/users")),
            (404, request("POST", "/login", #"{"username":"alice","password":"wrong"}"#)),
            (415, request("POST", "/users", "{}", [("Content-Type", "application/json; charset=foo")])),
            (415, request("POST", "/users", "{}", [("Content-Encoding", "foo")])),
            (413, request("POST", "/users", String(repeating: " ", count: 20 << 20) + " ")),
            (500, request("POST", "/requestPasswordReset", #"{"email":"a@b"}"#)),
            (400, request("GET", "/users/me", nil, [("X-Parse-Session-Token", "r:dead")])),
            (400, request("GET", "/users?where=%7B")),
            (400, request("GET", "/users/a%00b?foo=1")),
        ]
        for (status, bytes) in requests {
            let client = HTTPClient(port: server.port)
            let reply = try await client.exchange(bytes)
            #expect(reply.status == status, "\(reply.status) \(reply.text)")
            let isUsable = try await client.send("GET", "/health").status == 200
            #expect(isUsable)
            let opened = await client.connectionsOpened
            #expect(reply.closes || opened == 1)
            #expect(status == 413 || !reply.closes, "\(status) closes")
        }
        #expect(try await server.api.call("GET", "/users/me", token: alice.token).status == 200)
        await server.process.stop()
    }

    @Test(arguments: [
        "Content-Length: 1073741824\r\n\r\n", "Content-Length: 20971521\r\n\r\n",
    ])
    func `a body that is declared too large is refused before it comes`(rest: String) async throws {
        let server = try await TestServer.start()
        let head = "POST /parse/users HTTP/1.1\r\nHost: a\r\nX-Parse-Application-Id: app\r\n"
        let began = ContinuousClock.now
        let reply = try await HTTPClient(port: server.port).exchange(Array((head + rest).utf8))
        #expect(reply.status == 413)
        #expect(reply.text == #"{"error":"request entity too large"}"#)
        #expect(began.duration(to: .now) < .seconds(2))
        await server.process.stop()
    }

    @Test func `a body of the largest size is read, one more byte is not`() async throws {
        let server = try await TestServer.start(options: ["maxUploadSize": "64kb"])
        let frame = #"{"username":"big","password":"p","note":""}"#.utf8.count
        func body(_ size: Int) -> [UInt8] {
            Array(#"{"username":"big","password":"p","note":""#.utf8)
                + [UInt8](repeating: UInt8(ascii: "x"), count: size - frame) + Array("\"}".utf8)
        }
        let over = try await server.api.send("POST", "/users", body: body(65537))
        #expect(over.status == 413)
        let at = try await server.connect().send("POST", "/users", body: body(65536))
        #expect(at.status == 201)
        await server.process.stop()
    }

    @Test func `a compressed body that unfolds to too much is refused`() async throws {
        let server = try await TestServer.start(options: ["maxUploadSize": "64kb"])
        let result = try await ProgramRun.run([
            "bash", "-c", "head -c 1000000 /dev/zero | gzip -c | od -An -v -tu1",
        ])
        let bytes = result.output.split { $0 == " " || $0 == "\n" }.compactMap { UInt8($0) }
        let reply = try await server.api.send(
            "POST",
            "/users",
            body: bytes,
            headers: [("Content-Encoding", "gzip")]
        )
        #expect(reply.status == 413)
        await server.process.stop()
    }

    @Test(arguments: [
        "{", "}", "nul", "{\"a\":1,}", "{\"a\":01}", "{'a':1}", "{\"a\":\"\u{1}\"}", "\"text\"", "12", "true",
        "{}{}",
        "{\"a\":1}x", "{\"a\" 1}", "\u{FEFF}{}",
    ])
    func `malformed JSON is refused before the app is looked for`(body: String) async throws {
        let server = try await TestServer.start()
        var stranger = server.api
        stranger.applicationID = nil
        for api in [server.api, stranger] {
            let reply = try await api.send("POST", "/users", body: Array(body.utf8))
            #expect(reply.status == 400)
            #expect(reply.keys == ["error"])
        }
        await server.process.stop()
    }

    @Test(
        arguments: [
            [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0x80], [0xE2, 0x82],
        ] as [[UInt8]]
    )
    func `bytes that are not UTF-8 are refused`(bytes: [UInt8]) async throws {
        let server = try await TestServer.start()
        let body = Array(#"{"username":""#.utf8) + bytes + Array(#"","password":"p"}"#.utf8)
        let reply = try await server.api.send("POST", "/users", body: body)
        #expect(reply.status == 400)
        #expect(try await server.api.call("GET", "/users", asMaster: true)["results"] == [])
        await server.process.stop()
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":["])
    func `deep nesting is refused`(opening: String) async throws {
        let server = try await TestServer.start()
        let count = 10_000_000 / opening.utf8.count
        let body = Array("{\"a\":".utf8) + Array(String(repeating: opening, count: count).utf8)
        let reply = try await server.api.send("POST", "/users", body: body)
        #expect(reply.status == 400)
        #expect(try await server.api.call("GET", "/health").status == 200)
        await server.process.stop()
    }

    @Test func `a query may be nested only so deep`() async throws {
        let server = try await TestServer.start()
        let deep = String(repeating: "{\"$or\":[", count: 1000) + "{}" + String(repeating: "]}", count: 1000)
        let reply = try await server.api.call("GET", "/users?where=\(deep.percentEncoded)")
        #expect((400..<500).contains(reply.status))
        let body = Array("{\"_method\":\"GET\",\"where\":\(deep)}".utf8)
        #expect(try await server.api.send("POST", "/users", body: body).status == 400)
        await server.process.stop()
    }

    @Test(arguments: [
        "__proto__", "constructor", "$x", "a.b", "_hashed_password", "", " ", "1a", "a b", "a\u{0}b", "ä",
        "_id",
        "objectId", "_wperm", "_rperm", "_tokenHash", "password; DROP TABLE _User", "a\"b", "a'b",
    ])
    func `a hostile field name is refused and nobody signs up`(name: String) async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice")
        let signUp = try await server.api.call(
            "POST",
            "/users",
            .object(["username": "new", "password": "p", name: "x"] as JSONObject)
        )
        #expect(signUp.status == 400, "\(signUp.status) \(signUp.text)")
        // An update may name a part of a field by a dot, and ignores the id.
        if name != "objectId", name != "a.b" {
            let update = try await server.api.call(
                "PUT",
                "/users/\(alice.id)",
                .object([name: "x"] as JSONObject),
                token: alice.token
            )
            #expect(update.status == 400, "\(update.status) \(update.text)")
        }
        let query = JSONValue.object([name: "x"] as JSONObject).serializedString().percentEncoded
        let find = try await server.api.call("GET", "/users?where=\(query)", token: alice.token)
        #expect(find.status == 400 || find["results"] == [], "\(find.status) \(find.text)")
        #expect(try await server.api.call("GET", "/users", asMaster: true)["results"]?.arrayValue?.count == 1)
        await server.process.stop()
    }

    @Test(arguments: [
        #"{"username":"new","password":"p","nest":{"__proto__":{"isAdmin":true}}}"#,
        #"{"username":"new","password":"p","nest":[{"constructor":1}]}"#,
        #"{"username":"new","password":"p","_bsontype":"Code"}"#,
        #"{"username":"new","password":"p","nest":{"a":{"_bsontype":"Code"}}}"#,
    ])
    func `a prohibited keyword is found at any depth`(body: String) async throws {
        let server = try await TestServer.start()
        let reply = try await server.api.send("POST", "/users", body: Array(body.utf8))
        #expect(reply.status == 400)
        #expect(reply.code == 105)
        #expect(try await server.api.call("GET", "/users", asMaster: true)["results"] == [])
        await server.process.stop()
    }

    @Test func `of two equal keys the last counts`() async throws {
        let server = try await TestServer.start()
        let body = #"{"username":"first","username":"second","password":"a","password":"b"}"#
        #expect(try await server.api.send("POST", "/users", body: Array(body.utf8)).status == 201)
        _ = try await server.api.logIn("second", "b")
        await server.process.stop()
    }

    @Test(arguments: ["42", "true", "null", "[]", "{}", "{\"__type\":\"Date\"}", "\"\"", "1e400"])
    func `a name, password or address of a wrong type signs nobody up`(value: String) async throws {
        let server = try await TestServer.start()
        for field in ["username", "password", "email"] {
            var members = ["\"username\":\"new\"", "\"password\":\"p\"", "\"email\":\"a@b\""]
            members.removeAll { $0.hasPrefix("\"\(field)\"") }
            members.append("\"\(field)\":\(value)")
            let body = "{" + members.joined(separator: ",") + "}"
            let reply = try await server.api.send("POST", "/users", body: Array(body.utf8))
            // Without an address a user is complete.
            if field == "email", ["null", "\"\""].contains(value) {
                #expect(reply.status == 201)
            } else {
                #expect(reply.status == 400, "\(body): \(reply.status) \(reply.text)")
            }
        }
        await server.process.stop()
    }

    @Test(arguments: [
        (
            "both lengths",
            "POST /parse/users HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400
        ),
        (
            "two lengths",
            "POST /parse/users HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
            400
        ),
        ("negative length", "POST /parse/users HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
        (
            "huge length",
            "POST /parse/users HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400
        ),
        ("bare line feeds", "GET /health HTTP/1.1\nHost: a\n\n", 400),
        ("space before the colon", "GET /health HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        ("folded line", "GET /health HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", 400),
        ("no host", "GET /health HTTP/1.1\r\n\r\n", 400),
        ("two hosts", "GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (
            "unknown coding",
            "POST /parse/users HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501
        ),
        (
            "malformed chunk",
            "POST /parse/users HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400
        ),
        ("not HTTP", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n", 400),
        ("later version", "GET /health HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    ])
    func `a request that two readers could read differently is refused`(
        name: String,
        request: String,
        status: Int
    ) async throws {
        let server = try await TestServer.start()
        let reply = try await HTTPClient(port: server.port).exchange(Array(request.utf8))
        #expect(reply.status == status, "\(name): \(reply.text)")
        #expect(reply.closes, "\(name)")
        #expect(try await server.api.call("GET", "/health").status == 200)
        await server.process.stop()
    }

    @Test func `a flood of header fields is refused`() async throws {
        let server = try await TestServer.start()
        let floods = [
            (431, "GET /health HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: y\r\n", count: 1000)),
            (431, "GET /health HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "y", count: 100_000)),
            (414, "GET /" + String(repeating: "y", count: 100_000)),
        ]
        for (status, text) in floods {
            let reply = try await HTTPClient(port: server.port).exchange(Array((text + "\r\n\r\n").utf8))
            #expect(reply.status == status)
        }
        await server.process.stop()
    }

    @Test func `a client that drips its request is cut`() async throws {
        try await LocalServer.run(tune: { $0.deadlines.header = .milliseconds(300) }) { server in
            let began = ContinuousClock.now
            let isCut = try await HTTPClient(port: server.port).use { connection in
                try connection.send("GET /health HTTP/1.1\r\n")
                return Self.drip(connection, "X: y\r\n")
            }
            #expect(isCut)
            #expect(began.duration(to: .now) < .seconds(5))
        }
    }

    @Test func `a client that drips its body is cut`() async throws {
        try await LocalServer.run(tune: {
            $0.deadlines.bodyIdle = .milliseconds(300)
        }) { server in
            let began = ContinuousClock.now
            let isCut = try await HTTPClient(port: server.port).use { connection in
                try connection.send(
                    "POST /parse/users HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n{"
                )
                return Self.drip(connection, " ")
            }
            #expect(isCut)
            #expect(began.duration(to: .now) < .seconds(5))
        }
    }

    @Test func `a client that has ended its side still gets its answer`() async throws {
        let server = try await TestServer.start()
        let reply = try await HTTPClient(port: server.port).use { connection in
            try connection.send(HTTPClient.request("GET", "/health"))
            connection.endSending()
            return try connection.receive()
        }
        #expect(reply.status == 200)
        await server.process.stop()
    }

    @Test func `a client that ends within a request is forgotten`() async throws {
        let server = try await TestServer.start()
        for text in ["", "GET /hea", "POST /parse/users HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{"] {
            let isClosed = try await HTTPClient(port: server.port).use { connection in
                try connection.send(text)
                connection.endSending()
                return try connection.receiveRest()
            }
            #expect(isClosed.isEmpty || String(decoding: isClosed, as: UTF8.self).hasPrefix("HTTP/1.1 400 "))
        }
        #expect(try await server.api.call("GET", "/health").status == 200)
        await server.process.stop()
    }

    /// Sends a bit every 20 ms for 10 s; whether the server ended that.
    private static func drip(_ connection: RawConnection, _ text: String) -> Bool {
        for _ in 0..<500 {
            guard (try? connection.send(text)) != nil else { return true }
            if connection.hasInput { return true }
            pause(milliseconds: 20)
        }
        return false
    }

    private func request(
        _ method: String,
        _ path: String,
        _ body: String? = nil,
        _ headers: [(String, String)] = []
    ) -> [UInt8] {
        HTTPClient.request(
            method,
            "/parse" + path,
            headers: [("X-Parse-Application-Id", "app"), ("X-Parse-Client-Key", "client")] + headers,
            body: body.map { Array($0.utf8) }
        )
    }
}
