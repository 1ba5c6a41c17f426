import JSON
import Locking
import ParseCore
import ParseWire
import Testing

@Suite struct WhereDecoderTests {
    private static let schema = ClassSchema(
        className: "C",
        fields: SystemClasses.commonFields + [
            ("s", .string), ("n", .number), ("b", .boolean), ("d", .date), ("p", .pointer("_User")),
            ("a", .array), ("o", .object), ("r", .relation("_User")), ("g", .geoPoint), ("y", .polygon),
        ]
    )

    private func decode(_ json: JSONObject) throws -> Predicate {
        try WhereDecoder(schema: Self.schema, now: Timestamp(milliseconds: 1_704_067_200_000)).predicate(json)
    }

    private func decodeAsMaster(_ json: JSONObject) throws -> Predicate {
        try WhereDecoder(schema: Self.schema, isMaster: true).predicate(json)
    }

    private static func pointer(_ id: String) -> FieldValue {
        .pointer(className: "_User", objectID: id)
    }

    private static func pointerJSON(_ id: String) -> JSONValue {
        ["__type": "Pointer", "className": "_User", "objectId": .string(id)]
    }

    private static func placeJSON(_ latitude: Double, _ longitude: Double) -> JSONValue {
        ["__type": "GeoPoint", "latitude": .number(latitude), "longitude": .number(longitude)]
    }

    private static let rome = GeoPoint(latitude: 41.9, longitude: 12.5)
    private static let romeJSON = placeJSON(41.9, 12.5)
    private static let triangle = [
        GeoPoint(latitude: 0, longitude: 1), GeoPoint(latitude: 2, longitude: 3),
        GeoPoint(latitude: 4, longitude: 5),
    ]
    private static let square = FieldValue.polygon([[0, 0], [0, 1], [1, 1], [1, 0], [0, 0]])

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

    static let more: [Reading] = [
        Reading(["a.b.0": ["$gt": 1]], .compare("a.b.0", .greater, .number(1))),
        Reading(["o.k": nil], .equal("o.k", .null)),
        Reading(["o": ["$eq": ["k": 1]]], .equal("o", .object(["k": 1]))),
        Reading(["a": ["$eq": [1, 2]]], .equal("a", .array([1, 2]))),
        Reading(["a": ["$ne": [1, 2]]], .notEqual("a", .array([1, 2]))),
        Reading(
            ["o": ["k": 1, "$exists": true]],
            .all([.exists("o", true), .equal("o", .object(["k": 1]))])
        ),
        Reading(["s": ["$regex": "^a"]], .matches("s", TextPattern("^a"))),
        Reading(
            ["s": ["$regex": #"^\Qa.b\E"#, "$options": "im"]],
            .matches("s", TextPattern(#"^\Qa.b\E"#, options: [.ignoresCase, .multiline]))
        ),
        Reading(
            ["s": ["$options": "xsu", "$regex": "a"]],
            .matches("s", TextPattern("a", options: [.extended, .dotMatchesLineEnds]))
        ),
        Reading(
            ["s": ["$options": "i", "$regex": ""]],
            .matches("s", TextPattern("", options: .ignoresCase))
        ),
        Reading(["a": ["$all": ["x", 1]]], .all([.equal("a", .string("x")), .equal("a", .number(1))])),
        Reading(["a": ["$all": []]], .any([])),
        Reading(
            ["a": ["$all": [["$regex": #"^\Qx\E"#], ["$regex": "y", "$options": "i"]]]],
            .all([
                .matches("a", TextPattern(#"^\Qx\E"#)),
                .matches("a", TextPattern("y", options: .ignoresCase)),
            ])
        ),
        Reading(["p": ["$all": ["u"]]], .all([.equal("p", pointer("u"))])),
        Reading(["a": ["$containedBy": ["x", 1]]], .containedBy("a", [.string("x"), .number(1)])),
        Reading(["a": ["$containedBy": []]], .containedBy("a", [])),
        Reading(
            ["s": ["$text": ["$search": ["$term": "coffee"]]]],
            .search("s", TextSearch(term: "coffee"))
        ),
        Reading(
            [
                "s": [
                    "$text": [
                        "$search": [
                            "$term": "x", "$language": "pt", "$caseSensitive": true,
                            "$diacriticSensitive": true,
                        ]
                    ]
                ]
            ],
            .search(
                "s",
                TextSearch(term: "x", language: "pt", isCaseSensitive: true, isDiacriticSensitive: true)
            )
        ),
        Reading(["g": ["$nearSphere": romeJSON]], .near("g", rome, maxRadians: nil)),
        Reading(["g": ["$nearSphere": romeJSON, "$maxDistance": 0.5]], .near("g", rome, maxRadians: 0.5)),
        Reading(
            ["g": ["$maxDistanceInMiles": 3959, "$nearSphere": romeJSON]],
            .near("g", rome, maxRadians: 1)
        ),
        Reading(
            ["g": ["$nearSphere": romeJSON, "$maxDistanceInKilometers": 12742]],
            .near("g", rome, maxRadians: 2)
        ),
        Reading(
            ["g": ["$nearSphere": romeJSON, "$maxDistanceInRadians": 0.1]],
            .near("g", rome, maxRadians: 0.1)
        ),
        Reading(
            ["g": ["$within": ["$box": [placeJSON(1, 2), placeJSON(3, 4)]]]],
            .inside(
                "g",
                .box(
                    southWest: GeoPoint(latitude: 1, longitude: 2),
                    northEast: GeoPoint(latitude: 3, longitude: 4)
                )
            )
        ),
        Reading(
            ["g": ["$geoWithin": ["$polygon": [[1, 0], placeJSON(2, 3), [5, 4]]]]],
            .inside("g", .polygon(triangle))
        ),
        Reading(
            [
                "g": [
                    "$geoWithin": [
                        "$polygon": ["__type": "Polygon", "coordinates": [[1, 0], [3, 2], [5, 4]]]
                    ]
                ]
            ],
            .inside("g", .polygon(triangle))
        ),
        Reading(
            ["g": ["$geoWithin": ["$centerSphere": [[12.5, 41.9], 0.01]]]],
            .near("g", rome, maxRadians: 0.01)
        ),
        Reading(
            ["g": ["$geoWithin": ["$centerSphere": [romeJSON, 0]]]],
            .near("g", rome, maxRadians: 0)
        ),
        Reading(["y": ["$geoIntersects": ["$point": romeJSON]]], .covers("y", rome)),
        Reading(
            ["y": ["__type": "Polygon", "coordinates": [[0, 0], [0, 1], [1, 1], [1, 0]]]],
            .equal("y", square)
        ),
        Reading(
            [
                "y": [
                    "$eq": [
                        "__type": "Polygon", "coordinates": [[0, 0], [0, 1], [1, 1], [1, 0], [0, 0]],
                    ]
                ]
            ],
            .equal("y", square)
        ),
        Reading(
            ["$relatedTo": ["object": pointerJSON("u"), "key": "likes"]],
            .related(ownerClass: "_User", ownerID: "u", field: "likes")
        ),
        Reading(
            ["$or": [["$relatedTo": ["object": pointerJSON("u"), "key": "likes"]], ["s": 1]]],
            .any([.related(ownerClass: "_User", ownerID: "u", field: "likes"), .equal("s", .number(1))])
        ),
        Reading(["r": pointerJSON("u")], .equal("r", pointer("u"))),
        Reading(["r": ["$ne": pointerJSON("u")]], .notEqual("r", pointer("u"))),
        Reading(["r": ["$in": [pointerJSON("u")]]], .among("r", [pointer("u")])),
        Reading(["r": ["$nin": [pointerJSON("u")]]], .notAmong("r", [pointer("u")])),
        Reading(["r": nil], .any([])), Reading(["r": "u"], .any([])),
        Reading(["r": ["$exists": true]], .any([])),
        Reading(["r": ["$ne": nil]], .any([])),
        Reading(
            ["d": ["$lt": ["$relativeTime": "in 1 day"]]],
            .compare("d", .less, .date(Timestamp(milliseconds: 1_704_153_600_000)))
        ),
        Reading(
            ["nothing": ["$gte": ["$relativeTime": "now"]]],
            .compare("nothing", .greaterOrEqual, day)
        ),
    ]

    @Test(arguments: more)
    func `each operator has one meaning`(_ reading: Reading) throws {
        #expect(try decode(reading.json) == reading.predicate)
    }

    @Test func `the nearest come first only where all rows must be near`() throws {
        let near: JSONObject = ["g": ["$nearSphere": Self.romeJSON]]
        let decoder = WhereDecoder(schema: Self.schema)
        #expect(try decoder.meaning(of: near).nearest == RowQuery.Nearest(field: "g", center: Self.rome))
        #expect(try decoder.meaning(of: ["$or": [.object(near)]]).nearest == nil)
        #expect(
            try decoder.meaning(of: ["g": ["$geoWithin": ["$centerSphere": [[1, 2], 3]]]]).nearest == nil
        )
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
        Refused(["s": ["__op": "Delete"]], .invalidJSON, "bad value for s"),
        Refused(["_created_at": 1], .invalidKeyName, "Invalid key name: _created_at"),
        Refused(["_wperm": 1], .invalidKeyName, "Invalid key name: _wperm"),
        Refused(["s": "a\u{0}"], .invalidJSON, "Text cannot contain the character NUL."),
        Refused(["s": ["$in": ["a\u{0}"]]], .invalidJSON, "Text cannot contain the character NUL."),
        Refused(["o": ["k": 1]], .invalidJSON, "You cannot use [object Object] as a query parameter."),
        Refused(["o": [:]], .invalidJSON, "You cannot use [object Object] as a query parameter."),
        Refused(["a": [1, 2]], .invalidJSON, "You cannot use 1,2 as a query parameter."),
        Refused(
            ["a": ["x", nil, true, ["k": 1], [1, 2.5]]],
            .invalidJSON,
            "You cannot use x,,true,[object Object],1,2.5 as a query parameter."
        ),
        Refused(["a": []], .invalidJSON, "You cannot use  as a query parameter."),
        Refused(["n": ["$gt": [1]]], .invalidJSON, "bad atom: [1]"),
        Refused(["n": ["$gt": ["k": 1]]], .invalidJSON, #"bad atom: {"k":1}"#),
        Refused(["a": ["$all": "x"]], .invalidJSON, "bad $all value"),
        Refused(
            ["a": ["$all": [["$regex": "^x"], "y"]]],
            .invalidJSON,
            "All $all values must be of regex type or none: /^x/,y"
        ),
        Refused(["a": ["$containedBy": 1]], .invalidJSON, "bad $containedBy: should be an array"),
        Refused(["s": ["$regex": 1]], .invalidQuery, "$regex value must be a string"),
        Refused(["s": ["$regex": "a", "$options": 1]], .invalidQuery, "$options value must be a string"),
        Refused(["s": ["$regex": "a", "$options": "g"]], .invalidQuery, "Bad $options value for query: g"),
        Refused(["s": ["$regex": "a", "$options": ""]], .invalidQuery, "Bad $options value for query: "),
        Refused(["s": ["$options": "i"]], .invalidQuery, "$options needs a $regex"),
        Refused(
            ["s": ["$regex": "("]],
            .internalServerError,
            "The regular expression is invalid: missing closing parenthesis (at byte 1)."
        ),
        Refused(["s": ["$text": "x"]], .invalidJSON, "bad $text: $search, should be object"),
        Refused(["s": ["$text": ["$search": "x"]]], .invalidJSON, "bad $text: $search, should be object"),
        Refused(["s": ["$text": ["$search": [:]]]], .invalidJSON, "bad $text: $term, should be string"),
        Refused(
            ["s": ["$text": ["$search": ["$term": "x", "$language": 1]]]],
            .invalidJSON,
            "bad $text: $language, should be string"
        ),
        Refused(
            ["s": ["$text": ["$search": ["$term": "x", "$language": "klingon"]]]],
            .invalidJSON,
            "bad $text: $language, should be a language that is known"
        ),
        Refused(
            ["s": ["$text": ["$search": ["$term": "x", "$caseSensitive": "no"]]]],
            .invalidJSON,
            "bad $text: $caseSensitive, should be boolean"
        ),
        Refused(
            ["s": ["$text": ["$search": ["$term": "x", "$diacriticSensitive": 1]]]],
            .invalidJSON,
            "bad $text: $diacriticSensitive, should be boolean"
        ),
        Refused(["g": ["$nearSphere": [1, 2]]], .invalidJSON, "bad $nearSphere value; a GeoPoint is needed"),
        Refused(["g": ["$maxDistance": 1]], .invalidJSON, "$maxDistance needs a $nearSphere"),
        Refused(
            ["g": ["$nearSphere": romeJSON, "$maxDistanceInMiles": -1]],
            .invalidJSON,
            "bad $maxDistanceInMiles value"
        ),
        Refused(
            ["g": ["$nearSphere": placeJSON(91, 0)]],
            .internalServerError,
            "GeoPoint latitude out of bounds: 91 > 90.0."
        ),
        Refused(
            ["g": ["$geoWithin": ["$polygon": [[-181, 0], [1, 1], [2, 2]]]]],
            .internalServerError,
            "GeoPoint longitude out of bounds: -181 < -180.0."
        ),
        Refused(["g": ["$within": ["$box": [romeJSON]]]], .invalidJSON, "malformatted $within arg"),
        Refused(["g": ["$within": 1]], .invalidJSON, "malformatted $within arg"),
        Refused(["g": ["$geoWithin": [:]]], .invalidJSON, "bad $geoWithin value"),
        Refused(
            ["g": ["$geoWithin": ["$polygon": [[1, 1], [2, 2]]]]],
            .invalidJSON,
            "bad $geoWithin value; $polygon should contain at least 3 GeoPoints"
        ),
        Refused(
            ["g": ["$geoWithin": ["$polygon": ["__type": "Polygon", "coordinates": [[1, 1]]]]]],
            .invalidJSON,
            "bad $geoWithin value; Polygon.coordinates should contain at least 3 lon/lat pairs"
        ),
        Refused(
            ["g": ["$geoWithin": ["$polygon": 1]]],
            .invalidJSON,
            "bad $geoWithin value; $polygon should be Polygon object or Array of Parse.GeoPoint's"
        ),
        Refused(
            ["g": ["$geoWithin": ["$polygon": [[1, 1], [2, 2], "x"]]]],
            .invalidJSON,
            "bad $geoWithin value"
        ),
        Refused(
            ["g": ["$geoWithin": ["$centerSphere": [romeJSON]]]],
            .invalidJSON,
            "bad $geoWithin value; $centerSphere should be an array of Parse.GeoPoint and distance"
        ),
        Refused(
            ["g": ["$geoWithin": ["$centerSphere": ["x", 1]]]],
            .invalidJSON,
            "bad $geoWithin value; $centerSphere geo point invalid"
        ),
        Refused(
            ["g": ["$geoWithin": ["$centerSphere": [romeJSON, -1]]]],
            .invalidJSON,
            "bad $geoWithin value; $centerSphere distance invalid"
        ),
        Refused(
            ["y": ["$geoIntersects": ["$point": 1]]],
            .invalidJSON,
            "bad $geoIntersect value; $point should be GeoPoint"
        ),
        Refused(["$relatedTo": 1], .invalidQuery, "improper usage of $relatedTo"),
        Refused(
            ["$relatedTo": ["object": romeJSON, "key": "k"]],
            .invalidQuery,
            "improper usage of $relatedTo"
        ),
        Refused(["s": ["$relatedTo": 1]], .invalidJSON, "bad constraint: $relatedTo"),
        Refused(
            ["d": ["$ne": ["$relativeTime": "now"]]],
            .invalidJSON,
            "$relativeTime can only be used with the $lt, $lte, $gt, and $gte operators"
        ),
        Refused(
            ["s": ["$lt": ["$relativeTime": "now"]]],
            .invalidJSON,
            "$relativeTime can only be used with Date field"
        ),
        Refused(["d": ["$lt": ["$relativeTime": ""]]], .invalidJSON, #"bad atom: {"$relativeTime":""}"#),
        Refused(
            ["d": ["$gte": ["$relativeTime": "tomorrow"]]],
            .invalidJSON,
            "bad $relativeTime ($gte) value. Time should either start with 'in' or end with 'ago'"
        ),
        Refused(
            ["p": ["$inQuery": ["className": "C", "where": [:]]]],
            .commandUnavailable,
            "The $inQuery operator is not supported here."
        ),
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

    @Test func `the master is told of groups in other words`() {
        for (filter, message) in [
            (["$or": 1], "Bad $or format - use an array value."),
            (["$and": [:]], "Bad $and format - use an array value."),
            (["$nor": "x"], "Bad $nor format - use an array of at least 1 value."),
            (["$nor": []], "Bad $nor format - use an array of at least 1 value."),
        ] as [(JSONObject, String)] {
            expectRefusalNow(.invalidQuery, message) { _ = try decodeAsMaster(filter) }
        }
    }

    @Test func `large lists are quick, and a long $or is refused`() throws {
        let list = JSONValue.array((0..<100_000).map { .string("x\($0)") })
        let start = ContinuousClock.now
        let predicate = try decode(["s": ["$in": list]])
        let matcher = try PredicateMatcher(predicate, schema: Self.schema)
        var row = StoredRow(
            objectID: "r",
            createdAt: Timestamp(milliseconds: 0),
            updatedAt: Timestamp(milliseconds: 0)
        )
        row.fields["s"] = .string("x99999")
        for _ in 0..<1000 { #expect(try matcher.matches(row)) }
        #expect(ContinuousClock.now - start < .seconds(10))
        expectRefusalNow(.invalidQuery, "The query has more than 2000 conditions.") {
            _ = try decode(["$or": .array([JSONValue](repeating: ["s": "x"], count: 10_000))])
        }
        expectRefusalNow(.invalidQuery, "The query has more than 2000 conditions.") {
            _ = try decode(["$or": .array([JSONValue](repeating: ["s": ["$regex": "x"]], count: 41))])
        }
    }

    @Test func `without a clock relative times are refused`() {
        expectRefusalNow(.commandUnavailable, "The $relativeTime operator is not supported here.") {
            _ = try decodeAsMaster(["d": ["$lt": ["$relativeTime": "now"]]])
        }
    }

    /// Answers every request with its class, and notes it.
    private struct Resolver: SubqueryResolver {
        let seen = Locked<[SubqueryRequest]>([])

        func subquery(for request: SubqueryRequest) async throws -> Subquery {
            seen.withLock { $0.append(request) }
            guard request.className != "Secret" else { throw ParseError(.operationForbidden, "no") }
            return Subquery(className: request.className, predicate: .everything, access: .unrestricted)
        }
    }

    private static let subquery = Subquery(className: "D", predicate: .everything, access: .unrestricted)
    private static let asked: JSONValue = ["className": "D", "where": ["x": 1]]
    private static let selected: JSONValue = ["query": ["className": "D", "where": ["x": 1]], "key": "k.l"]

    @Test(arguments: [
        Reading(["p": ["$inQuery": asked]], .amongObjects("p", subquery)),
        Reading(["p": ["$notInQuery": asked]], .none([.amongObjects("p", subquery)])),
        Reading(["s": ["$select": selected]], .amongValues("s", subquery, path: "k.l")),
        Reading(["s": ["$dontSelect": selected]], .none([.amongValues("s", subquery, path: "k.l")])),
        Reading(
            ["p": ["$inQuery": asked, "$in": [pointerJSON("u")]]],
            .any([.amongObjects("p", subquery), .among("p", [pointer("u")])])
        ),
        Reading(
            ["p": ["$notInQuery": asked, "$nin": [pointerJSON("u")]]],
            .all([.none([.amongObjects("p", subquery)]), .notAmong("p", [pointer("u")])])
        ),
        Reading(["r": ["$inQuery": asked]], .amongObjects("r", subquery)),
        Reading(["r": ["$notInQuery": asked]], .none([.amongObjects("r", subquery)])),
        Reading(
            ["$or": [["$and": [["p": ["$inQuery": asked]]]]]],
            .any([.all([.amongObjects("p", subquery)])])
        ),
    ])
    func `subqueries are asked for`(_ reading: Reading) async throws {
        let resolver = Resolver()
        let meaning = try await WhereDecoder(schema: Self.schema).meaning(
            of: reading.json,
            subqueries: resolver
        )
        #expect(meaning.predicate == reading.predicate)
        let seen = resolver.seen.withLock { $0 }
        #expect(seen.count == 1)
        #expect(seen.first?.filter == ["x": 1])
    }

    @Test func `the same subquery is asked for once, and a refusal is passed on`() async throws {
        let resolver = Resolver()
        let twice: JSONObject = ["$or": [["p": ["$inQuery": Self.asked]], ["q": ["$inQuery": Self.asked]]]]
        _ = try await WhereDecoder(schema: Self.schema).meaning(of: twice, subqueries: resolver)
        #expect(resolver.seen.withLock { $0.count } == 1)
        await expectRefusal(.operationForbidden, "no") {
            let filter: JSONObject = ["p": ["$inQuery": ["className": "Secret", "where": [:]]]]
            _ = try await WhereDecoder(schema: Self.schema).meaning(of: filter, subqueries: Resolver())
        }
    }

    @Test(arguments: [
        Refused(["p": ["$inQuery": 1]], .invalidQuery, "improper usage of $inQuery"),
        Refused(["p": ["$inQuery": ["className": "C"]]], .invalidQuery, "improper usage of $inQuery"),
        Refused(["p": ["$notInQuery": ["where": [:]]]], .invalidQuery, "improper usage of $notInQuery"),
        Refused(["s": ["$select": ["key": "k"]]], .invalidQuery, "improper usage of $select"),
        Refused(
            ["s": ["$select": ["query": ["className": "C"], "key": "k", "more": 1]]],
            .invalidQuery,
            "improper usage of $select"
        ),
        Refused(
            ["s": ["$dontSelect": ["query": 1, "key": "k"]]],
            .invalidQuery,
            "improper usage of $dontSelect"
        ),
        Refused(
            ["s": ["$select": ["query": ["className": "C"], "key": "$k"]]],
            .invalidKeyName,
            "Invalid key name: $k"
        ),
        Refused(
            ["p": ["$inQuery": ["className": "C", "where": "x"]]],
            .invalidJSON,
            "where parameter is not valid JSON"
        ),
        Refused(
            [
                "$or": .array(
                    (0..<51).map {
                        ["p": ["$inQuery": ["className": "C", "where": ["n": .number(Double($0))]]]]
                    }
                )
            ],
            .invalidQuery,
            "The query has more than 50 subqueries."
        ),
    ])
    func `a malformed subquery is refused`(_ refused: Refused) async {
        await expectRefusal(refused.code, refused.message) {
            _ = try await WhereDecoder(schema: Self.schema).meaning(of: refused.json, subqueries: Resolver())
        }
    }

    @Test(
        arguments: [
            ("now", 0), ("NOW", 0), ("in 1 sec", 1), ("In  2 Days 3 HRS", 183_600), ("1 yr ago", -31_536_000),
            ("2 wks 1 d 1 minute 1 second ago", -1_296_061), ("in 1 week", 604_800), ("in 0 days", 0),
            ("in -1 hour", -3600), ("in", 0), ("ago", 0), ("in 1e2 secs", 100),
        ] as [(String, Double)]
    )
    func `a relative time is so many seconds from now`(_ text: String, _ seconds: Double) throws {
        let expected = Timestamp(milliseconds: 1_704_067_200_000).adding(seconds: seconds)
        #expect(
            try decode(["d": ["$lt": ["$relativeTime": .string(text)]]])
                == .compare("d", .less, .date(expected))
        )
    }

    @Test(
        arguments: [
            ("1 day", "Time should either start with 'in' or end with 'ago'"),
            ("in 1 day ago", "Time cannot have both 'in' and 'ago'"),
            ("in 1", "Invalid time string. Dangling unit or number."),
            ("1 day 2 ago", "Invalid time string. Dangling unit or number."),
            ("in x days", "'x' is not an integer."), ("in 1.5 days", "'1.5' is not an integer."),
            ("in 1 fortnight", "Invalid interval: 'fortnight'"), ("in inf days", "'inf' is not an integer."),
        ]
    )
    func `a text that is no relative time says why`(_ text: String, _ problem: String) {
        expectRefusalNow(.invalidJSON, "bad $relativeTime ($lt) value. \(problem)") {
            _ = try decode(["d": ["$lt": ["$relativeTime": .string(text)]]])
        }
    }

    @Test func `a relative time beyond all dates is the last date there is`() throws {
        let far = try decode(["d": ["$lt": ["$relativeTime": "in 1e300 years"]]])
        #expect(far == .compare("d", .less, .date(Timestamp(milliseconds: 8_640_000_000_000_000))))
    }
}
