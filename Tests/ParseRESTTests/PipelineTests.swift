import Cryptography
import HTTP
import JSON
import ParseCore
import ParseREST
import Testing

@Suite struct BodyTests {
    private static let user: JSONValue = ["username": "u", "password": "p"]

    @Test(arguments: [
        (#"{"username":"#, 400), ("1", 400), (#""text""#, 400), ("[]", 400), ("null", 400), ("{} x", 400),
        ("{\"a\":\"\u{1}\"}", 400),
    ])
    func `a body that is no JSON object is refused before the app is looked for, without a code`(
        _ text: String,
        _ status: Int
    ) async throws {
        let reply = try await TestREST().send("POST", "/users", [], body: Array(text.utf8))
        #expect(reply.status == status)
        #expect(reply.json?["code"] == nil && reply.json?["error"]?.stringValue != nil)
    }

    @Test func `bytes that are no UTF-8 are refused`() async throws {
        let bytes = Array(#"{"a":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8)
        #expect(try await TestREST().send("POST", "/users", body: bytes).status == 400)
    }

    @Test func `nesting has an end and is no crash`() async throws {
        let rest = try TestREST()
        for depth in [200, 100_000] {
            let text =
                "{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
            #expect(await rest.send("POST", "/users", body: Array(text.utf8)).status == 400)
        }
    }

    @Test func `of two members with one name the last counts`() async throws {
        let rest = try TestREST()
        let text = #"{"username":"first","password":"p","username":"second"}"#
        #expect(await rest.send("POST", "/users", body: Array(text.utf8)).status == 201)
        #expect(
            await rest.send("POST", "/login", json: ["username": "second", "password": "p"]).status == 200
        )
    }

    @Test(arguments: [
        "text/plain", "application/json", "application/json; charset=utf-8", "a/b; charset=\"UTF-8\"", "",
        "nonsense",
    ])
    func `any type is read as JSON`(_ type: String) async throws {
        let headers = TestREST.appHeader + [("Content-Type", type)]
        #expect(try await TestREST().send("POST", "/users", headers, json: Self.user).status == 201)
    }

    @Test func `charsets and encodings that are not known are refused with 415`() async throws {
        let rest = try TestREST()
        let charset = await rest.send(
            "POST",
            "/users",
            [("Content-Type", "application/json; charset=latin1")],
            json: Self.user
        )
        #expect(charset.status == 415 && charset.text == #"{"error":"unsupported charset \"LATIN1\""}"#)
        let encoding = await rest.send("POST", "/users", [("Content-Encoding", "Br")], json: Self.user)
        #expect(
            encoding.status == 415 && encoding.text == #"{"error":"unsupported content encoding \"Br\""}"#
        )
        #expect(
            await rest.send(
                "POST",
                "/users",
                TestREST.appHeader + [("Content-Encoding", "Identity")],
                json: Self.user
            ).status == 201
        )
    }

    @Test func `a form is read as one, up to 100 KiB`() async throws {
        let rest = try TestREST()
        let headers = TestREST.appHeader + [("Content-Type", "application/x-www-form-urlencoded")]
        #expect(
            await rest.send("POST", "/users", headers, body: Array("username=u+1&password=%C3%A4".utf8))
                .status == 201
        )
        #expect(await rest.send("POST", "/login", json: ["username": "u 1", "password": "ä"]).status == 200)
        let filler = "username=v&password=p&x="
        func form(_ count: Int) -> [UInt8] {
            Array((filler + String(repeating: "a", count: count - filler.utf8.count)).utf8)
        }
        #expect(await rest.send("POST", "/users", headers, body: form(102_400)).status == 201)
        let over = await rest.send("POST", "/users", headers, body: form(102_401))
        #expect(over.status == 413 && over.text == #"{"error":"request entity too large"}"#)
    }

    @Test func `a POST may stand for another method, and only a POST`() async throws {
        let rest = try TestREST()
        func status(_ method: String, _ override: JSONValue) async -> Int {
            await rest.send(method, "/users", json: ["_method": override]).status
        }
        #expect(await status("POST", "GET") == 200)
        #expect(await status("POST", "get") == 200)
        #expect(await status("POST", "PATCH") == 404)
        #expect(await status("POST", 5) == 400)
        #expect(await status("PUT", "GET") == 404)
        let find = await rest.send("POST", "/users", json: ["_method": "GET", "limit": 0, "count": 1])
        #expect(find.json == ["results": [], "count": 0])
    }

    @Test(arguments: ["[]", "1", "x", ""])
    func `a cloud context is an object or 107`(_ text: String) async throws {
        let reply = try await TestREST().send("GET", "/users", [("X-Parse-Cloud-Context", text)])
        #expect(reply.status == 400 && reply.json == ["code": 107, "error": "Invalid object for context."])
    }
}

@Suite struct KeyTests {
    private static let unauthorized = #"{"error":"unauthorized"}"#
    private static let allKeys = AppCredentials(
        clientKey: "c",
        restAPIKey: "r",
        javascriptKey: "j",
        masterKeyHash: SHA256.hash("master")
    )

    @Test func `without a known app everything is 403`() async throws {
        let rest = try TestREST()
        for headers in [
            [], [("X-Parse-Application-Id", "other")], [("Authorization", "Basic !!!")],
            [("Authorization", "Basic YTpi")],
        ] {
            let reply = await rest.send("GET", "/users", headers)
            #expect(reply.status == 403 && reply.text == Self.unauthorized)
        }
    }

    @Test func `a wrong master key is no key`() async throws {
        let open = try TestREST()
        #expect(
            await open.send("GET", "/serverInfo", TestREST.appHeader + [("X-Parse-Master-Key", "wrong")]).text
                == #"{"error":"unauthorized: master key is required"}"#
        )
        #expect(
            await open.send("GET", "/users", TestREST.appHeader + [("X-Parse-Master-Key", "wrong")]).status
                == 200
        )
        let closed = try TestREST(keys: Self.allKeys)
        #expect(
            await closed.send("GET", "/users", TestREST.appHeader + [("X-Parse-Master-Key", "wrong")]).text
                == Self.unauthorized
        )
        #expect(
            await closed.send(
                "GET",
                "/users",
                TestREST.appHeader + [("X-Parse-REST-API-Key", "r"), ("X-Parse-Javascript-Key", "x")]
            ).status == 200
        )
        #expect(
            await closed.send("GET", "/users", TestREST.appHeader + [("X-Parse-Master-Key", "master")]).status
                == 200
        )
    }

    // app:master, app:javascript-key=j, app:a:b, app:
    @Test(arguments: [
        ("YXBwOm1hc3Rlcg==", 200), ("YXBwOmphdmFzY3JpcHQta2V5PWo=", 200), ("YXBwOmE6Yg==", 403),
        ("YXBwOg==", 403),
    ])
    func `Basic authorization names app and key`(_ text: String, _ status: Int) async throws {
        #expect(
            try await TestREST(keys: Self.allKeys).send("GET", "/users", [("Authorization", "Basic \(text)")])
                .status == status
        )
    }

    @Test func `keys in the body count where the headers name no app`() async throws {
        let rest = try TestREST(keys: Self.allKeys)
        let body: JSONValue = [
            "_ApplicationId": "app", "_JavaScriptKey": "j", "_method": "GET", "_noBody": true,
            "_ClientVersion": "js1",
        ]
        #expect(await rest.send("POST", "/users", [], json: body).status == 200)
        #expect(
            await rest.send("POST", "/users", [], json: ["_ApplicationId": "app", "_method": "GET"]).text
                == Self.unauthorized
        )
        #expect(
            await rest.send(
                "POST",
                "/serverInfo",
                [],
                json: ["_ApplicationId": "app", "_MasterKey": "master", "_method": "GET"]
            ).status == 200
        )
        let beside = await rest.send(
            "POST",
            "/users",
            TestREST.appHeader + [("X-Parse-REST-API-Key", "r")],
            json: ["username": "u", "password": "p", "_SessionToken": "r:x"]
        )
        #expect(beside.json == ["code": 105, "error": "Invalid field name: _SessionToken."])
        let headerKey = await rest.send("POST", "/users", [("X-Parse-Master-Key", "wrong")], json: body)
        #expect(headerKey.text == Self.unauthorized)
    }

    @Test(arguments: ["_SessionToken", "_MasterKey", "_InstallationId", "_ContentType"])
    func `a credential that is no text is 403`(_ name: String) async throws {
        let rest = try TestREST()
        for value: JSONValue in [5, ["$ne": ""], ["x"], true] {
            let body = JSONValue.object(["_ApplicationId": "app", "_method": "GET", name: value])
            #expect(await rest.send("POST", "/users", [], json: body).text == Self.unauthorized)
        }
    }

    @Test(arguments: [
        ("X-Parse-Master-Key", "master"), ("X-Parse-Master-Key", "reader"),
        ("X-Parse-Maintenance-Key", "maintenance"),
    ])
    func `a strong key from elsewhere is 403, and no silent client`(_ name: String, _ key: String)
        async throws
    {
        let rest = try TestREST()
        #expect(
            await rest.send("GET", "/users", TestREST.appHeader + [(name, key)], from: "10.0.0.9").text
                == Self.unauthorized
        )
        #expect(
            await rest.send(
                "GET",
                "/users",
                TestREST.appHeader + [(name, key), ("X-Forwarded-For", "127.0.0.1")],
                from: "10.0.0.9"
            ).text == Self.unauthorized
        )
        #expect(
            await rest.send("GET", "/users", TestREST.appHeader + [(name, key)], from: "::ffff:127.0.0.1")
                .status == 200
        )
    }

    /// Some proxies append a header line of their own instead of extending the client's.
    @Test func `a made-up line of X-Forwarded-For opens nothing`() async throws {
        let rest = try TestREST { $0.trustProxy = .hops(1) }
        let headers = TestREST.appHeader + [("X-Parse-Master-Key", "master")]
        let forged = headers + [("X-Forwarded-For", "127.0.0.1"), ("X-Forwarded-For", "6.6.6.6")]
        #expect(await rest.send("GET", "/serverInfo", forged, from: "127.0.0.1").status == 403)
        #expect(
            await rest.send("GET", "/serverInfo", headers + [("X-Forwarded-For", "6.6.6.6, 127.0.0.1")])
                .status == 200
        )
    }

    @Test func `the three strong keys reach different things`() async throws {
        let rest = try TestREST()
        func send(_ method: String, _ path: String, _ key: (String, String), _ body: JSONValue = [:]) async
            -> TestREST.Reply
        {
            await rest.send(method, path, TestREST.appHeader + [key], json: body)
        }
        let user: JSONValue = ["username": "u", "password": "p"]
        let reader = ("X-Parse-Master-Key", "reader")
        let maintenance = ("X-Parse-Maintenance-Key", "maintenance")
        #expect(await send("GET", "/serverInfo", reader).status == 200)
        #expect(await send("GET", "/serverInfo", maintenance).status == 403)
        #expect(await send("POST", "/users", reader, user).json?["code"] == 119)
        #expect(await send("POST", "/loginAs", reader, ["userId": "x"]).json?["code"] == 119)
        #expect(await send("POST", "/loginAs", maintenance, ["userId": "x"]).json?["code"] == 119)
        #expect(await send("GET", "/sessions", maintenance).json?["code"] == 209)
        #expect(await send("POST", "/users", maintenance, user).status == 201)
    }

    @Test func `a dead token stops every request but a log-in, and is never told back`() async throws {
        let rest = try TestREST()
        _ = await rest.send("POST", "/users", json: ["username": "u", "password": "p"])
        let dead = TestREST.appHeader + [("X-Parse-Session-Token", "r:dead-token")]
        for (method, path) in [
            ("GET", "/users"), ("POST", "/users"), ("POST", "/logout"), ("GET", "/users/me"),
            ("POST", "/batch"), ("GET", "/nowhere"),
        ] {
            let reply = await rest.send(method, path, dead)
            #expect(reply.json == ["code": 209, "error": "Invalid session token"], "\(method) \(path)")
            #expect(!reply.lines.contains("dead-token"))
        }
        #expect(
            await rest.send("POST", "/login", dead, json: ["username": "u", "password": "p"]).status == 200
        )
        #expect(await rest.send("GET", "/login?username=u&password=p", dead).status == 200)
        #expect(await rest.send("GET", "/sessions/me", dead).json?["error"] == "Session token not found.")
    }
}

@Suite struct ResponseTests {
    @Test(arguments: ["/users", "/USERS", "/users/", "//users", "/parse/users", "/PARSE/Users/", "/1/users"])
    func `routes are found in any case, with a slash at either end`(_ path: String) async throws {
        #expect(try await TestREST().send("GET", path).status == 200)
    }

    @Test(arguments: [
        "/users//", "/", "/parse", "/parses/users", "/nowhere", "/users/a/b",
        "/<script>alert(1)</script>&\"'",
    ])
    func `anything else is a page that says so, harmlessly`(_ path: String) async throws {
        let reply = try await TestREST().send("GET", path)
        #expect(reply.status == 404)
        #expect(
            reply.lines.contains("Content-Type: text/html; charset=utf-8\r\n")
                && reply.lines.contains("Content-Security-Policy: default-src 'none'\r\n")
        )
        #expect(!reply.text.contains("<script>"))
        #expect(reply.text.contains("<pre>Cannot GET /"))
    }

    @Test func `OPTIONS and health ask for nothing`() async throws {
        let rest = try TestREST()
        let options = await rest.send("OPTIONS", "/anything", [])
        #expect(options.status == 200 && options.text == "OK")
        for (method, path) in [("GET", "/health"), ("POST", "/parse/health/"), ("DELETE", "/HEALTH")] {
            #expect(await rest.send(method, path, []).text == #"{"status":"ok"}"#)
        }
    }

    @Test func `a GET has a tag, and 304 for who knows it`() async throws {
        let rest = try TestREST()
        let tag = try #require(await rest.send("GET", "/users").response.headers.first("ETag"))
        #expect(tag.hasPrefix("W/\""))
        for known in [tag, "\"x\", \(tag)", "*", String(tag.dropFirst(2))] {
            let reply = await rest.send("GET", "/users", TestREST.appHeader + [("If-None-Match", known)])
            #expect(reply.status == 304 && reply.text.isEmpty)
        }
        #expect(
            await rest.send("GET", "/users", TestREST.appHeader + [("If-None-Match", "W/\"x\"")]).status
                == 200
        )
        #expect(await rest.send("HEAD", "/users").response.headers.first("ETag") == tag)
        #expect(await rest.send("GET", "/users/none").response.headers.first("ETag") == nil)
    }

    @Test func `browsers may call from anywhere, or from where the option says`() async throws {
        func origin(_ allowed: [String], _ sent: String?) async throws -> String {
            let rest = try TestREST { $0.allowOrigin = allowed }
            return await rest.send(
                "GET",
                "/users",
                TestREST.appHeader + (sent.map { [("Origin", $0)] } ?? [])
            ).lines
        }
        #expect(try await origin([], "http://x").contains("Access-Control-Allow-Origin: *\r\n"))
        #expect(
            try await origin(["http://a"], "http://x").contains("Access-Control-Allow-Origin: http://a\r\n")
        )
        #expect(
            try await origin(["http://a", "http://b"], "http://b").contains(
                "Access-Control-Allow-Origin: http://b\r\n"
            )
        )
        #expect(
            try await origin(["http://a", "http://b"], "http://x").contains(
                "Access-Control-Allow-Origin: http://a\r\n"
            )
        )
        #expect(
            try await origin(["http://a", "http://b"], nil).contains(
                "Access-Control-Allow-Origin: http://a\r\n"
            )
        )
        let extra = try TestREST { $0.allowHeaders = ["X-One", "X-Two"] }
        #expect(
            await extra.send("GET", "/nowhere", []).lines.contains("Pragma, Cache-Control, X-One, X-Two\r\n")
        )
    }

    @Test func `a new user's address is told by host and mount, or by the option`() async throws {
        func location(_ headers: [(String, String)], _ change: (inout AppOptions) -> Void = { _ in })
            async throws -> String
        {
            let reply = try await TestREST(change).send(
                "POST",
                "/parse/users",
                TestREST.appHeader + headers,
                json: ["username": "u", "password": "p"]
            )
            return try #require(reply.response.headers.first("Location"))
        }
        #expect(try await location([("Host", "h:1")]).hasPrefix("http://h:1/parse/users/"))
        #expect(
            try await location([("Host", "h"), ("X-Forwarded-Host", "evil"), ("X-Forwarded-Proto", "https")])
                .hasPrefix("http://h/parse/users/")
        )
        #expect(
            try await location([("X-Forwarded-Host", "f"), ("X-Forwarded-Proto", "https")]) {
                $0.trustProxy = .everybody
            }.hasPrefix("https://f/parse/users/")
        )
        #expect(
            try await location([("Host", "h")]) { $0.publicServerURL = "https://p/x" }.hasPrefix(
                "https://p/x/users/"
            )
        )
    }

    @Test func `a batch: routes, limits, results and transactions`() async throws {
        let rest = try TestREST { $0.batchRequestLimit = 3 }
        func signUp(_ name: String) -> JSONValue {
            ["method": "POST", "path": "/parse/users", "body": ["username": .string(name), "password": "p"]]
        }
        func batch(_ parts: JSONValue, transaction: Bool = false) async -> TestREST.Reply {
            await rest.send(
                "POST",
                "/parse/batch",
                json: ["requests": parts, "transaction": .bool(transaction)]
            )
        }
        let refused: [(JSONValue, String)] = [
            (1, "requests must be an array"), ([["method": "GET"]], "batch request path must be a string"),
            ([["method": "GET", "path": "/users"]], "cannot route batch path /users"),
            ([["method": "POST", "path": "/parse/batch"]], "nested batch requests are not allowed"),
            ([["method": "get", "path": "/parse/users"]], "cannot route get /users"),
            ([["path": "/parse/users"]], "cannot route undefined /users"),
            ([["method": "GET", "path": "/parse/users?limit=1"]], "cannot route GET /users?limit=1"),
            (
                .array((0..<4).map { signUp("u\($0)") }),
                "Batch request contains 4 sub-requests, which exceeds the limit of 3."
            ),
        ]
        for (parts, message) in refused {
            #expect(await batch(parts).json == ["code": 107, "error": .string(message)])
        }
        let mixed = await batch([signUp("a"), signUp("A"), ["method": "GET", "path": "/parse/users/none"]])
        #expect(mixed.status == 200)
        #expect(mixed.json?.arrayValue?.filter { $0["success"] != nil }.count == 1)
        #expect(mixed.json?.arrayValue?[2] == ["error": ["code": 101, "error": "Object not found."]])
        let failed = await batch([signUp("b"), signUp("a")], transaction: true)
        #expect(failed.status == 500 && failed.json?["code"] == 1)
        #expect(await batch([signUp("b"), signUp("c")], transaction: true).status == 200)
    }
}
