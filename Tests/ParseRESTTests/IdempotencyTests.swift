import HTTP
import JSON
import ParseCore
import ParseWire
import Testing

@testable import ParseREST

@Suite struct IdempotencyTests {
    private func rest(_ paths: [String] = ["users", "classes/.*"]) throws -> TestREST {
        try TestREST {
            $0.idempotency = IdempotencyOptions(paths: paths)
            $0.allowClientClassCreation = true
        }
    }

    private static func headers(_ id: String) -> [(String, String)] {
        TestREST.appHeader + [("X-Parse-Request-Id", id)]
    }

    private static let alice: JSONValue = ["username": "alice", "password": "p"]

    @Test func `a request that comes again is refused`() async throws {
        let rest = try rest()
        #expect(await rest.send("POST", "/users", Self.headers("1"), json: Self.alice).status == 201)
        for path in ["/users", "/parse/users", "/users/"] {
            expectRefused(
                await rest.send("POST", path, Self.headers("1"), json: Self.alice),
                159,
                "Duplicate request"
            )
        }
        let other = await rest.send("POST", "/users", Self.headers("2"), json: Self.alice)
        #expect(other.json?["code"] == 202)
    }

    @Test func `a request that failed counts`() async throws {
        let rest = try rest()
        #expect(await rest.send("POST", "/users", Self.headers("1"), json: [:]).json?["code"] == 200)
        #expect(await rest.send("POST", "/users", Self.headers("1"), json: Self.alice).json?["code"] == 159)
    }

    @Test func `of requests that come at once one is carried out`() async throws {
        let rest = try rest()
        let statuses = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    await rest.send("POST", "/classes/Game", Self.headers("x"), json: ["n": 1]).status
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.filter { $0 == 201 }.count == 1 && statuses.filter { $0 == 400 }.count == 9)
        #expect(await rest.master("GET", "/classes/Game").json?["results"]?.arrayValue?.count == 1)
    }

    @Test func `reads, requests without an id, other paths and batches are as before`() async throws {
        let rest = try rest(["classes/Game"])
        for _ in 0..<2 {
            #expect(await rest.send("GET", "/classes/_User", Self.headers("1")).status == 200)
            #expect(await rest.send("POST", "/classes/Game", Self.headers(""), json: [:]).status == 201)
            #expect(await rest.send("POST", "/classes/Other", Self.headers("1"), json: [:]).status == 201)
            let part: JSONValue = ["method": "POST", "path": "/classes/Game", "body": [:]]
            let batch = await rest.send(
                "POST",
                "/batch",
                Self.headers("1"),
                json: ["requests": [part, part]]
            )
            #expect(batch.json?.arrayValue?.allSatisfy { $0["success"] != nil } == true)
        }
        #expect(await rest.send("POST", "/classes/Game", Self.headers("1"), json: [:]).status == 201)
        #expect(await rest.send("POST", "/classes/Game", Self.headers("1"), json: [:]).status == 400)
    }

    @Test func `a change counts like a new object, under its method override too`() async throws {
        let rest = try rest()
        let id = await rest.send("POST", "/classes/Game", json: [:]).json?["objectId"]?.stringValue
        let path = "/classes/Game/\(try #require(id))"
        #expect(await rest.send("PUT", path, Self.headers("1"), json: ["n": 1]).status == 200)
        #expect(await rest.send("PUT", path, Self.headers("1"), json: ["n": 2]).json?["code"] == 159)
        let override: JSONValue = ["_method": "PUT", "n": 3]
        #expect(await rest.send("POST", path, Self.headers("1"), json: override).json?["code"] == 159)
    }

    @Test func `the read-only key leaves no trace`() async throws {
        let rest = try rest()
        let headers = TestREST.readerHeaders + [("X-Parse-Request-Id", "1")]
        #expect(await rest.send("POST", "/classes/Game", headers, json: [:]).json?["code"] == 119)
        #expect(rest.app.storage.schema["_Idempotency"] == nil)
    }

    @Test func `an id has an end`() async throws {
        let rest = try rest()
        let long = String(repeating: "x", count: 255)
        #expect(await rest.send("POST", "/classes/Game", Self.headers(long), json: [:]).status == 201)
        expectRefused(
            await rest.send("POST", "/classes/Game", Self.headers(long + "x"), json: [:]),
            162,
            "A request id has at most 255 bytes."
        )
    }

    @Test func `clients do not see the ids`() async throws {
        let rest = try rest()
        #expect(await rest.send("POST", "/classes/Game", Self.headers("1"), json: [:]).status == 201)
        #expect(await rest.send("GET", "/classes/_Idempotency").json?["code"] == 119)
        let rows = await rest.master("GET", "/classes/_Idempotency").json?["results"]?.arrayValue
        #expect(rows?.count == 1 && rows?[0]["reqId"] == "1")
        #expect(await rest.master("DELETE", "/purge/_Idempotency").text == "{}")
        #expect(await rest.send("POST", "/classes/Game", Self.headers("1"), json: [:]).status == 201)
    }

    @Test func `what the server was too busy for may be sent again, and nothing else`() async throws {
        let rest = try rest()
        let context = RequestContext(
            app: rest.app,
            principal: .nobody,
            sessionToken: nil,
            installationID: nil,
            lane: nil
        )
        let request = RESTRequest(
            context: context,
            parameters: PathParameters([]),
            query: [],
            body: [:],
            mount: ""
        )
        let claim = ClaimRequest(requestID: "1", ttl: 300)
        for error in [ParseError.overloaded, .busyHashing, .objectNotFound] {
            let endpoint = Endpoint { _ in throw error }
            await #expect(throws: error) { try await endpoint.run(request, once: claim) }
        }
        let endpoint = Endpoint { _ in RESTReply([:]) }
        let refused = ParseError(.duplicateRequest, "Duplicate request")
        await #expect(throws: refused) { try await endpoint.run(request, once: claim) }
    }
}
