import JSON
import Locking
import TestSupport
import Testing

/// Queries that are meant to cost much: each is answered within bounds, and keeps nobody else waiting.
@Suite(.serialized)
struct HostileQueryTests {
    /// What a case may be answered.
    enum Answer: Equatable {
        /// The rows with these numbers, or as many.
        case count(Int)
        /// 400 with this code.
        case code(Int)
        /// 400 without a code: the body is no JSON that is read.
        case malformed
        /// Rows, or 400 with a code: databases differ in what they can do.
        case bounded
        /// 500 with code 1, as Parse answers what is no regular expression and no place on earth.
        case invalid
    }

    struct Case: Sendable {
        let name: String
        let body: [UInt8]
        let answer: Answer
        var isMaster = false
        var path = "/classes/Game"

        init(_ name: String, _ parameters: JSONObject, _ answer: Answer, isMaster: Bool = false) {
            var parameters = parameters
            parameters["_method"] = "GET"
            self.init(name, text: JSONValue.object(parameters).serializedString(), answer)
            self.isMaster = isMaster
        }

        init(_ name: String, filter: JSONValue, _ answer: Answer) {
            self.init(name, ["where": filter], answer)
        }

        init(_ name: String, stages: [JSONValue], _ answer: Answer) {
            self.init(name, ["pipeline": .array(stages)], answer, isMaster: true)
            path = "/aggregate/Game"
        }

        init(_ name: String, text: String, _ answer: Answer) {
            self.name = name
            body = Array(text.utf8)
            self.answer = answer
        }
    }

    static let rowCount = 30

    @Test func `queries that cost much are bounded and keep nobody waiting`() async throws {
        let server = try await TestServer.startOpen()
        let ids = try await Self.fill(server)
        let isOver = Locked(false)
        let slowest = Locked((time: Duration.zero, during: ""))
        let now = Locked("")
        async let reads: Void = {
            let reader = server.connect()
            while !isOver.withLock({ $0 }) {
                let began = ContinuousClock.now
                let reply = try await reader.get("Game", ids[0])
                #expect(reply.status == 200)
                let time = began.duration(to: .now)
                let name = now.withLock { $0 }
                slowest.withLock { if $0.time < time { $0 = (time, name) } }
                try await Task.sleep(for: .milliseconds(5))
            }
        }()
        for hostile in Self.cases {
            now.withLock { $0 = hostile.name }
            let began = ContinuousClock.now
            let reply = try await server.api.send(
                "POST",
                hostile.path,
                body: hostile.body,
                headers: [("Content-Type", "application/json")]
                    + (hostile.isMaster ? [("X-Parse-Master-Key", "master")] : [])
            )
            let time = began.duration(to: .now)
            #expect(
                Self.fits(reply, hostile.answer),
                "\(hostile.name): \(reply.status) \(reply.text.prefix(300))"
            )
            #expect(time < .seconds(15), "\(hostile.name) took \(time)")
            let memory = server.residentBytesAtMost ?? 0
            #expect(memory < 400 << 20, "\(memory >> 20) MiB after \(hostile.name)")
        }
        isOver.withLock { $0 = true }
        try await reads
        let worst = slowest.withLock { $0 }
        #expect(worst.time < .seconds(2), "\(worst.during) kept a read waiting for \(worst.time)")
        await server.stop()
    }

    private static func fits(_ reply: HTTPReply, _ answer: Answer) -> Bool {
        switch answer {
        case .count(let count): reply.status == 200 && reply.results.count == count
        case .code(let code): reply.status == 400 && reply.code == code && reply.error?.isEmpty == false
        case .malformed: reply.status == 400 && reply.code == nil && reply.error?.isEmpty == false
        case .bounded:
            reply.status == 200 && reply["results"] != nil || (reply.status == 400 && reply.code != nil)
        case .invalid: reply.status == 500 && reply.code == 1 && reply.error != "Internal server error."
        }
    }

    private static func fill(_ server: TestServer) async throws -> [String] {
        let api = server.api
        try await api.defineClass(
            "Game",
            [
                "n": ["type": "Number"], "s": ["type": "String"], "a": ["type": "Array"],
                "o": ["type": "Object"], "next": ["type": "Pointer", "targetClass": "Game"],
                "at": ["type": "GeoPoint"], "area": ["type": "Polygon"],
                "fans": ["type": "Relation", "targetClass": "Game"],
            ]
        )
        let slow = String(repeating: "a", count: 40) + "!"
        let requests = (0..<rowCount).map { number -> JSONValue in
            let value = JSONValue.number(Double(number))
            return [
                "method": "POST", "path": "/parse/classes/Game",
                "body": [
                    "n": value, "s": .string(slow), "a": [.string(slow), "b", value], "o": ["k": value],
                    "at": .geoPoint(value, value),
                    "area": ["__type": "Polygon", "coordinates": [[0, 0], [0, 10], [10, 10]]],
                ],
            ]
        }
        let reply = try await api.call("POST", "/batch", ["requests": .array(requests)])
        let ids = (reply.json?.arrayValue ?? []).compactMap { $0["success"]?["objectId"]?.stringValue }
        guard ids.count == rowCount else { throw Unexpected(reply) }
        // A ring of three, so that whoever follows pointers never comes to an end.
        let links = ids.enumerated().map { number, id -> JSONValue in
            [
                "method": "PUT", "path": .string("/parse/classes/Game/\(id)"),
                "body": [
                    "next": .pointer("Game", ids[(number + 1) % 3]),
                    "fans": .operation("AddRelation", [.pointer("Game", ids[0])]),
                ],
            ]
        }
        try await api.call("POST", "/batch", ["requests": .array(links)])
        return ids
    }

    static let cases: [Case] =
        nesting + lists + groups + subqueries + numbers + patterns + names + places + texts + aggregates

    private static func nested(_ opening: String, _ inner: String, _ closing: String, _ depth: Int) -> String
    {
        String(repeating: opening, count: depth) + inner + String(repeating: closing, count: depth)
    }

    private static let nesting: [Case] = {
        let deep = nested(#"{"$or":["#, #"{"n":1}"#, "]}", 10_000)
        func filter(_ group: String, _ depth: Int) -> JSONValue {
            (0..<depth).reduce(["n": 1] as JSONValue) { inner, _ in .object([group: [inner]]) }
        }
        return [
            Case("10,000 levels", text: #"{"_method":"GET","where":\#(deep)}"#, .malformed),
            Case("10,000 levels as text", ["where": .string(deep)], .code(107)),
            Case("10,000 arrays in a value", text: #"{"n":\#(nested("[", "", "]", 10_000))}"#, .malformed),
            Case("16 levels of $or", filter: filter("$or", 16), .count(1)),
            Case("17 levels of $or", filter: filter("$or", 17), .code(102)),
            Case("16 levels of $nor", filter: filter("$nor", 16), .count(1)),
            Case("17 levels of $and", filter: filter("$and", 17), .code(102)),
        ]
    }()

    private static func list(_ count: Int, _ value: (Int) -> JSONValue) -> JSONValue {
        .array((0..<count).map(value))
    }

    private static let lists: [Case] = {
        let texts = list(90_000) { .string("x\(100_000 + $0)") }
        let numbers = list(150_000) { .number(Double($0)) }
        func case_(_ name: String, _ field: String, _ operator: String, _ value: JSONValue, _ answer: Answer)
            -> Case
        {
            Case(name, filter: .object([field: .object([`operator`: value])]), answer)
        }
        return [
            case_("1 MB of texts", "s", "$in", texts, .count(0)),
            case_("1 MB of texts left out", "s", "$nin", texts, .count(rowCount)),
            case_("1 MB of numbers", "n", "$in", numbers, .count(rowCount)),
            case_("1 MB of numbers in arrays", "a", "$in", numbers, .count(rowCount)),
            case_("1 MB of numbers in objects", "o.k", "$in", numbers, .count(rowCount)),
            case_("1 MB of ids", "objectId", "$in", texts, .count(0)),
            case_("1 MB of texts, all of them", "a", "$all", texts, .code(102)),
            case_("1 MB of texts around arrays", "a", "$containedBy", texts, .count(0)),
            case_("objects in arrays", "a", "$in", list(20_000) { ["q": .number(Double($0))] }, .code(102)),
            case_("links", "fans", "$in", list(20_000) { .pointer("Game", "x\($0)") }, .code(102)),
            case_("a field that is not there", "zz", "$in", numbers, .count(0)),
        ]
    }()

    private static let groups: [Case] = [
        Case("10,000 alternatives", filter: ["$or": list(10_000) { ["n": .number(Double($0))] }], .code(102)),
        Case(
            "1,990 alternatives",
            filter: ["$or": list(1990) { ["n": .number(Double($0))] }],
            .count(rowCount)
        ),
        Case(
            "1,990 conditions on what is inside",
            filter: ["$and": list(1990) { ["o.k": ["$gt": .number(Double(-1 - $0))]] }],
            .count(rowCount)
        ),
    ]

    /// A subquery on the pointer of each row.
    private static func inQuery(_ filter: JSONValue) -> JSONValue {
        ["next": ["$inQuery": ["className": "Game", "where": filter]]]
    }

    private static func tree(_ depth: Int, _ width: Int, _ prefix: Int = 0) -> JSONValue {
        guard depth > 0 else { return ["n": .number(Double(prefix))] }
        return ["$or": list(width) { inQuery(tree(depth - 1, width, prefix * width + $0)) }]
    }

    private static let subqueries: [Case] = [
        Case(
            "eight subqueries in each other",
            filter: (0..<8).reduce(["n": ["$gte": 0]]) { inner, _ in inQuery(inner) },
            .count(rowCount)
        ),
        Case(
            "nine subqueries in each other",
            filter: (0..<9).reduce(["n": 1]) { inner, _ in inQuery(inner) },
            .code(102)
        ),
        Case("50 subqueries", filter: tree(1, 50), .count(rowCount)),
        Case("51 subqueries", filter: tree(1, 51), .code(102)),
        Case("subqueries that branch", filter: tree(3, 30), .code(102)),
        Case("subqueries that branch deep", filter: tree(6, 3), .code(102)),
        Case(
            "50 subqueries of 1,900 alternatives",
            filter: [
                "$or": list(50) { number in
                    inQuery(["$or": list(1900) { ["n": .number(Double(number * 1900 + $0))] }])
                }
            ],
            .code(102)
        ),
    ]

    private static let numbers: [Case] = [
        Case("a limit of a thousand million", ["limit": 1_000_000_000], .count(rowCount)),
        Case("the same for the master", ["limit": 1_000_000_000], .count(rowCount), isMaster: true),
        Case("a negative limit", ["limit": -1], .code(102)),
        Case("half a limit", ["limit": 1.5], .code(102)),
        Case("a limit beyond all whole numbers", ["limit": 1e300], .code(102)),
        Case("a limit that is a text", ["limit": "1; DROP TABLE x"], .code(102)),
        Case("skip nearly everything", ["skip": 9e15], .count(0)),
        Case("skip and limit at the end", ["skip": 9e15, "limit": 9e15], .count(0), isMaster: true),
        Case("skip beyond all whole numbers", ["skip": 1e16], .code(102)),
        Case("a negative skip", ["skip": -1], .code(102)),
        Case("a number beyond all numbers", text: #"{"_method":"GET","where":{"n":1e999}}"#, .code(111)),
    ]

    private static let patterns: [Case] = {
        let hostile = [
            "(a+)+$", "(a|aa)+$", #"\Qabc"#, "(?R)", "(a{1000}){1000}", "a{65535}",
            "(?:(?:a{0,100}){0,100}){0,100}", "(*LIMIT_MATCH=1)a", "(?C1)a", "(.*)(.*)(.*)(.*)(.*)(.*)x",
            String(repeating: "(", count: 500) + String(repeating: ")", count: 500),
            String(repeating: "a", count: 8000), "(?s:.)*(?s:.)*(?s:.)*c", "^(([a-z])+.)+[A-Z]([a-z])+$",
        ]
        let invalid = ["(", "[", "a**b(", #"\"#, "(?P<n", "*a"]
        func filter(_ field: String, _ pattern: String) -> JSONValue {
            .object([field: ["$regex": .string(pattern)]])
        }
        var cases: [Case] = []
        for field in ["s", "a"] {
            for text in hostile {
                cases.append(Case("\(text.prefix(40)) on \(field)", filter: filter(field, text), .bounded))
            }
            for text in invalid {
                cases.append(Case("\(text) on \(field)", filter: filter(field, text), .invalid))
            }
        }
        let slow = filter("s", "(a+)+$")
        let long = String(repeating: "a", count: 10_000)
        return cases + [
            Case("a pattern of 10,000 bytes", filter: filter("s", long), .code(102)),
            Case("a pattern with NUL", filter: filter("s", "a\u{0}"), .code(107)),
            Case("unknown options", filter: ["s": ["$regex": "a", "$options": "g"]], .code(102)),
            Case("30 slow patterns", filter: ["$or": list(30) { _ in slow }], .bounded),
            Case("100 patterns", filter: ["$or": list(100) { _ in slow }], .code(102)),
        ]
    }()

    private static let names: [Case] = {
        let many = (0..<100_000).map { "k\($0)" }.joined(separator: ",")
        let long = String(repeating: "k", count: 1_000_000)
        let ring = Array(repeating: "next", count: 1000).joined(separator: ".")
        return [
            Case("100,000 keys", ["keys": .string(many)], .code(102)),
            Case("100,000 keys left out", ["excludeKeys": .string(many)], .code(102)),
            Case("100,000 includes", ["include": .string(many)], .code(102)),
            Case("an order of 100,000 fields", ["order": .string(many)], .code(102)),
            Case("a key of 1 MB", ["keys": .string(long)], .bounded),
            Case("an order of 1 MB", ["order": .string(long)], .bounded),
            Case("an include of 1 MB", ["include": .string(long)], .bounded),
            Case("a field of 1 MB", filter: .object([long: 1]), .bounded),
            Case("keys around a ring", ["keys": .string(ring)], .code(102)),
            Case("includes around a ring", ["include": .string(ring)], .code(102)),
            Case(
                "16 steps around a ring",
                ["include": .string(Array(repeating: "next", count: 16).joined(separator: "."))],
                .count(rowCount)
            ),
            Case(
                "a path of 5,000 parts",
                filter: .object(["o" + String(repeating: ".k", count: 5000): 1]),
                .bounded
            ),
            Case(
                "an order by 5,000 parts",
                ["order": .string("o" + String(repeating: ".k", count: 5000))],
                .bounded
            ),
        ]
    }()

    private static let places: [Case] = noPlaces + noDistances + places(1e308, 91, -1e308)

    /// One point, wherever a filter takes one.
    private static func filters(_ point: JSONValue) -> [(name: String, filter: JSONValue)] {
        let box: JSONValue = ["$box": [point, .geoPoint(1, 1)]]
        let polygon: JSONValue = ["$polygon": [point, .geoPoint(1, 1), .geoPoint(0, 1)]]
        return [
            ("near", ["at": ["$nearSphere": point]]), ("box", ["at": ["$within": box]]),
            ("sphere", ["at": ["$geoWithin": ["$centerSphere": [point, 0.1]]]]),
            ("polygon", ["at": ["$geoWithin": polygon]]),
            ("point", ["area": ["$geoIntersects": ["$point": point]]]),
        ]
    }

    private static let noPlaces: [Case] = {
        let noNumbers: [JSONValue] = ["NaN", nil, [1], true, "1"]
        return noNumbers.flatMap { value -> [Case] in
            filters(.geoPoint(value, 1)).map { Case("\($0.name) \(value)", filter: $0.filter, .code(107)) }
        }
    }()

    private static func places(_ beyond: Double...) -> [Case] {
        beyond.flatMap { value -> [Case] in
            filters(.geoPoint(.number(value), 1)).map {
                Case("\($0.name) \(value)", filter: $0.filter, .invalid)
            }
        }
    }

    private static let noDistances: [Case] = {
        func near(_ distance: JSONValue) -> JSONValue {
            ["at": ["$nearSphere": .geoPoint(1, 1), "$maxDistance": distance]]
        }
        func within(_ radius: JSONValue) -> JSONValue {
            ["at": ["$geoWithin": ["$centerSphere": [.geoPoint(1, 1), radius]]]]
        }
        let values: [JSONValue] = ["NaN", -1, nil, [], "1"]
        let points = list(20_000) { [.number(Double($0 % 180)), .number(Double($0 % 90))] }
        var cases: [Case] = []
        for value in values {
            cases.append(Case("a distance of \(value)", filter: near(value), .code(107)))
            cases.append(Case("a radius of \(value)", filter: within(value), .code(107)))
        }
        cases.append(Case("a distance beyond the earth", filter: near(1e308), .count(rowCount)))
        let noNumber = #"{"_method":"GET","where":{"at":{"$nearSphere":{"latitude":NaN}}}}"#
        cases.append(Case("NaN", text: noNumber, .malformed))
        let polygon: JSONValue = ["at": ["$geoWithin": ["$polygon": points]]]
        cases.append(Case("a polygon of 20,000 points", filter: polygon, .bounded))
        return cases
    }()

    private static let texts: [Case] = [
        String(repeating: "word ", count: 200_000), String(repeating: "a", count: 1_000_000),
        "\"" + String(repeating: "a b ", count: 250_000) + "\"",
    ].map { term in
        Case(
            "1 MB of \(term.prefix(8))",
            filter: ["s": ["$text": ["$search": ["$term": .string(term)]]]],
            .code(102)
        )
    }

    private static let aggregates: [Case] = {
        func again(_ count: Int, _ stages: JSONValue...) -> [JSONValue] {
            Array(repeatElement(stages, count: count).joined())
        }
        let doubled: JSONValue = ["$addFields": ["x": ["$concat": ["$x", "$x"]]]]
        let all: JSONValue = ["$group": ["_id": nil, "x": ["$push": "$$ROOT"]]]
        let copies: JSONValue = ["$addFields": ["y": .array(Array(repeating: "$x", count: 8))]]
        return [
            Case("texts that double", stages: [["$addFields": ["x": "$s"]]] + again(40, doubled), .code(102)),
            Case("documents in each other", stages: again(30, all), .code(102)),
            Case(
                "documents that multiply",
                stages: again(5, all, copies, ["$unwind": "$y"], ["$unwind": "$y"], ["$unwind": "$x"]),
                .code(102)
            ),
            Case(
                "look-ups that multiply",
                stages: again(
                    60,
                    ["$lookup": ["from": "Game", "localField": "_p_next", "foreignField": "_id", "as": "l"]]
                ),
                .bounded
            ),
            Case("5,000 stages", stages: again(5000, ["$match": [:]]), .code(102)),
            Case("a slow pattern", stages: [["$match": ["s": ["$regex": "(a+)+$"]]]], .bounded),
            Case("a limit that is a text", stages: [["$limit": "1; DROP TABLE x"]], .code(102)),
            Case("a negative limit of documents", stages: [["$limit": -1]], .code(102)),
            Case("skip nearly all documents", stages: [["$skip": 9e15]], .count(0)),
            Case(
                "an expression of 100,000 parts",
                stages: [["$project": ["q": ["$concat": list(100_000) { _ in "$s" }]]]],
                .code(102)
            ),
            Case("$out", stages: [["$out": "x"]], .code(102)),
        ]
    }()
}
