import JSON
import TestSupport
import Testing

/// Rules of the REST API that implementations get wrong, beyond what the recorded exchanges show.
@Suite(.serialized)
struct ContractTests {
    @Test func `a wrong master key on an app without client keys is an ordinary caller`() async throws {
        let folder = try TemporaryFolder()
        let process = try await ServerProcess(
            dataFolder: folder.path + "/data",
            arguments: ["--app-id", "app", "--master-key", "master"]
        )
        var api = API(port: process.port)
        api.clientKey = nil
        _ = try await api.signUp("private")
        let shown = try await api.signUp("public", fields: ["ACL": ["*": ["read": true]]])
        let reply = try await api.call("GET", "/users", headers: [("X-Parse-Master-Key", "wrong")])
        #expect(reply.status == 200)
        let rows = reply["results"]?.arrayValue ?? []
        #expect(rows.map { $0["objectId"] } == [.string(shown.id)])
        await process.stop()
    }

    @Test func `the right master key from an address that may not use it is refused`() async throws {
        let server = try await TestServer.start(options: ["masterKeyIps": ["10.0.0.9"]])
        let refused = try await server.api.call("GET", "/users", asMaster: true)
        #expect(refused.status == 403)
        #expect(refused.text == #"{"error":"unauthorized"}"#)
        let other = try await server.api.call("GET", "/users")
        #expect(other.status == 200)
        await server.process.stop()
    }

    @Test func `the address of a client behind a trusted proxy is the forwarded one`() async throws {
        let server = try await TestServer.start(options: ["trustProxy": true])
        let foreign = try await server.api.call(
            "GET",
            "/users",
            asMaster: true,
            headers: [("X-Forwarded-For", "10.0.0.9")]
        )
        #expect(foreign.status == 403)
        let own = try await server.api.call(
            "GET",
            "/users",
            asMaster: true,
            headers: [("X-Forwarded-For", "127.0.0.1")]
        )
        #expect(own.status == 200)
        await server.process.stop()
    }

    @Test func `without a trusted proxy a forwarded address counts for nothing`() async throws {
        let server = try await TestServer.start()
        let reply = try await server.api.call(
            "GET",
            "/users",
            asMaster: true,
            headers: [("X-Forwarded-For", "10.0.0.9")]
        )
        #expect(reply.status == 200)
        await server.process.stop()
    }

    @Test func `credentials in the body count only without an application id in the head`() async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice")
        let beside = try await server.api.call(
            "PUT",
            "/users/\(alice.id)",
            ["nick": "a", "_SessionToken": .string(alice.token)],
            token: alice.token
        )
        #expect(beside.refusal == "400/105 Invalid field name: _SessionToken.")

        var browser = server.connect()
        browser.applicationID = nil
        browser.clientKey = nil
        let inside = try await browser.call(
            "POST",
            "/users/\(alice.id)",
            [
                "_method": "PUT", "_ApplicationId": "app", "_JavaScriptKey": "js",
                "_ClientVersion": "js1.9.0",
                "_InstallationId": "browser", "_SessionToken": .string(alice.token), "nick": "b",
            ]
        )
        #expect(inside.status == 200)
        let me = try await server.api.call("GET", "/users/me", token: alice.token)
        #expect(me["nick"] == "b")
        #expect(me.keys.contains { $0.hasPrefix("_") } == false)
        await server.process.stop()
    }

    @Test func `an app in the body with another's master key in the head is refused`() async throws {
        let server = try await TestServer.start()
        var browser = server.connect()
        browser.applicationID = nil
        browser.clientKey = nil
        let body: JSONValue = ["_ApplicationId": "app", "_method": "GET"]
        let wrong = try await browser.call("POST", "/users", body, headers: [("X-Parse-Master-Key", "wrong")])
        #expect(wrong.status == 403)
        let right = try await browser.call(
            "POST",
            "/users",
            body,
            headers: [("X-Parse-Master-Key", "master")]
        )
        #expect(right.status == 200)
        await server.process.stop()
    }

    @Test func `a master key beside a dead session token is the master`() async throws {
        let server = try await TestServer.start()
        let reply = try await server.api.call("GET", "/sessions", token: "r:dead", asMaster: true)
        #expect(reply.status == 200)
        #expect(reply.text == #"{"results":[]}"#)
        await server.process.stop()
    }

    @Test(arguments: [
        (
            #"{"username":"alice","password":"p","email":"no mail"}"#,
            "400/202 Account already exists for this username."
        ),
        (
            #"{"username":"alice","password":"p","email":42}"#,
            "400/111 schema mismatch for _User.email; expected String but got Number"
        ),
        (
            #"{"username":"new","password":"p","email":"ALICE@x.com"}"#,
            "400/203 Account already exists for this email address."
        ),
        (#"{"password":"p"}"#, "400/200 bad or missing username"),
        (#"{"username":["alice"],"password":"p"}"#, "400/200 bad or missing username"),
        (#"{"username":"new","password":""}"#, "400/201 password is required"),
        (#"{"username":"new","password":null}"#, "400/201 password is required"),
    ])
    func `of several faults of a sign-up the first in the order of the rules is told`(
        body: String,
        refusal: String
    ) async throws {
        let server = try await TestServer.start()
        _ = try await server.api.signUp("alice", fields: ["email": "alice@x.com"])
        #expect(try await server.api.send("POST", "/users", body: Array(body.utf8)).refusal == refusal)
        await server.process.stop()
    }

    @Test func `a name that is another's address logs its owner in`() async throws {
        let server = try await TestServer.start()
        let first = try await server.api.signUp("x@a.com")
        _ = try await server.api.signUp("second", fields: ["email": "x@a.com"])
        let own = try await server.api.call(
            "POST",
            "/login",
            ["username": "x@a.com", "password": "x@a.com-password"]
        )
        #expect(own["objectId"] == .string(first.id))
        let other = try await server.api.call(
            "POST",
            "/login",
            ["username": "x@a.com", "password": "second-password"]
        )
        #expect(other.refusal == "404/101 Invalid username/password.")
        await server.process.stop()
    }

    @Test(arguments: [
        #"{"username":{"$regex":"^a"},"password":"alice-password"}"#,
        #"{"username":{"$ne":null},"password":"alice-password"}"#,
        #"{"username":"alice","password":{"$ne":"x"}}"#,
        #"{"username":"alice","password":["alice-password"]}"#,
        #"{"email":{"$gt":""},"password":"alice-password"}"#,
    ])
    func `an operator in place of a name or password is no log-in`(body: String) async throws {
        let server = try await TestServer.start()
        _ = try await server.api.signUp("alice")
        for path in ["/login", "/verifyPassword"] {
            let reply = try await server.api.send("POST", path, body: Array(body.utf8))
            #expect(reply.refusal == "404/101 Invalid username/password.")
        }
        await server.process.stop()
    }

    @Test func `a provider's log-in to a locked user ends in 208`() async throws {
        let server = try await TestServer.start()
        let body: JSONValue = ["authData": ["anonymous": ["id": "11111111-aaaa"]]]
        let first = try await server.api.call("POST", "/users", body)
        let id = try #require(first["objectId"]?.stringValue)
        try await server.api.call("PUT", "/users/\(id)", ["ACL": [:]], asMaster: true)
        let second = try await server.api.call("POST", "/users", body)
        #expect(second.refusal == "400/208 this auth is already used")
        await server.process.stop()
    }

    @Test func `log-ins without an installation id do not end each other`() async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice")
        let second = try await server.api.logIn("alice", alice.password)
        for token in [alice.token, second] {
            #expect(try await server.api.call("GET", "/users/me", token: token).status == 200)
        }
        await server.process.stop()
    }

    @Test func `a session made for the caller's installation ends the caller's own`() async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice", installation: "phone")
        let reply = try await server.api.call(
            "POST",
            "/sessions",
            ["installationId": "phone"],
            token: alice.token,
            installation: "phone"
        )
        #expect(reply.status == 201)
        let token = try #require(reply["sessionToken"]?.stringValue)
        #expect(try await server.api.call("GET", "/users/me", token: token).status == 200)
        let old = try await server.api.call("GET", "/users/me", token: alice.token)
        #expect(old.refusal == "400/209 Invalid session token")
        await server.process.stop()
    }

    @Test func `a list of users shows the caller's own address and no other's`() async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice", fields: ["email": "alice@x.com"])
        let open: JSONObject = ["email": "bob@x.com", "ACL": ["*": ["read": true]]]
        _ = try await server.api.signUp("bob", fields: open)
        let reply = try await server.api.call("GET", "/users?order=username", token: alice.token)
        let rows = reply["results"]?.arrayValue ?? []
        #expect(rows.map { $0["username"] } == ["alice", "bob"])
        #expect(rows.map { $0["email"] } == ["alice@x.com", nil])
        #expect(rows.allSatisfy { $0["sessionToken"] == nil })
        await server.process.stop()
    }

    @Test func `a provider tells a new user from a known one by status, with the address of both`()
        async throws
    {
        let server = try await TestServer.start()
        let body: JSONValue = ["authData": ["anonymous": ["id": "one"]], "nick": "x"]
        let first = try await server.api.call("POST", "/users", body)
        #expect(first.status == 201)
        let id = try #require(first["objectId"]?.stringValue)
        let second = try await server.api.call("POST", "/users", body)
        #expect(second.status == 200)
        for reply in [first, second] {
            #expect(reply.header("Location") == "http://127.0.0.1/parse/users/\(id)")
        }
        #expect(second["updatedAt"] != nil)
        await server.process.stop()
    }

    @Test func `one of two providers is taken off and the other stays`() async throws {
        try await LocalServer.run(providers: [FakeProvider()]) { server in
            let alice = try await server.api.signUp("alice")
            let path = "/users/\(alice.id)"
            for data in [["fake": ["id": "1", "token": "good"]], ["anonymous": ["id": "2"]]] as [JSONValue] {
                let linked = try await server.api.call("PUT", path, ["authData": data], token: alice.token)
                #expect(linked.status == 200)
            }
            try await server.api.call("PUT", path, ["authData": ["fake": nil]], token: alice.token)
            let one = try await server.api.call("GET", "/users/me", token: alice.token)
            #expect(one["authData"] == ["anonymous": ["id": "2"]])
            try await server.api.call("PUT", path, ["authData": ["anonymous": nil]], token: alice.token)
            let none = try await server.api.call("GET", "/users/me", token: alice.token)
            #expect(none["authData"] == nil)
        }
    }

    @Test func `a provider's refusal reaches the master key as it is`() async throws {
        try await LocalServer.run(providers: [FakeProvider()]) { server in
            let alice = try await server.api.signUp("alice")
            let reply = try await server.api.call(
                "PUT",
                "/users/\(alice.id)",
                ["authData": ["fake": ["id": "1", "token": "bad"]]],
                asMaster: true
            )
            #expect(reply.refusal == "404/101 fake auth is invalid for this user.")
        }
    }

    @Test func `HEAD is GET without a body`() async throws {
        let server = try await TestServer.start()
        let get = try await server.api.call("GET", "/users")
        let head = try await server.api.call("HEAD", "/users")
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        #expect(head.header("Content-Length") == String(get.body.count))
        #expect(head.header("ETag") == get.header("ETag"))
        await server.process.stop()
    }

    @Test func `an answer that is known already is not sent again`() async throws {
        let server = try await TestServer.start()
        let tag = try #require(try await server.api.call("GET", "/users").header("ETag"))
        let same = try await server.api.call("GET", "/users", headers: [("If-None-Match", tag)])
        #expect(same.status == 304)
        _ = try await server.api.signUp("alice", fields: ["ACL": ["*": ["read": true]]])
        let changed = try await server.api.call("GET", "/users", headers: [("If-None-Match", tag)])
        #expect(changed.status == 200)
        await server.process.stop()
    }

    @Test(arguments: [
        ("GET", "/users", 200), ("GET", "/nosuchroute", 404), ("POST", "/login", 400),
        ("OPTIONS", "/anything", 200),
        ("PATCH", "/users", 404), ("GET", "/serverInfo", 403),
    ])
    func `every answer lets a browser read it`(method: String, path: String, status: Int) async throws {
        let server = try await TestServer.start()
        let reply = try await server.api.call(method, path, headers: [("Origin", "https://example.org")])
        #expect(reply.status == status)
        #expect(reply.header("Access-Control-Allow-Origin") == "*")
        #expect(reply.header("Access-Control-Allow-Methods") == "GET,PUT,POST,DELETE,OPTIONS")
        #expect(reply.header("Access-Control-Allow-Credentials") == nil)
        await server.process.stop()
    }

    @Test(arguments: ["/USERS", "/users/", "/Users"])
    func `routes are found without regard to case and with a slash at the end`(path: String) async throws {
        let server = try await TestServer.start()
        #expect(try await server.api.call("GET", path).status == 200)
        #expect(try await server.api.call("GET", path + "//").status == 404)
        await server.process.stop()
    }

    @Test func `a body may be compressed`() async throws {
        let server = try await TestServer.start()
        // gzip of {"username":"zip","password":"zip-password"}
        let folder = try TemporaryFolder()
        let path = folder.path + "/body"
        try write(Array(#"{"username":"zip","password":"zip-password"}"#.utf8), to: path)
        let compressed = try await ProgramRun.run(["bash", "-c", "gzip -c '\(path)' | od -An -v -tu1"])
        let bytes = compressed.output.split { $0 == " " || $0 == "\n" }.compactMap { UInt8($0) }
        let reply = try await server.api.send(
            "POST",
            "/users",
            body: bytes,
            headers: [("Content-Encoding", "gzip")]
        )
        #expect(reply.status == 201)
        await server.process.stop()
    }
}
