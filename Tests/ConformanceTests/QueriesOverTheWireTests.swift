import JSON
import TestSupport
import Testing

/// What queries find, by what is stored and what is asked (Parse REST guide, "Queries").
@Suite(.serialized)
struct QueriesOverTheWireTests {
    /// What a field of an object may hold; the name tells how it stands to the text `v`.
    private static let states: [(name: String, value: JSONValue?)] = [
        ("absent", nil), ("null", JSONValue.null), ("equal", "v"), ("other", "w"), ("with", ["v", "x"]),
        ("only", ["v"]), ("without", ["w"]), ("empty", []),
    ]

    private static let equals: Set<String> = ["equal", "with", "only"]
    private static let nothing: Set<String> = ["absent", "null"]
    private static let different: Set<String> = ["absent", "null", "other", "without", "empty"]
    private static let present: Set<String> = ["equal", "other", "with", "only", "without", "empty"]

    private static let table: [(constraint: JSONValue, found: Set<String>)] = [
        ("v", equals), (["$eq": "v"], equals), (["$in": ["v"]], equals), (["$in": ["v", "v", "z"]], equals),
        (["$in": []], []), (nil, nothing), (["$eq": nil], nothing), (["$in": [nil]], nothing),
        (["$in": [nil, "v"]], nothing.union(equals)), (["$ne": "v"], different), (["$nin": ["v"]], different),
        (["$nin": []], present.union(nothing)), (["$ne": nil], present), (["$nin": [nil]], present),
        (["$exists": true], present.union(["null"])), (["$exists": false], ["absent"]),
        (["$lt": "w"], equals), (["$lte": "v"], equals), (["$gt": "v"], ["other", "without", "with"]),
        (["$gte": "x"], ["with"]), (["$lt": 5], []), (["$gt": 5], []), (["$ne": 5], present.union(nothing)),
        (["$all": ["v"]], equals), (["$all": ["v", "x"]], ["with"]), (["$all": []], []),
        (["$containedBy": ["v"]], ["absent", "null", "equal", "other", "only", "empty"]),
        (["$regex": "^v"], equals), (["$regex": "V", "$options": "i"], equals),
        (["$regex": "^\\Qv\\E"], equals),
        (["$gte": "v", "$lt": "w"], equals),
        (["$exists": true, "$ne": "v"], ["null", "other", "without", "empty"]),
    ]

    /// The same truth for a field of an object, which may hold anything, and for fields of one type.
    @Test(
        arguments: [
            ("o.f", ["absent", "null", "equal", "other", "with", "only", "without", "empty"]),
            ("s", ["absent", "null", "equal", "other"]),
            ("a", ["absent", "null", "with", "only", "without", "empty"]),
        ] as [(String, Set<String>)]
    )
    func `a constraint finds what the table says`(field: String, possible: Set<String>) async throws {
        let server = try await TestServer.startOpen()
        let api = server.api
        try await api.defineClass(
            "Row",
            [
                "name": ["type": "String"], "s": ["type": "String"], "a": ["type": "Array"],
                "o": ["type": "Object"],
            ]
        )
        for (name, value) in Self.states where possible.contains(name) {
            var body: JSONObject = ["name": .string(name)]
            if field == "o.f" {
                body["o"] = value.map { ["f": $0] } ?? [:]
            } else if let value {
                body[field] = value
            }
            try await api.create("Row", body)
        }
        for (constraint, all) in Self.table {
            let found = all.intersection(possible)
            let filter = JSONValue.object([field: constraint])
            #expect(try await api.names("Row", where: filter) == found, "\(filter)")
            #expect(try await api.names("Row", where: filter, asMaster: true) == found, "\(filter)")
            #expect(try await api.names("Row", where: ["$or": [filter]]) == found, "\(filter)")
            #expect(
                try await api.names("Row", where: ["$and": [filter, ["name": ["$exists": true]]]]) == found
            )
            let none = try await api.names("Row", where: ["$nor": [filter]])
            #expect(none == possible.subtracting(found), "not \(filter)")
            let counted = try await api.find("Row", ["where": filter, "count": 1, "limit": 0])
            #expect(counted["count"] == .number(Double(found.count)), "\(filter)")
            #expect(counted["results"] == [])
        }
        await server.stop()
    }

    @Test func `numbers compare by value and with numbers alone`() async throws {
        let server = try await TestServer.startOpen()
        for (name, value) in [
            ("one", 1), ("two", 2), ("text", "1"), ("yes", true), ("list", [1, 5]), ("texts", ["1"]),
        ] as [(String, JSONValue)] {
            try await server.api.create("Row", ["name": .string(name), "o": ["f": value]])
        }
        for (constraint, found) in [
            (1, ["one", "list"]), (true, ["yes"]), ("1", ["text", "texts"]), (["$gt": 1], ["two", "list"]),
            (["$gt": "0"], ["text", "texts"]), (["$lt": 2], ["one", "list"]),
            (["$in": [1, true]], ["one", "yes", "list"]),
            (["$nin": [1, "1"]], ["two", "yes"]), (["$lte": true], ["yes"]),
        ] as [(JSONValue, Set<String>)] {
            let names = try await server.api.names("Row", where: ["o.f": constraint])
            #expect(names == found, "\(constraint)")
        }
        await server.stop()
    }

    @Test func `a path leads through objects and through arrays of them`() async throws {
        let server = try await TestServer.startOpen()
        for (name, value) in [
            ("deep", ["a": ["b": ["c": 1]]]), ("list", ["a": [["b": ["c": 1]], ["b": ["c": 2]]]]),
            ("index", ["a": ["x", ["b": 7]]]), ("none", [:]),
        ] as [(String, JSONValue)] {
            try await server.api.create("Row", ["name": .string(name), "o": value])
        }
        for (filter, found) in [
            (["o.a.b.c": 1], ["deep", "list"]), (["o.a.b.c": 2], ["list"]),
            (["o.a.b.c": ["$ne": 2]], ["deep", "index", "none"]), (["o.a.b.c": ["$gt": 1]], ["list"]),
            (["o.a.1.b": 7], ["index"]), (["o.a.0": "x"], ["index"]),
            (["o.a.b.c": ["$exists": false]], ["index", "none"]),
            (["o.zz.y": nil], ["deep", "list", "index", "none"]),
        ] as [(JSONValue, Set<String>)] {
            #expect(try await server.api.names("Row", where: filter) == found, "\(filter)")
        }
        await server.stop()
    }

    @Test func `subqueries stand in each other`() async throws {
        let server = try await TestServer.startOpen()
        let api = server.api
        var teams: [String: String] = [:]
        for (city, wins) in [("Rome", 9.0), ("Oslo", 1), ("Bern", 5)] {
            teams[city] = try await api.create(
                "Team",
                ["city": .string(city), "wins": .number(wins), "o": ["city": .string(city)]]
            )
        }
        for (name, city, team) in [
            ("ann", "Rome", "Oslo"), ("bob", "Oslo", "Rome"), ("cat", "Bern", "Bern"), ("dan", "Kiev", nil),
        ] as [(String, String, String?)] {
            var body: JSONObject = ["name": .string(name), "city": .string(city)]
            if let team, let id = teams[team] { body["team"] = .pointer("Team", id) }
            try await api.create("Player", body)
        }
        let bob = try #require(
            try await api.find("Player", ["where": ["name": "bob"]]).results.first?["objectId"]?.stringValue
        )
        try await api.create("Fan", ["name": "fan", "idol": .pointer("Player", bob)])
        let good: JSONValue = ["className": "Team", "where": ["wins": ["$gt": 4]]]
        let selected: JSONValue = ["query": good, "key": "city"]
        let inside: JSONValue = ["query": good, "key": "o.city"]
        let players: JSONValue = [
            "className": "Player", "where": ["city": ["$select": selected], "name": ["$ne": "ann"]],
        ]
        for (className, filter, found) in [
            ("Player", ["team": ["$inQuery": good]], ["bob", "cat"]),
            ("Player", ["team": ["$notInQuery": good]], ["ann", "dan"]),
            ("Player", ["city": ["$select": selected]], ["ann", "cat"]),
            ("Player", ["city": ["$dontSelect": selected]], ["bob", "dan"]),
            ("Player", ["city": ["$select": inside]], ["ann", "cat"]),
            ("Player", ["city": ["$select": ["query": players, "key": "city"]]], ["cat"]),
            ("Player", ["$or": [["team": ["$inQuery": good]], ["name": "dan"]]], ["bob", "cat", "dan"]),
            (
                "Fan",
                ["idol": ["$inQuery": ["className": "Player", "where": ["team": ["$inQuery": good]]]]],
                ["fan"]
            ),
            (
                "Fan",
                ["idol": ["$inQuery": ["className": "Player", "where": ["team": ["$notInQuery": good]]]]], []
            ),
            (
                "Player",
                ["team": ["$inQuery": ["className": "Team", "where": ["wins": ["$gt": 4]], "limit": 1]]],
                ["bob", "cat"]
            ),
            ("Player", ["team": ["$inQuery": ["className": "Nowhere", "where": ["a": 1]]]], []),
        ] as [(String, JSONValue, Set<String>)] {
            #expect(try await api.names(className, where: filter) == found, "\(filter)")
        }
        await server.stop()
    }

    @Test func `a find may be redirected, explained and counted`() async throws {
        let server = try await TestServer.startOpen()
        let api = server.api
        let team = try await api.create("Team", ["city": "Rome"])
        for number in 0..<25 {
            try await api.create("Player", ["n": .number(Double(number)), "team": .pointer("Team", team)])
        }
        let redirected = try await api.find("Player", ["redirectClassNameForKey": "team"])
        #expect(redirected.results.map { $0["city"] } == ["Rome"])
        #expect(redirected.results.map { $0["className"] } == ["Team"])
        let refusal = "400/102 Using the explain query parameter requires the master key"
        #expect(try await api.find("Player", ["explain": true]).refusal == refusal)
        #expect(
            try await api.find("Player", ["explain": "all"], asMaster: true).refusal
                == "400/102 Invalid value for explain"
        )
        let plan = try await api.find(
            "Player",
            ["explain": "queryPlanner", "where": ["n": 3]],
            asMaster: true
        )
        #expect(plan.status == 200)
        #expect(plan["results"] != nil && plan["results"] != [])
        let page = try await api.find(
            "Player",
            ["where": ["n": ["$gte": 5]], "count": 1, "limit": 3, "skip": 4, "order": "-n"]
        )
        #expect(page["count"] == 20)
        #expect(page.results.map { $0["n"] } == [20, 19, 18])
        #expect(try await api.find("Player", ["count": 1, "limit": 0])["count"] == 25)
        #expect(try await api.find("Player", ["count": 1, "skip": 1000])["count"] == 25)
        #expect(try await api.find("Player", ["count": 0])["count"] == nil)
        await server.stop()
    }
}
