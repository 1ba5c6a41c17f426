import JSON
import Locking
import TestSupport
import Testing

/// Objects that many clients change at once, and that must outlive a server that is killed.
@Suite(.serialized)
struct ObjectsOverTheWireTests {
    @Test func `fifty increments at once all count`() async throws {
        let server = try await TestServer.startOpen()
        let id = try await server.api.create("Game", ["n": 0, "o": ["k": 0]])
        let replies = try await concurrently(50) { _ in
            try await server.connect().update("Game", id, ["n": .increment(1), "o.k": .increment(2)])
        }
        // Each is told another number: what it made of what was there.
        #expect(Set(replies.compactMap { $0["n"]?.numberValue }) == Set((1...50).map(Double.init)))
        #expect(replies.allSatisfy { $0["o"]?["k"]?.numberValue == ($0["n"]?.numberValue).map { $0 * 2 } })
        let row = try await server.api.get("Game", id)
        #expect(row["n"] == 50)
        #expect(row["o"] == ["k": 100])
        await server.stop()
    }

    @Test func `what twenty clients add to a set is there once each`() async throws {
        let server = try await TestServer.startOpen()
        let id = try await server.api.create("Game", ["tags": [], "log": []])
        let replies = try await concurrently(20) { number in
            let tags =
                (0..<10).map { JSONValue.number(Double(($0 + number) % 15)) } + [
                    ["k": .number(Double(number % 3))]
                ]
            return try await server.connect().update(
                "Game",
                id,
                [
                    "tags": .operation("AddUnique", tags),
                    "log": .operation("Add", [.number(Double(number))]),
                    "fans": .operation("AddRelation", [.pointer("Game", "fan\(number % 5)")]),
                ]
            )
        }
        #expect(replies.allSatisfy { $0.status == 200 })
        let row = try await server.api.get("Game", id)
        let tags = row["tags"]?.arrayValue ?? []
        #expect(Set(tags).count == tags.count)
        #expect(tags.count == 18)
        #expect(Set(row["log"]?.arrayValue ?? []) == Set((0..<20).map { .number(Double($0)) }))
        #expect(row["log"]?.arrayValue?.count == 20)
        await server.stop()
    }

    @Test func `of twenty creates that add the same field all succeed`() async throws {
        let server = try await TestServer.startOpen()
        let replies = try await concurrently(20) { number in
            try await server.connect().call("POST", "/classes/Fresh", ["field": .number(Double(number))])
        }
        #expect(replies.allSatisfy { $0.status == 201 }, "\(replies.map(\.refusal))")
        let rows = try await server.api.find("Fresh").results
        #expect(Set(rows.compactMap { $0["field"]?.numberValue }) == Set((0..<20).map(Double.init)))
        await server.stop()
    }

    @Test func `of two types that a field is given at once one wins`() async throws {
        let server = try await TestServer.startOpen()
        for round in 0..<3 {
            let className = "Fresh\(round)"
            let replies = try await concurrently(20) { number in
                let value: JSONValue = number.isMultiple(of: 2) ? .number(1) : "text"
                return try await server.connect().call("POST", "/classes/\(className)", ["field": value])
            }
            let made = replies.enumerated().filter { $0.element.status == 201 }
            #expect(made.count == 10)
            #expect(Set(made.map { $0.offset % 2 }).count == 1)
            let refused = replies.filter { $0.status == 400 && $0.code == 111 }
            #expect(refused.count == 10, "\(replies.map(\.refusal))")
            #expect(
                refused.allSatisfy {
                    $0.error?.hasPrefix("schema mismatch for \(className).field; expected ") == true
                }
            )
            #expect(try await server.api.find(className).results.count == 10)
        }
        await server.stop()
    }

    @Test func `a class that comes and goes under its users leaves no half`() async throws {
        let server = try await TestServer.startOpen()
        let codes: Set<Int> = [101, 103, 111, 255]
        let replies = try await concurrently(12) { number in
            let api = server.connect()
            var replies: [HTTPReply] = []
            for round in 0..<12 {
                switch (number + round) % 4 {
                case 0:
                    replies.append(
                        try await api.call(
                            "POST",
                            "/schemas/Passing",
                            ["fields": ["n": ["type": "Number"]]],
                            asMaster: true
                        )
                    )
                case 1: replies.append(try await api.call("DELETE", "/schemas/Passing", asMaster: true))
                case 2: replies.append(try await api.call("DELETE", "/purge/Passing", asMaster: true))
                default:
                    replies.append(
                        try await api.call("POST", "/classes/Passing", ["n": 1, "f\(number)": "x"])
                    )
                    replies.append(try await api.find("Passing", ["where": ["n": 1]]))
                }
            }
            return replies
        }
        for reply in replies.joined() {
            #expect(reply.status < 300 || reply.code.map(codes.contains) == true, "\(reply.refusal)")
        }
        for _ in 0..<2 {
            #expect(try await server.api.call("DELETE", "/purge/Passing", asMaster: true).status == 200)
            #expect(try await server.api.call("DELETE", "/schemas/Passing", asMaster: true).status == 200)
            #expect(try await server.api.call("GET", "/schemas/Passing", asMaster: true).code == 103)
            let id = try await server.api.create("Passing", ["n": "text now"])
            #expect(try await server.api.get("Passing", id)["n"] == "text now")
        }
        await server.stop()
    }

    @Test func `a transaction that fails leaves nothing`() async throws {
        let server = try await TestServer.startOpen()
        let api = server.api
        try await api.defineClass(
            "Game",
            ["n": ["type": "Number"], "fans": ["type": "Relation", "targetClass": "Game"]]
        )
        let id = try await api.create("Game", ["n": 1])
        let doomed = try await api.create("Game", ["n": 2])
        func part(_ method: String, _ path: String, _ body: JSONValue = [:]) -> JSONValue {
            ["method": .string(method), "path": .string("/parse/classes/Game" + path), "body": body]
        }
        let good = [
            part("POST", "", ["n": 3]), part("PUT", "/\(id)", ["n": .increment(10)]),
            part("PUT", "/\(id)", ["fans": .operation("AddRelation", [.pointer("Game", doomed)])]),
            part("DELETE", "/\(doomed)"),
        ]
        let bad = [
            part("PUT", "/nowhere", ["n": 1]), part("POST", "", ["n": "text"]), part("DELETE", "/nowhere"),
        ]
        for failing in bad {
            for place in [0, 2, 4] {
                var parts = good
                parts.insert(failing, at: place)
                let reply = try await api.call(
                    "POST",
                    "/batch",
                    ["requests": .array(parts), "transaction": true]
                )
                #expect(reply.status == 500)
                #expect(reply.code == 1)
                let rows = try await api.find("Game").results
                #expect(Set(rows.compactMap { $0["n"]?.numberValue }) == [1, 2])
                let links: JSONValue = ["$relatedTo": ["object": .pointer("Game", id), "key": "fans"]]
                #expect(try await api.find("Game", ["where": links]).results.isEmpty)
            }
        }
        let reply = try await api.call("POST", "/batch", ["requests": .array(good), "transaction": true])
        #expect(reply.json?.arrayValue?.filter { $0["success"] != nil }.count == 4, "\(reply.text)")
        #expect(Set(try await api.find("Game").results.compactMap { $0["n"]?.numberValue }) == [11, 3])
        await server.stop()
    }

    /// What clients of the killed server know of one object.
    private struct Known: Sendable {
        /// Acknowledged last; `nil` once it is deleted.
        var value: Int?
        /// Asked for and not acknowledged.
        var pending: Int??
    }

    @Test func `what was acknowledged outlives a kill, and nothing is written by half`() async throws {
        let server = try await TestServer.startOpen()
        try await server.api.defineClass(
            "Pair",
            ["a": ["type": "Number"], "b": ["type": "Number"], "list": ["type": "Array"]]
        )
        let known = Locked<[String: Known]>([:])
        let acknowledged = Locked(0)
        let ports = server.ports
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<24 {
                group.addTask {
                    await Self.work(client, API(port: ports[client % ports.count]), known) {
                        acknowledged.withLock { $0 += 1 }
                    }
                }
            }
            group.addTask {
                while acknowledged.withLock({ $0 }) < 1000 { try await Task.sleep(for: .milliseconds(1)) }
                for process in [server.process] + server.more { await process.kill() }
            }
            try await group.waitForAll()
        }
        let next = try await server.startAgain()
        let rows = try await next.api.find("Pair", ["limit": 10_000], asMaster: true).results
        var stored: [String: Int] = [:]
        for row in rows {
            let value = try #require(row["a"]?.numberValue)
            #expect(row["b"]?.numberValue == value && row["list"] == [.number(value)], "\(row)")
            stored[row["objectId"]?.stringValue ?? ""] = Int(value)
        }
        let all = known.withLock { $0 }
        #expect(all.count > 50)
        for (id, object) in all {
            let isAsAcknowledged = stored[id] == object.value
            let isAsAsked = object.pending.map { stored[id] == $0 } ?? false
            #expect(
                isAsAcknowledged || isAsAsked,
                "\(id): \(String(describing: stored[id])) is not \(object)"
            )
        }
        // At most one create of each client went on without an answer.
        #expect(Set(stored.keys).subtracting(all.keys).count <= 24)
        await next.stop()
    }

    private static func work(
        _ client: Int,
        _ api: API,
        _ known: Locked<[String: Known]>,
        onSuccess: @Sendable () -> Void
    ) async {
        func fields(_ value: Int) -> JSONObject {
            let number = JSONValue.number(Double(value))
            return ["a": number, "b": number, "list": [number]]
        }
        for number in 0..<1000 {
            let value = client * 100_000 + number * 10
            guard let id = try? await api.create("Pair", fields(value)) else { return }
            known.withLock { $0[id] = Known(value: value) }
            onSuccess()
            for step in 1...3 {
                known.withLock { $0[id]?.pending = .some(value + step) }
                guard (try? await api.update("Pair", id, fields(value + step)))?.status == 200 else { return }
                known.withLock { $0[id] = Known(value: value + step) }
                onSuccess()
            }
            guard number % 3 == 0 else { continue }
            known.withLock { $0[id]?.pending = .some(nil) }
            guard (try? await api.call("DELETE", "/classes/Pair/\(id)"))?.status == 200 else { return }
            known.withLock { $0[id] = Known(value: nil) }
            onSuccess()
        }
    }
}
