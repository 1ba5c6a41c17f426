import JSON
import TestSupport
import Testing

/// Names and values that would mean something to a database, wherever a request takes one.
@Suite(.serialized)
struct InjectionOverTheWireTests {
    static let hostile: [String] = [
        "'", "\"", "\\", "`", ";", "--", "/*", "$", "$1", "?1", "%", "_", ".", "..", "\u{0}", "a\u{0}b",
        "\u{1}",
        "'; DROP TABLE \"Game\"; --", "\" OR 1=1 --", "a'b", "a\"b", "a b", "a.b", "a\nb", "{}", "[]",
        "$where",
        "é", "\u{202E}", "😀", "ı", "__proto__", "constructor", "_rperm", "_readers", "rowid", "ctid",
        "select",
        String(repeating: "x", count: 256), String(repeating: "x", count: 2000),
    ]

    @Test func `hostile names and values are data or refused, and everything is there afterwards`()
        async throws
    {
        let server = try await TestServer.startOpen()
        let api = server.api
        try await api.defineClass(
            "Game",
            [
                "n": ["type": "Number"], "s": ["type": "String"], "a": ["type": "Array"],
                "o": ["type": "Object"], "fans": ["type": "Relation", "targetClass": "Game"],
            ]
        )
        let id = try await api.create("Game", ["n": 1, "s": "x", "a": [1], "o": ["k": 1]])
        let alice = try await api.signUp("alice")
        // Straight to each server in turn: none has to have heard of what the others did.
        let servers = server.ports.map { API(port: $0) }
        for text in Self.hostile {
            for (number, (place, request)) in Self.requests(text, id).enumerated() {
                let reply = try await servers[number % servers.count].call(
                    request.method,
                    request.path,
                    request.body,
                    asMaster: request.isMaster
                )
                #expect(
                    Self.isFine(reply),
                    "\(place) \(text.debugDescription): \(reply.status) \(reply.text.prefix(200))"
                )
            }
        }
        let row = try await api.get("Game", id)
        #expect(row["n"] == 1)
        #expect(row["s"] == "x")
        #expect(row["o"]?["k"] == 1)
        #expect(try await api.find("Game", ["where": ["n": 1, "s": "x"]]).results.count == 1)
        #expect(try await api.logIn("alice", alice.password).isEmpty == false)
        let schemas = try await api.call("GET", "/schemas", asMaster: true).results
        let classes = Set(schemas.compactMap { $0["className"]?.stringValue })
        #expect(classes.isSuperset(of: ["Game", "_User", "_Role"]))
        await server.stop()
    }

    /// What was taken comes back as it was sent.
    @Test func `hostile text is kept to the byte`() async throws {
        let server = try await TestServer.startOpen()
        for text in Self.hostile where !text.utf8.contains(0) {
            let value = JSONValue.string(text)
            let id = try await server.api.create("Note", ["s": value, "a": [value, ["k": value]]])
            let reply = try await server.api.get("Note", id)
            #expect(reply["s"]?.stringValue.map { $0.utf8.elementsEqual(text.utf8) } == true)
            #expect(reply["a"] == [value, ["k": value]])
            let filters: [JSONValue] = [
                ["s": value], ["a": value], ["a.k": value], ["s": ["$in": [value]]],
                ["s": ["$gte": value, "$lte": value]],
            ]
            for filter in filters {
                let found = try await server.api.find("Note", ["where": filter]).results
                #expect(found.compactMap { $0["objectId"]?.stringValue } == [id], "\(filter)")
            }
            let pattern = JSONValue.string("^\\Q\(text)\\E")
            let found = try await server.api.find("Note", ["where": ["s": ["$regex": pattern]]]).results
            #expect(found.contains { $0["objectId"]?.stringValue == id }, "\(pattern)")
        }
        await server.stop()
    }

    /// PostgreSQL cannot hold a NUL, so no server may take one anywhere.
    @Test func `NUL is refused wherever an object could hold it`() async throws {
        let server = try await TestServer.startOpen()
        let id = try await server.api.create("Game", ["o": ["k": 1], "a": [1]])
        let bodies: [JSONObject] = [
            ["s": "a\u{0}"], ["a": ["\u{0}"]], ["o": ["k": "\u{0}"]], ["o": ["\u{0}": 1]], ["o.\u{0}": 1],
            ["o.\u{0}": .increment(1)], ["o.k": "\u{0}"], ["p": .pointer("Game", "\u{0}")],
            ["f": ["__type": "File", "name": "\u{0}"]], ["a": .operation("AddUnique", ["\u{0}"])],
            ["a": .operation("Add", [["k": "\u{0}"]])],
            ["r": .operation("AddRelation", [.pointer("Game", "\u{0}")])],
        ]
        for body in bodies {
            let reply = try await server.api.update("Game", id, body)
            #expect(reply.refusal == "400/107 Text cannot contain the character NUL.", "\(body)")
        }
        #expect(try await server.api.get("Game", id)["o"] == ["k": 1])
        await server.stop()
    }

    @Test func `numbers beyond the range of a double are refused`() async throws {
        let server = try await TestServer.startOpen()
        let id = try await server.api.create("Game", ["n": 1, "a": [1]])
        for body in [
            #"{"n":1e999}"#, #"{"n":-1e999}"#, #"{"a":[1e999]}"#, #"{"o":{"k":1e999}}"#,
            #"{"n":{"__op":"Increment","amount":1e999}}"#, #"{"a":{"__op":"Add","objects":[1e999]}}"#,
        ] {
            let reply = try await server.api.send("PUT", "/classes/Game/\(id)", body: Array(body.utf8))
            #expect(reply.refusal == "400/111 A number is too large.", "\(body)")
        }
        #expect(try await server.api.get("Game", id)["n"] == 1)
        await server.stop()
    }

    private struct Request {
        var method: String
        var path: String
        var body: JSONValue?
        var isMaster = false
    }

    /// Refused with a code, or done; never a fault of the server.
    private static func isFine(_ reply: HTTPReply) -> Bool {
        if (200..<500).contains(reply.status) { return true }
        // What is no regular expression is answered so by Parse too.
        return reply.code == 1 && reply.error?.hasPrefix("The regular expression is invalid") == true
    }

    private static func requests(_ text: String, _ id: String) -> [(String, Request)] {
        let value = JSONValue.string(text)
        let path = text.percentEncoded
        return inAddresses(path) + inBodies(text, value, id) + inSchemas(text, value)
            + filters(text, value).map { name, filter in
                ("where \(name)", find(["where": filter]))
            }
            + [
                "order", "keys", "excludeKeys", "include", "redirectClassNameForKey", "readPreference",
                "limit",
                "skip", "count", "where", "comment", text,
            ].map { ("parameter \($0)", find([$0: value])) }
            + [
                ("order -", find(["order": .string("-" + text)])),
                ("order o.", find(["order": .string("o." + text)])),
            ]
            + stages(text, value).map { name, stage in
                ("aggregate \(name)", aggregate(["pipeline": [stage]]))
            }
            + ["distinct", "hint", "where"].map { ("aggregate \($0)", aggregate([$0: value])) }
            + [("aggregate distinct o.", aggregate(["distinct": .string("o." + text)]))]
    }

    private static func find(_ parameters: JSONObject) -> Request {
        var body = parameters
        body["_method"] = "GET"
        return Request(method: "POST", path: "/classes/Game", body: .object(body))
    }

    private static func aggregate(_ parameters: JSONObject) -> Request {
        var body = parameters
        body["_method"] = "GET"
        return Request(method: "POST", path: "/aggregate/Game", body: .object(body), isMaster: true)
    }

    private static func inAddresses(_ path: String) -> [(String, Request)] {
        [
            ("class", Request(method: "GET", path: "/classes/\(path)")),
            ("class of the master", Request(method: "GET", path: "/classes/\(path)", isMaster: true)),
            ("new class", Request(method: "POST", path: "/classes/\(path)", body: ["n": 1])),
            ("id", Request(method: "GET", path: "/classes/Game/\(path)")),
            ("id to change", Request(method: "PUT", path: "/classes/Game/\(path)", body: ["n": 1])),
            ("id to delete", Request(method: "DELETE", path: "/classes/Game/\(path)")),
            ("schema", Request(method: "GET", path: "/schemas/\(path)", isMaster: true)),
            ("schema to delete", Request(method: "DELETE", path: "/schemas/\(path)", isMaster: true)),
            ("class to purge", Request(method: "DELETE", path: "/purge/\(path)", isMaster: true)),
            ("class to sum up", Request(method: "GET", path: "/aggregate/\(path)", isMaster: true)),
            ("file", Request(method: "GET", path: "/files/app/\(path)")),
            ("new file", Request(method: "POST", path: "/files/\(path)", body: "x")),
            ("user", Request(method: "GET", path: "/users/\(path)")),
            ("role", Request(method: "GET", path: "/roles/\(path)")),
        ]
    }

    private static func inBodies(_ text: String, _ value: JSONValue, _ id: String) -> [(String, Request)] {
        let created: [JSONObject] = [
            ["n": 1, text: 1], ["o": [text: 1]], ["s": value], ["a": [value, ["k": value]]],
            ["ACL": [text: ["read": true]]], ["objectId": value], ["p": .pointer("Game", text)],
            ["q": .pointer(text, "x")], ["f": ["__type": "File", "name": value]],
            ["d": ["__type": "Date", "iso": value]], ["b": ["__type": "Bytes", "base64": value]],
            ["t": ["__type": value]], ["t": ["__op": value]],
        ]
        let changed: [JSONObject] = [
            ["o." + text: 1], ["o." + text: .increment(1)], ["o." + text: ["__op": "Delete"]],
            ["a": .operation("AddUnique", [value])], ["a": .operation("Remove", [value])],
            ["fans": .operation("AddRelation", [.pointer("Game", text)])],
            ["fans": .operation("AddRelation", [.pointer(text, "x")])],
        ]
        return created.map { ("\($0)", Request(method: "POST", path: "/classes/Things", body: .object($0))) }
            + changed.map {
                ("\($0)", Request(method: "PUT", path: "/classes/Game/\(id)", body: .object($0)))
            }
            + [
                ("role", Request(method: "POST", path: "/roles", body: ["name": value, "ACL": [:]])),
                (
                    "log-in",
                    Request(method: "POST", path: "/login", body: ["username": value, "password": value])
                ),
                (
                    "batch",
                    Request(
                        method: "POST",
                        path: "/batch",
                        body: [
                            "requests": [
                                ["method": "GET", "path": .string("/parse/classes/\(text)/\(text)")]
                            ]
                        ]
                    )
                ),
                (
                    "config",
                    Request(method: "PUT", path: "/config", body: ["params": [text: value]], isMaster: true)
                ),
            ]
    }

    private static func inSchemas(_ text: String, _ value: JSONValue) -> [(String, Request)] {
        let changes: [JSONObject] = [
            ["fields": [text: ["type": "String"]]], ["fields": ["zz": ["type": value]]],
            ["fields": ["zz": ["type": "Pointer", "targetClass": value]]],
            ["fields": [text: ["__op": "Delete"]]], ["indexes": [text: ["n": 1]]],
            ["indexes": ["byText": [text: 1]]], ["indexes": ["byKind": ["n": value]]],
            ["classLevelPermissions": ["find": ["*": true, text: true], "get": ["*": true]]],
        ]
        return changes.map {
            ("\($0)", Request(method: "PUT", path: "/schemas/Things", body: .object($0), isMaster: true))
        } + [
            (
                "new schema",
                Request(method: "POST", path: "/schemas", body: ["className": value], isMaster: true)
            )
        ]
    }

    private static func filters(_ text: String, _ value: JSONValue) -> [(String, JSONValue)] {
        [
            ("key", [text: 1]), ("path", ["o." + text: 1]), ("text", ["s": value]), ("element", ["a": value]),
            ("inside", ["o.k": value]), ("id", ["objectId": value]), ("$in", ["s": ["$in": [value]]]),
            ("$regex", ["s": ["$regex": value]]), ("$regex in arrays", ["a": ["$regex": value]]),
            ("prefix", ["s": ["$regex": .string("^\\Q\(text)\\E")]]),
            ("$options", ["s": ["$regex": "a", "$options": value]]),
            ("operator", ["s": ["$" + text: 1]]), ("$text", ["s": ["$text": ["$search": ["$term": value]]]]),
            ("language", ["s": ["$text": ["$search": ["$term": "a", "$language": value]]]]),
            ("$lt", ["s": ["$lt": value]]),
            ("class", ["p": ["$inQuery": ["className": value, "where": [:]]]]),
            ("$select", ["s": ["$select": ["query": ["className": "Game", "where": [:]], "key": value]]]),
            ("link", ["fans": .pointer("Game", text)]),
            ("owner", ["$relatedTo": ["object": .pointer("Game", text), "key": "fans"]]),
            ("owner's class", ["$relatedTo": ["object": .pointer(text, "x"), "key": "fans"]]),
            ("relation", ["$relatedTo": ["object": .pointer("Game", "x"), "key": value]]),
            ("time", ["createdAt": ["$lt": ["$relativeTime": value]]]),
            ("date", ["createdAt": ["$lt": value]]),
        ]
    }

    private static func stages(_ text: String, _ value: JSONValue) -> [(String, JSONValue)] {
        let field = JSONValue.string("$" + text)
        return [
            ("group", ["$group": ["_id": field]]), ("sum", ["$group": ["_id": nil, text: ["$sum": 1]]]),
            ("accumulator", ["$group": ["_id": nil, "x": ["$" + text: 1]]]),
            ("project", ["$project": [text: 1]]),
            ("sort", ["$sort": [text: 1]]), ("match", ["$match": [text: 1]]),
            ("value", ["$match": ["s": value]]),
            ("unwind", ["$unwind": field]), ("count", ["$count": value]), ("stage", ["$" + text: 1]),
            (
                "look-up",
                ["$lookup": ["from": value, "localField": value, "foreignField": "_id", "as": value]]
            ),
            ("expression", ["$addFields": ["x": ["$concat": [value, field]]]]),
        ]
    }
}
