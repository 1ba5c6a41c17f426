import JSON
import TestSupport
import Testing

/// Where this server decides otherwise than parse-server.
@Suite(.serialized)
struct OwnRulesTests {
    @Test(arguments: [true, false])
    func `deleting a user ends its sessions at once`(asMaster: Bool) async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice")
        let second = try await server.api.logIn("alice", alice.password)
        let deleted = try await server.api.call(
            "DELETE",
            "/users/\(alice.id)",
            token: asMaster ? nil : alice.token,
            asMaster: asMaster
        )
        #expect(deleted.status == 200)
        for token in [alice.token, second] {
            let reply = try await server.api.call("GET", "/users/me", token: token)
            #expect(reply.refusal == "400/209 Invalid session token")
        }
        let rows = try await server.api.call("GET", "/sessions", asMaster: true)
        #expect(rows["results"] == [])
        await server.process.stop()
    }

    @Test(arguments: [nil, ["anonymous": nil]] as [JSONValue?])
    func `an anonymous user that gets a password loses its anonymous id`(authData: JSONValue?) async throws {
        let server = try await TestServer.start()
        let anonymous: JSONValue = ["authData": ["anonymous": ["id": "aaaa-bbbb"]]]
        let first = try await server.api.call("POST", "/users", anonymous)
        let id = try #require(first["objectId"]?.stringValue)
        let token = try #require(first["sessionToken"]?.stringValue)
        var body: JSONObject = ["username": "carol", "password": "carol-password"]
        body["authData"] = authData
        let changed = try await server.api.call("PUT", "/users/\(id)", .object(body), token: token)
        #expect(changed.status == 200)
        let newToken = try #require(changed["sessionToken"]?.stringValue)
        #expect(try await server.api.call("GET", "/users/me", token: newToken)["authData"] == nil)
        // The old id is nobody's now: whoever sends it is somebody new.
        let again = try await server.api.call("POST", "/users", anonymous)
        #expect(again.status == 201)
        #expect(again["objectId"] != .string(id))
        await server.process.stop()
    }

    @Test(
        arguments: [
            ("password", "400/201 password is required"), ("username", "400/200 bad or missing username"),
        ],
        [#""""#, "null", #"{"__op":"Delete"}"#]
    )
    func `neither name nor password can be taken off`(field: (String, String), value: String) async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice")
        let body = Array("{\"\(field.0)\":\(value)}".utf8)
        for headers in [[("X-Parse-Session-Token", alice.token)], [("X-Parse-Master-Key", "master")]] {
            let reply = try await server.api.send("PUT", "/users/\(alice.id)", body: body, headers: headers)
            #expect(reply.refusal == field.1)
        }
        #expect(try await server.api.call("GET", "/users/me", token: alice.token).status == 200)
        _ = try await server.api.logIn("alice", alice.password)
        await server.process.stop()
    }

    @Test(arguments: [
        "_hashed_password", "_email_verify_token", "_email_verify_token_expires_at", "_perishable_token",
        "_perishable_token_expires_at", "_failed_login_count", "_account_lockout_expires_at",
        "_password_changed_at", "_password_history", "_session_token",
    ])
    func `a hidden field is refused, whatever is done to it`(field: String) async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice")
        for value in [#""x""#, "null", #"{"__op":"Delete"}"#, "1"] {
            let body = Array("{\"\(field)\":\(value)}".utf8)
            for headers in [[("X-Parse-Session-Token", alice.token)], [("X-Parse-Master-Key", "master")]] {
                let reply = try await server.api.send(
                    "PUT",
                    "/users/\(alice.id)",
                    body: body,
                    headers: headers
                )
                #expect(reply.refusal == "400/105 Invalid field name: \(field).")
            }
        }
        _ = try await server.api.logIn("alice", alice.password)
        await server.process.stop()
    }

    @Test(arguments: [
        "where={\"authData.anonymous.id\":\"secret-id\"}", "where={\"authData\":{\"$exists\":true}}",
        "where={\"$or\":[{\"authData.anonymous.id\":\"secret-id\"}]}",
        "where={\"$and\":[{\"$nor\":[{\"authData.anonymous\":{\"$exists\":false}}]}]}", "order=authData",
        "order=-authData.anonymous.id",
    ])
    func `a client cannot ask who has an anonymous id`(query: String) async throws {
        let server = try await TestServer.start()
        let user: JSONValue = ["authData": ["anonymous": ["id": "secret-id"]], "ACL": ["*": ["read": true]]]
        #expect(try await server.api.call("POST", "/users", user).status == 201)
        let parts = query.split(separator: "=", maxSplits: 1).map(String.init)
        let reply = try await server.api.call("GET", "/users?\(parts[0])=\(parts[1].percentEncoded)")
        #expect((400..<500).contains(reply.status), "\(reply.status) \(reply.text)")
        await server.process.stop()
    }

    @Test(arguments: ["GET", "POST"])
    func `a dead session on a log-in by query string does not matter`(method: String) async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice")
        let path = "/login?username=alice&password=\(alice.password)"
        let reply = try await server.api.call(method, path, token: "r:00000000000000000000000000000000")
        #expect(reply.status == 200)
        #expect(reply["sessionToken"]?.stringValue != nil)
        await server.process.stop()
    }

    @Test func `tokens of other sessions are shown shortened`() async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice")
        let second = try await server.api.logIn("alice", alice.password)
        func tokens(_ reply: HTTPReply) -> Set<String> {
            Set((reply["results"]?.arrayValue ?? []).compactMap { $0["sessionToken"]?.stringValue })
        }
        func shortened(_ token: String) -> String { "r:…" + token.suffix(4) }
        let own = try await server.api.call("GET", "/sessions", token: alice.token)
        #expect(tokens(own) == [alice.token, shortened(second)])
        #expect((own["results"]?.arrayValue ?? []).allSatisfy { $0["restricted"] == nil })
        let all = try await server.api.call("GET", "/sessions", asMaster: true)
        #expect(tokens(all) == [shortened(alice.token), shortened(second)])
        await server.process.stop()
    }

    @Test func `the master key finds a session by its token`() async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice")
        let bob = try await server.api.signUp("bob")
        let query = "{\"sessionToken\":\"\(bob.token)\"}".percentEncoded
        let reply = try await server.api.call("GET", "/sessions?where=\(query)", asMaster: true)
        let rows = reply["results"]?.arrayValue ?? []
        #expect(rows.map { $0["user"]?["objectId"] } == [.string(bob.id)])
        #expect(alice.id != bob.id)
        await server.process.stop()
    }

    @Test func `a sign-up with the master key has a session`() async throws {
        let server = try await TestServer.start()
        let reply = try await server.api.call(
            "POST",
            "/users",
            ["username": "a", "password": "p"],
            asMaster: true
        )
        #expect(reply.status == 201)
        #expect(reply.keys == ["objectId", "createdAt", "sessionToken"])
        await server.process.stop()
    }

    @Test func `a link with the master key has a session`() async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice")
        let reply = try await server.api.call(
            "PUT",
            "/users/\(alice.id)",
            ["authData": ["anonymous": ["id": "1"]]],
            asMaster: true
        )
        let token = try #require(reply["sessionToken"]?.stringValue)
        #expect(try await server.api.call("GET", "/users/me", token: token)["objectId"] == .string(alice.id))
        await server.process.stop()
    }

    @Test(arguments: [#"{"id":""}"#, #"{"x":1}"#, #"{"id":null}"#])
    func `an anonymous user without an id signs nobody up`(data: String) async throws {
        let server = try await TestServer.start()
        let body = Array("{\"authData\":{\"anonymous\":\(data)}}".utf8)
        let reply = try await server.api.send("POST", "/users", body: body)
        #expect(reply.refusal == "400/200 bad or missing username")
        await server.process.stop()
    }

    @Test func `a log-in with the provider id of another is refused and stores nothing`() async throws {
        try await LocalServer.run(providers: [FakeProvider()]) { server in
            let data: JSONValue = ["fake": ["id": "1", "token": "good"]]
            #expect(try await server.api.call("POST", "/users", ["authData": data]).status == 201)
            let bob = try await server.api.signUp("bob")
            let reply = try await server.api.call(
                "POST",
                "/login",
                ["username": "bob", "password": .string(bob.password), "authData": data]
            )
            #expect(reply.refusal == "400/208 this auth is already used")
            #expect(try await server.api.call("GET", "/users/me", token: bob.token)["authData"] == nil)
        }
    }

    @Test(arguments: [1000, 1001])
    func `a batch has at most a thousand parts, save for the master key`(count: Int) async throws {
        let server = try await TestServer.start()
        let part: JSONValue = ["method": "GET", "path": "/parse/users"]
        let body: JSONValue = ["requests": .array(Array(repeating: part, count: count))]
        let reply = try await server.api.call("POST", "/batch", body)
        #expect(reply.status == (count == 1000 ? 200 : 400))
        if count == 1001 {
            #expect(
                reply.refusal
                    == "400/107 Batch request contains 1001 sub-requests, which exceeds the limit of 1000."
            )
        }
        let master = try await server.api.call("POST", "/batch", body, asMaster: true)
        #expect(master.json?.arrayValue?.count == count)
        await server.process.stop()
    }

    @Test func `a transaction is all or nothing`() async throws {
        let server = try await TestServer.start()
        func part(_ name: String) -> JSONValue {
            ["method": "POST", "path": "/parse/users", "body": ["username": .string(name), "password": "p"]]
        }
        let failed = try await server.api.call(
            "POST",
            "/batch",
            ["transaction": true, "requests": [part("a"), part("b"), part("a")]]
        )
        #expect(failed.status == 500)
        #expect(failed.keys == ["code", "message", "error"])
        #expect(try await server.api.call("GET", "/users", asMaster: true)["results"] == [])
        let done = try await server.api.call(
            "POST",
            "/batch",
            ["transaction": true, "requests": [part("a"), part("b")]]
        )
        #expect(done.json?.arrayValue?.count == 2)
        #expect(try await server.api.call("GET", "/users", asMaster: true)["results"]?.arrayValue?.count == 2)
        await server.process.stop()
    }

    @Test func `a batch of many large replies is cut, and the server goes on`() async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice")
        let note = JSONValue.string(String(repeating: "x", count: 1_000_000))
        let saved = try await server.api.call("PUT", "/users/\(alice.id)", ["note": note], token: alice.token)
        #expect(saved.status == 200)
        let part: JSONValue = ["method": "GET", "path": "/parse/users/me"]
        let reply = try await server.api.call(
            "POST",
            "/batch",
            ["requests": .array([JSONValue](repeating: part, count: 200))],
            token: alice.token
        )
        #expect(reply.status == 200)
        let entries = try #require(reply.json?.arrayValue)
        #expect(entries.count == 200)
        let answered = entries.filter { $0["success"] != nil }
        #expect((30...34).contains(answered.count))
        #expect(entries.filter { $0["error"]?["code"] == 116 }.count == 200 - answered.count)
        #expect(try await server.api.call("GET", "/users/me", token: alice.token).status == 200)
        await server.process.stop()
    }
}
