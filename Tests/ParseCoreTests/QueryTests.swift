import JSON
import ParseCore
import ParseWire
import Testing

@Suite struct WhereDecoderTests {
    private static let schema = ClassSchema(
        className: "C",
        fields: SystemClasses.commonFields + [
            ("s", .string), ("n", .number), ("b", .boolean), ("d", .date), ("p", .pointer("_User")),
            ("a", .array),
            ("o", .object),
        ]
    )

    private func decode(_ json: JSONObject) throws -> Predicate {
        try WhereDecoder(schema: Self.schema).predicate(json)
    }

    private static let day = FieldValue.date(Timestamp(milliseconds: 1_704_067_200_000))

    struct Reading: Sendable, CustomTestStringConvertible {
        let json: JSONObject
        let predicate: Predicate

        init(_ json: JSONObject, _ predicate: Predicate) {
            self.json = json
            self.predicate = predicate
        }

        var testDescription: String { json.description }
    }

    @Test(arguments: [
        Reading([:], .everything),
        Reading(["s": "x"], .equal("s", .string("x"))),
        Reading(["unknown": 1], .equal("unknown", .number(1))),
        Reading(["s": nil], .equal("s", .null)),
        Reading(["s": ["$eq": "x"]], .equal("s", .string("x"))),
        Reading(["s": ["$ne": nil]], .notEqual("s", .null)),
        Reading(["s": ["$in": ["x", nil]]], .among("s", [.string("x"), .null])),
        Reading(
            ["s": ["$in": [["x", "y"], "z"]]],
            .among("s", [.string("x"), .string("y"), .string("z")])
        ),
        Reading(["s": ["$in": []]], .among("s", [])),
        Reading(["s": ["$nin": ["x"]]], .notAmong("s", [.string("x")])),
        Reading(["n": ["$lt": 1]], .compare("n", .less, .number(1))),
        Reading(["n": ["$lte": 1]], .compare("n", .lessOrEqual, .number(1))),
        Reading(["n": ["$gt": 1]], .compare("n", .greater, .number(1))),
        Reading(
            ["n": ["$gte": 1, "$lt": 3]],
            .all([.compare("n", .greaterOrEqual, .number(1)), .compare("n", .less, .number(3))])
        ),
        Reading(["s": ["$exists": true]], .exists("s", true)),
        Reading(["s": ["$exists": false]], .exists("s", false)),
        Reading(["d": "2024-01-01T00:00:00.000Z"], .equal("d", day)),
        Reading(["createdAt": ["$gt": "2024-01-01"]], .compare("createdAt", .greater, day)),
        Reading(["d": ["__type": "Date", "iso": "2024-01-01T00:00:00.000Z"]], .equal("d", day)),
        Reading(["p": "abc"], .equal("p", .pointer(className: "_User", objectID: "abc"))),
        Reading(
            ["p": ["__type": "Pointer", "className": "_User", "objectId": "abc"]],
            .equal("p", .pointer(className: "_User", objectID: "abc"))
        ),
        Reading(["s": "x", "n": 1], .all([.equal("s", .string("x")), .equal("n", .number(1))])),
        Reading(
            ["$or": [["s": "x"], ["n": 1]]],
            .any([.equal("s", .string("x")), .equal("n", .number(1))])
        ),
        Reading(["$and": [["s": "x"]]], .all([.equal("s", .string("x"))])),
        Reading(["$nor": [["s": "x"]]], .none([.equal("s", .string("x"))])),
        Reading(["$or": []], .any([])),
        Reading(["$and": []], .any([])),
        Reading(["$or": [[:]]], .any([.everything])),
    ])
    func `a filter has one meaning`(_ reading: Reading) throws {
        #expect(try decode(reading.json) == reading.predicate)
    }

    @Test(arguments: [
        "$regex", "$options", "$text", "$all", "$containedBy", "$nearSphere", "$maxDistance",
        "$maxDistanceInMiles",
        "$maxDistanceInKilometers", "$maxDistanceInRadians", "$within", "$geoWithin", "$geoIntersects",
        "$inQuery",
        "$notInQuery", "$select", "$dontSelect", "$relatedTo",
    ])
    func `an operator that is not there yet says so`(_ name: String) {
        expectRefusalNow(.commandUnavailable, "The \(name) operator is not supported yet.") {
            _ = try decode(["s": [name: "x"]])
        }
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let json: JSONObject
        let code: ParseErrorCode
        let message: String

        init(_ json: JSONObject, _ code: ParseErrorCode, _ message: String) {
            self.json = json
            self.code = code
            self.message = message
        }

        var testDescription: String { json.description }
    }

    @Test(arguments: [
        Refused(["ACL": [:]], .invalidQuery, "Cannot query on ACL."),
        Refused(["$or": [["ACL": 1]]], .invalidQuery, "Cannot query on ACL."),
        Refused(["_hashed_password": "x"], .invalidKeyName, "Invalid key name: _hashed_password"),
        Refused(["_rperm": "x"], .invalidKeyName, "Invalid key name: _rperm"),
        Refused(["$where": "x"], .invalidKeyName, "Invalid key name: $where"),
        Refused(["": "x"], .invalidKeyName, "Invalid key name: "),
        Refused(["a b": "x"], .invalidKeyName, "Invalid key name: a b"),
        Refused(["s": ["$bad": 1]], .invalidJSON, "bad constraint: $bad"),
        Refused(["s": ["$in": 1]], .invalidJSON, "bad $in value"),
        Refused(["s": ["$nin": "x"]], .invalidJSON, "bad $nin value"),
        Refused(["s": ["$exists": 1]], .invalidJSON, "bad $exists value"),
        Refused(["$or": ["s": 1]], .invalidQuery, "$or must be an array"),
        Refused(["$and": 1], .invalidQuery, "$and must be an array"),
        Refused(["$nor": "x"], .invalidQuery, "$nor must be an array"),
        Refused(["$nor": []], .invalidQuery, "Bad $nor format - use an array of at least 1 value."),
        Refused(["$or": [1]], .invalidQuery, "$or must be an array of objects"),
        Refused(["a.b": 1], .commandUnavailable, "Queries on a part of a field are not supported yet."),
        Refused(["s": ["__op": "Delete"]], .invalidJSON, "bad value for s"),
    ])
    func `a filter that means nothing is refused`(_ refused: Refused) {
        expectRefusalNow(refused.code, refused.message) { _ = try decode(refused.json) }
    }

    private func nested(_ depth: Int) -> JSONObject {
        (0..<depth).reduce(["s": "x"]) { inner, _ in ["$or": [.object(inner)]] }
    }

    @Test func `groups may stand in each other 16 deep and not more`() throws {
        _ = try decode(nested(16))
        expectRefusalNow(.invalidQuery, "The query is nested more than 16 levels deep.") {
            _ = try decode(nested(17))
        }
    }

    @Test func `a query may have 2000 conditions and not more`() throws {
        func filter(_ count: Int) -> JSONObject {
            ["$or": .array((0..<count - 1).map { ["s": .string("x\($0)")] })]
        }
        _ = try decode(filter(2000))
        expectRefusalNow(.invalidQuery, "The query has more than 2000 conditions.") {
            _ = try decode(filter(2001))
        }
    }

    @Test func `a list for an array field counts as so many conditions, one for text does not`() throws {
        let list = JSONValue.array((0..<2000).map { .string("x\($0)") })
        _ = try decode(["s": ["$in": list]])
        // Texts and numbers are searched together; anything else is a look through the array for each.
        _ = try decode(["a": ["$in": list]])
        expectRefusalNow(.invalidQuery, "The query has more than 2000 conditions.") {
            _ = try decode(["a": ["$in": .array([JSONValue](repeating: true, count: 50))]])
        }
        expectRefusalNow(.invalidQuery, "The query has more than 2000 conditions.") {
            _ = try decode(["$or": .array([JSONValue](repeating: ["a": "x"], count: 50))])
        }
    }

    @Test func `all paths of a filter are found, however deep`() {
        let filter: JSONObject = ["s": 1, "$or": [["email": 1], ["$and": [["$nor": [["authData.x": 1]]]]]]]
        #expect(WhereDecoder.fields(of: filter) == ["s", "email", "authData.x"])
    }
}

@Suite struct FindOptionsTests {
    private func options(_ json: JSONObject, by principal: Principal = .nobody) throws -> FindOptions {
        try FindOptions(json, by: principal)
    }

    @Test func `the defaults are a hundred rows from the first on`() throws {
        let query = try options([:]).query(of: "C", nil, access: .unrestricted)
        #expect(query.limit == 100)
        #expect(query.skip == 0)
        #expect(query.order.isEmpty)
        #expect(query.predicate == .everything)
    }

    @Test(arguments: [
        ("a", ["a"], [false]), ("-a", ["a"], [true]), ("a,-b", ["a", "b"], [false, true]),
        (" a , -b", ["a", "b"], [false, true]),
        ("_created_at", ["createdAt"], [false]), ("-_updated_at", ["updatedAt"], [true]),
        ("a.b", ["a.b"], [false]),
        ("", [], []), ("a,a,-a", ["a"], [false]),
    ])
    func `an order is a list of names`(_ text: String, _ fields: [String], _ descending: [Bool]) throws {
        let order = try options(["order": .string(text)]).order
        #expect(order.map(\.field) == fields)
        #expect(order.map(\.isDescending) == descending)
    }

    @Test(arguments: ["_hashed_password", "a;b", "$x", "--a", "\"a"])
    func `an order by what cannot be a field is refused`(_ name: String) {
        expectRefusalNow(
            .invalidKeyName,
            "Invalid field name: \(name.hasPrefix("-") ? String(name.dropFirst()) : name)."
        ) {
            _ = try options(["order": .string(name)])
        }
    }

    @Test(
        arguments: [
            (["limit": 0], 0, 0), (["limit": "7"], 7, 0), (["limit": 3, "skip": 2], 3, 2),
            (["limit": nil], 100, 0),
            (["limit": 10_000], 10_000, 0), (["limit": 10_001], 10_000, 0),
            (["limit": 9_007_199_254_740_991], 10_000, 0),
        ] as [(JSONObject, Int, Int)]
    )
    func `limit and skip are whole numbers`(_ json: JSONObject, _ limit: Int, _ skip: Int) throws {
        let query = try options(json).query(of: "C", nil, access: .unrestricted)
        #expect(query.limit == limit)
        #expect(query.skip == skip)
    }

    @Test(arguments: [-1, 1.5, "x", 1e300, true, [1], 9_007_199_254_740_992, "nan", "inf"] as [JSONValue])
    func `other values of limit and skip are refused`(_ value: JSONValue) {
        for name in ["limit", "skip"] {
            expectRefusalNow(.invalidQuery, "Invalid value for \(name): a whole number from 0 on is needed.")
            {
                _ = try options([name: value])
            }
        }
    }

    @Test(arguments: ["{", "[]", "1", "text"] as [JSONValue] + [1, [1], true])
    func `a where that is no JSON object is refused with 107`(_ value: JSONValue) {
        expectRefusalNow(.invalidJSON, "where parameter is not valid JSON") {
            _ = try options(["where": value])
        }
    }

    @Test func `where comes as JSON or as its text`() throws {
        for value: JSONValue in [#"{"objectId":"x"}"#, ["objectId": "x"]] {
            let options = try options(["where": value])
            #expect(options.whereID == "x")
            #expect(options.whereFields == ["objectId"])
        }
        #expect(try options(["where": ["objectId": ["$ne": "x"]]]).whereID == nil)
        #expect(try options(["where": ["$or": [["objectId": "x"]]]]).whereID == nil)
    }

    @Test(
        arguments: [
            ("foo", 1, "Invalid parameter for query: foo"),
            ("_SessionToken", "r:x", "Invalid parameter for query: _SessionToken"),
            ("readPreference", "NOWHERE", "Not supported read preference."),
            ("subqueryReadPreference", 1, "Not supported read preference."),
            ("explain", true, "Using the explain query parameter requires the master key"),
        ] as [(String, JSONValue, String)]
    )
    func `a parameter that is unknown or not for clients is refused with 102`(
        _ name: String,
        _ value: JSONValue,
        _ message: String
    ) {
        expectRefusalNow(.invalidQuery, message) { _ = try options([name: value]) }
    }

    @Test func `what is not there yet says so`() {
        expectRefusalNow(.commandUnavailable, "The explain parameter is not supported yet.") {
            _ = try options(["explain": true], by: .master)
        }
        expectRefusalNow(.commandUnavailable, "The redirectClassNameForKey parameter is not supported yet.") {
            _ = try options(["redirectClassNameForKey": "x"])
        }
        #expect(throws: Never.self) {
            try options(["readPreference": "nearest", "explain": false, "hint": "x"])
        }
    }

    @Test func `a projection keeps the common fields`() throws {
        let object: JSONObject = [
            "objectId": "x", "createdAt": "c", "updatedAt": "u", "a": 1, "b": 2, "ACL": [:],
        ]
        let shown = { (json: JSONObject) in
            ObjectView.projected(object, try Selection(json).projection).keys
        }
        #expect(try shown([:]) == ["objectId", "createdAt", "updatedAt", "a", "b", "ACL"])
        #expect(try shown(["keys": "a.x"]) == ["objectId", "createdAt", "updatedAt", "a", "ACL"])
        #expect(try shown(["keys": ["b"]]) == ["objectId", "createdAt", "updatedAt", "b", "ACL"])
        #expect(
            try shown(["excludeKeys": "a, objectId"]) == ["objectId", "createdAt", "updatedAt", "b", "ACL"]
        )
        #expect(
            try shown(["keys": "a,b", "excludeKeys": "b"]) == [
                "objectId", "createdAt", "updatedAt", "a", "ACL",
            ]
        )
    }

    @Test func `reading one object takes fewer parameters`() {
        #expect(throws: Never.self) { try GetOptions.selection(["keys": "a", "include": "b"]) }
        expectRefusalNow(.invalidQuery, "Improper encode of parameter") {
            _ = try GetOptions.selection(["where": [:]])
        }
    }
}
