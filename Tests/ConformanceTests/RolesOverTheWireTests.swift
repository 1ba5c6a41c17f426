import JSON
import Locking
import TestSupport
import Testing

/// What a role gives holds from the next request on, and is gone with the next request, on every server.
@Suite(.serialized)
struct RolesOverTheWireTests {
    private static func makeRole(_ name: String, users: [Account] = [], _ api: API) async throws -> String {
        var body: JSONObject = ["name": .string(name), "ACL": [:]]
        if !users.isEmpty {
            body["users"] = .operation("AddRelation", users.map { .pointer("_User", $0.id) })
        }
        let reply = try await api.call("POST", "/roles", .object(body), asMaster: true)
        guard reply.status == 201, let id = reply["objectId"]?.stringValue else { throw Unexpected(reply) }
        return id
    }

    private static func change(_ role: String, _ body: JSONObject, _ api: API) async throws {
        let reply = try await api.call("PUT", "/roles/\(role)", .object(body), asMaster: true)
        guard reply.status == 200 else { throw Unexpected(reply) }
    }

    private static func link(_ operation: String, _ className: String, _ id: String) -> JSONValue {
        .operation(operation, [.pointer(className, id)])
    }

    /// Whether the account sees the object and may change it; the two are granted together.
    private static func mayUse(_ id: String, _ account: Account, _ api: API) async throws -> Bool {
        let reads = try await api.get("Secret", id, token: account.token).status == 200
        let finds = try await api.find("Secret", token: account.token).results.count == 1
        let writes =
            try await api.update("Secret", id, ["n": .increment(1)], token: account.token).status == 200
        #expect(reads == finds && reads == writes, "reads \(reads), finds \(finds), writes \(writes)")
        return reads
    }

    private static func makeSecret(_ role: String, _ api: API) async throws -> String {
        let key = "role:\(role)"
        return try await api.create(
            "Secret",
            ["n": 0, "ACL": [key: ["read": true, "write": true]]],
            asMaster: true
        )
    }

    @Test func `a membership counts from the next request on`() async throws {
        let server = try await TestServer.startOpen()
        let api = server.api
        let alice = try await api.signUp("alice")
        let secret = try await Self.makeSecret("Friends", api)
        #expect(try await !Self.mayUse(secret, alice, api))
        let role = try await Self.makeRole("Friends", users: [alice], api)
        #expect(try await Self.mayUse(secret, alice, api))
        for _ in 0..<5 {
            try await Self.change(role, ["users": Self.link("RemoveRelation", "_User", alice.id)], api)
            #expect(try await !Self.mayUse(secret, alice, api))
            try await Self.change(role, ["users": Self.link("AddRelation", "_User", alice.id)], api)
            #expect(try await Self.mayUse(secret, alice, api))
        }
        try await Self.change(role, ["name": "Enemies"], api)
        #expect(try await !Self.mayUse(secret, alice, api))
        try await Self.change(role, ["name": "Friends"], api)
        #expect(try await Self.mayUse(secret, alice, api))
        #expect(try await api.call("DELETE", "/roles/\(role)", asMaster: true).status == 200)
        #expect(try await !Self.mayUse(secret, alice, api))
        _ = try await Self.makeRole("Friends", users: [alice], api)
        #expect(try await Self.mayUse(secret, alice, api))
        #expect(try await api.call("DELETE", "/purge/_Role", asMaster: true).status == 200)
        #expect(try await !Self.mayUse(secret, alice, api))
        await server.stop()
    }

    @Test func `a role gives what those above it give, cycles or not`() async throws {
        let server = try await TestServer.startOpen()
        let api = server.api
        let alice = try await api.signUp("alice")
        let bob = try await api.signUp("bob")
        let secret = try await Self.makeSecret("Top", api)
        let top = try await Self.makeRole("Top", api)
        let middle = try await Self.makeRole("Middle", api)
        let bottom = try await Self.makeRole("Bottom", users: [alice], api)
        #expect(try await !Self.mayUse(secret, alice, api))
        try await Self.change(top, ["roles": Self.link("AddRelation", "_Role", middle)], api)
        #expect(try await !Self.mayUse(secret, alice, api))
        try await Self.change(middle, ["roles": Self.link("AddRelation", "_Role", bottom)], api)
        #expect(try await Self.mayUse(secret, alice, api))
        #expect(try await !Self.mayUse(secret, bob, api))
        // Round and round, and onto itself.
        try await Self.change(
            bottom,
            ["roles": .operation("AddRelation", [.pointer("_Role", top), .pointer("_Role", bottom)])],
            api
        )
        #expect(try await Self.mayUse(secret, alice, api))
        #expect(try await !Self.mayUse(secret, bob, api))
        try await Self.change(middle, ["name": "Between"], api)
        #expect(try await Self.mayUse(secret, alice, api))
        try await Self.change(middle, ["roles": Self.link("RemoveRelation", "_Role", bottom)], api)
        #expect(try await !Self.mayUse(secret, alice, api))
        try await Self.change(middle, ["roles": Self.link("AddRelation", "_Role", bottom)], api)
        #expect(try await Self.mayUse(secret, alice, api))
        #expect(try await api.call("DELETE", "/roles/\(middle)", asMaster: true).status == 200)
        #expect(try await !Self.mayUse(secret, alice, api))
        await server.stop()
    }

    @Test func `class-level permissions of a role follow it at once`() async throws {
        let server = try await TestServer.startOpen()
        let api = server.api
        let alice = try await api.signUp("alice")
        try await api.defineClass(
            "Report",
            ["n": ["type": "Number"], "hidden": ["type": "Number"]],
            permissions: [
                "find": ["role:Readers": true], "get": ["role:Readers": true], "create": ["*": true],
                "protectedFields": ["*": ["hidden"], "role:Readers": []],
            ]
        )
        try await api.create("Report", ["n": 1, "hidden": 2])
        let refusal = "400/119 Permission denied"
        func find() async throws -> HTTPReply { try await api.find("Report", token: alice.token) }
        #expect(try await find().refusal.hasPrefix(refusal))
        let role = try await Self.makeRole("Readers", users: [alice], api)
        #expect(try await find().results.first?["hidden"] == 2)
        try await Self.change(role, ["name": "Others"], api)
        #expect(try await find().refusal.hasPrefix(refusal))
        let all: JSONValue = [
            "classLevelPermissions": ["find": ["*": true], "protectedFields": ["*": ["hidden"]]]
        ]
        #expect(try await api.call("PUT", "/schemas/Report", all, asMaster: true).status == 200)
        #expect(try await find().results.map { $0["hidden"] } == [nil])
        await server.stop()
    }

    /// A client that asks without pause: nothing that it asks later than the answer to a removal is granted.
    @Test func `no read that begins after a removal is answered`() async throws {
        let server = try await TestServer.startOpen()
        let alice = try await server.api.signUp("alice")
        let secret = try await Self.makeSecret("Friends", server.api)
        let role = try await Self.makeRole("Friends", users: [alice], server.api)
        // Between processes word of a change takes a moment, of which there is a bound.
        let allowance: Duration = Backend.current == .pair ? .milliseconds(50) : .zero
        let pollers = server.ports.map { API(port: $0) }
        for round in 0..<8 {
            let removed = Locked<ContinuousClock.Instant?>(nil)
            let seen = Locked(Set<Int>())
            let latest = try await withThrowingTaskGroup(of: ContinuousClock.Instant.self) { group in
                for (number, poller) in pollers.enumerated() {
                    group.addTask {
                        var last = ContinuousClock.now
                        for _ in 0..<20_000 {
                            let began = ContinuousClock.now
                            let reply = try await poller.get("Secret", secret, token: alice.token)
                            guard reply.status == 200 else {
                                #expect(reply.refusal == "404/101 Object not found.")
                                if seen.withLock({ $0.contains(number) }) { return last }
                                continue
                            }
                            last = began
                            seen.withLock { _ = $0.insert(number) }
                        }
                        return last
                    }
                }
                while seen.withLock({ $0.count < pollers.count }) {
                    try await Task.sleep(for: .milliseconds(1))
                }
                try await Self.change(
                    role,
                    ["users": Self.link("RemoveRelation", "_User", alice.id)],
                    server.api
                )
                removed.withLock { $0 = .now }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let moment = try #require(removed.withLock { $0 })
            #expect(latest.allSatisfy { $0 <= moment + allowance }, "round \(round)")
            try await Self.change(role, ["users": Self.link("AddRelation", "_User", alice.id)], server.api)
        }
        await server.stop()
    }

    @Test func `of twenty roles of one name made at once there is one`() async throws {
        let server = try await TestServer.startOpen()
        let replies = try await concurrently(20) { _ in
            try await server.connect().call("POST", "/roles", ["name": "Only", "ACL": [:]], asMaster: true)
        }
        #expect(replies.filter { $0.status == 201 }.count == 1)
        #expect(replies.filter { $0.status == 400 && $0.code == 137 }.count == 19)
        #expect(try await server.api.find("_Role", asMaster: true).results.count == 1)
        await server.stop()
    }
}
