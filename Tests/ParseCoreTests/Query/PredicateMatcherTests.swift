import JSON
import ParseCore
import ParseWire
import Testing

@Suite struct PredicateMatcherTests {
    static let schema = ClassSchema(
        className: "C",
        fields: SystemClasses.commonFields + [("f", .string), ("r", .relation("D"))]
    )

    static func row(_ value: FieldValue?) -> StoredRow {
        var row = StoredRow(
            objectID: "id1",
            createdAt: Timestamp(milliseconds: 1000),
            updatedAt: Timestamp(milliseconds: 2000)
        )
        row.fields["f"] = value
        return row
    }

    static func matches(_ predicate: Predicate, _ value: FieldValue?) throws -> Bool {
        try PredicateMatcher(predicate, schema: schema).matches(row(value))
    }

    /// Absent, null, the value, another, an array with it, an array without it, an empty array.
    static let states: [FieldValue?] = [
        nil, .null, .string("v"), .string("w"), .array(["v", "w"]), .array(["w"]), .array([]),
    ]

    @Test(
        arguments: [
            (.equal("f", .string("v")), "0010100"), (.among("f", [.string("v")]), "0010100"),
            (.equal("f", .null), "1100000"), (.among("f", [.null]), "1100000"),
            (.notEqual("f", .string("v")), "1101011"), (.notAmong("f", [.string("v")]), "1101011"),
            (.notEqual("f", .null), "0011111"), (.notAmong("f", [.null]), "0011111"),
            (.exists("f", true), "0111111"), (.exists("f", false), "1000000"),
            (.compare("f", .lessOrEqual, .string("v")), "0010100"),
            (.compare("f", .greater, .string("v")), "0001110"),
            (.compare("f", .less, .string("v")), "0000000"),
            (.compare("f", .greaterOrEqual, .string("w")), "0001110"),
            (.compare("f", .less, .null), "0000000"),
            (.compare("f", .greaterOrEqual, .null), "0000000"), (.compare("f", .less, .number(9)), "0000000"),
            (.containedBy("f", [.string("v")]), "1111001"), (.containedBy("f", []), "1111001"),
            (.containedBy("f", [.string("v"), .string("w")]), "1111111"),
            (.matches("f", TextPattern("^v$")), "0010100"), (.matches("f", TextPattern("W")), "0000000"),
            (.matches("f", TextPattern("W", options: .ignoresCase)), "0001110"),
            (.among("f", []), "0000000"), (.notAmong("f", []), "1111111"),
            (.among("f", [.string("v"), .null]), "1110100"), (.equal("f", .array(["v", "w"])), "0000100"),
            (.equal("f", .array([])), "0000001"), (.equal("f", .number(1)), "0000000"),
            (.everything, "1111111"), (.any([]), "0000000"), (.all([]), "1111111"), (.none([]), "1111111"),
            (.none([.equal("f", .string("v")), .equal("f", .null)]), "0001011"),
            (.all([.equal("f", .string("v")), .equal("f", .string("w"))]), "0000100"),
            (.search("f", TextSearch(term: "v")), "0010100"),
            (.equal("g", .null), "1111111"), (.exists("g", false), "1111111"),
            (.notEqual("g", .null), "0000000"),
        ] as [(Predicate, String)]
    )
    func `the truth table holds`(_ predicate: Predicate, _ expected: String) throws {
        let found = try Self.states.map { try Self.matches(predicate, $0) ? "1" : "0" }.joined()
        #expect(found == expected)
    }

    static let date = FieldValue.date(Timestamp(milliseconds: 1_704_067_200_000))
    static let pointer = FieldValue.pointer(className: "D", objectID: "x")

    @Test(
        arguments: [
            // Types are strict.
            (.equal("f", .bool(true)), .number(1), false), (.equal("f", .number(1)), .string("1"), false),
            (.equal("f", .string("x")), pointer, false), (.equal("f", pointer), pointer, true),
            (.equal("f", .pointer(className: "E", objectID: "x")), pointer, false),
            (.equal("f", .number(0)), .number(-0.0), true),
            (.compare("f", .less, .bool(true)), .bool(false), true),
            (.equal("f", .string("e\u{301}")), .string("\u{E9}"), false),
            (.among("f", [.string("e\u{301}")]), .string("\u{E9}"), false),
            (.compare("f", .less, .string("\u{E9}")), .string("z"), true),
            (.compare("f", .less, .string("a")), .string("B"), true),
            (.compare("f", .less, .string("\u{FFFF}")), .string("\u{10000}"), false),
            // Values inside of arrays and objects.
            (.equal("f", date), .array([["__type": "Date", "iso": "2024-01-01T00:00:00Z"]]), true),
            (.among("f", [date]), .array([["__type": "Date", "iso": "2024-01-01T00:00:00Z"]]), true),
            (.compare("f", .less, date), .array([["__type": "Date", "iso": "2023-01-01"]]), true),
            (.equal("f", pointer), .array([["__type": "Pointer", "className": "D", "objectId": "x"]]), true),
            (
                .among("f", [pointer]), .array([["__type": "Pointer", "className": "D", "objectId": "x"]]),
                true
            ),
            (.compare("f", .greater, pointer), .pointer(className: "D", objectID: "y"), true),
            (.compare("f", .greater, pointer), .pointer(className: "E", objectID: "y"), false),
            (.equal("f", .object(["a": 1, "b": 2])), .object(["b": 2, "a": 1]), true),
            (.equal("f", .object(["a": 1])), .object(["a": 1, "b": 2]), false),
            (.equal("f", .object(["a": 1])), .array([["a": 1]]), true),
            (.equal("f", .array([1])), .array([[1], 2]), true),
            (.equal("f", .array([1, 2])), .array([2, 1]), false),
            (.containedBy("f", [.object(["a": 1])]), .array([["a": 1]]), true),
            (.equal("f", .file(name: "n")), .array([["__type": "File", "name": "n", "url": "u"]]), true),
            (.equal("f", .array([1])), .number(1), false),
            (.matches("f", TextPattern("1")), .number(1), false),
            (.equal("f.a", .number(1)), .object(["a": 1]), true),
            (.equal("f.a", .number(1)), .array([["a": 2], ["a": 1]]), true),
            (.notEqual("f.a", .number(1)), .array([["a": 2], ["a": 1]]), false),
            (.notEqual("f.a", .number(1)), .array([["a": 2]]), true),
            (.equal("f.a", .number(1)), .object(["a": [2, 1]]), true),
            (.equal("f.a.b", .number(1)), .array([["a": [["b": 1]]]]), true),
            (.equal("f.a", .null), .object(["b": 1]), true),
            (.equal("f.a", .null), .object(["a": nil]), true),
            (.equal("f.a", .null), .number(4), true), (.equal("f.a", .null), nil, true),
            (.equal("f.a", .null), .array([]), false), (.equal("f.a", .null), .array([1, nil]), false),
            (.equal("f.a", .null), .array([["a": 1], ["b": 1]]), true),
            (.notEqual("f.a", .null), .array([]), true),
            (.exists("f.a", true), .object(["a": nil]), true),
            (.exists("f.a", false), .object(["b": 1]), true),
            (.exists("f.a", false), .array([]), true),
            (.exists("f.a", true), .array([["b": 1], ["a": 1]]), true),
            (.equal("f.1", .number(5)), .array([4, 5]), true),
            (.equal("f.1", .number(4)), .array([4, 5]), false),
            (.equal("f.0.a", .number(1)), .array([["a": 1]]), true),
            (.equal("f.7", .null), .array([1]), true),
            (.equal("f.0", .number(1)), .object(["0": 1]), true),
            (.exists("f.2", true), .array([1, 2]), false),
            (.equal("f.a", .number(1)), .array([[["a": 1]]]), false),
            (.containedBy("f.a", [.number(1)]), .object(["a": [1, 2]]), false),
            (.containedBy("f.a", [.number(1), .number(2)]), .object(["a": [1, 2]]), true),
            (.compare("f.a", .greater, .number(1)), .object(["a": 2]), true),
            (.matches("f.a", TextPattern("x")), .array([["a": "yxy"]]), true),
            (.equal("f.objectId", .string("x")), pointer, false),
            (.exists("f.b", true), .object(["a": ["b": 1]]), false),
        ] as [(Predicate, FieldValue?, Bool)]
    )
    func `values are compared by type, and paths lead into them`(
        _ predicate: Predicate,
        _ value: FieldValue?,
        _ expected: Bool
    ) throws {
        #expect(try Self.matches(predicate, value) == expected)
    }

    static let square = FieldValue.polygon([[0, 0], [0, 10], [10, 10], [10, 0], [0, 0]])
    static let triangle = GeoArea.polygon([
        GeoPoint(latitude: 0, longitude: 0), GeoPoint(latitude: 10, longitude: 0),
        GeoPoint(latitude: 0, longitude: 10),
    ])
    static let box = GeoArea.box(
        southWest: GeoPoint(latitude: 0, longitude: 0),
        northEast: GeoPoint(latitude: 10, longitude: 20)
    )

    static func point(_ latitude: Double, _ longitude: Double) -> GeoPoint {
        GeoPoint(latitude: latitude, longitude: longitude)
    }

    static func place(_ latitude: Double, _ longitude: Double) -> FieldValue {
        .geoPoint(latitude: latitude, longitude: longitude)
    }

    @Test(
        arguments: [
            (.inside("f", triangle), place(1, 1), true), (.inside("f", triangle), place(5, 5), true),
            (.inside("f", triangle), place(6, 6), false), (.inside("f", triangle), place(0, 0), true),
            (.inside("f", triangle), place(0, 10), true), (.inside("f", triangle), place(0, 11), false),
            (.inside("f", box), place(10, 20), true), (.inside("f", box), place(10.001, 20), false),
            (.inside("f", .box(southWest: point(10, 20), northEast: point(0, 0))), place(5, 5), false),
            (.inside("f", box), nil, false), (.inside("f", box), .null, false),
            (.inside("f", box), .string("x"), false),
            (.covers("f", point(5, 5)), square, true), (.covers("f", point(0, 5)), square, true),
            (.covers("f", point(10, 10)), square, true), (.covers("f", point(10.1, 5)), square, false),
            (.covers("f", point(5, 5)), place(5, 5), false),
            (.near("f", point(0, 0), maxRadians: nil), place(90, 180), true),
            (.near("f", point(0, 0), maxRadians: nil), nil, false),
            (.near("f", point(0, 0), maxRadians: 0.0175), place(1, 0), true),
            (.near("f", point(0, 0), maxRadians: 0.0174), place(1, 0), false),
            (.near("f", point(0, 179), maxRadians: 0.0350), place(0, -179), true),
            (.near("f", point(0, 0), maxRadians: 0), place(0, 0), true),
            (.equal("f", place(1, 2)), place(1, 2), true), (.equal("f", place(1, 2)), place(2, 1), false),
            (.equal("f", square), square, true),
            (
                .equal("f.a", square),
                .object([
                    "a": ["__type": "Polygon", "coordinates": [[0, 0], [0, 10], [10, 10], [10, 0]]]
                ]), true
            ),
        ] as [(Predicate, FieldValue?, Bool)]
    )
    func `places are compared on the sphere and in the plane`(
        _ predicate: Predicate,
        _ value: FieldValue?,
        _ expected: Bool
    ) throws {
        #expect(try Self.matches(predicate, value) == expected)
    }

    @Test func `the common fields, folded names and hidden columns are compared too`() throws {
        var row = Self.row(nil)
        row.fields["username"] = .string("Änne")
        row.hidden["_token_hash"] = .binary([1, 2])
        func found(_ predicate: Predicate) throws -> Bool {
            try PredicateMatcher(predicate, schema: Self.schema).matches(row)
        }
        #expect(try found(.id("id1")))
        #expect(try !found(.id("ID1")))
        #expect(try found(.compare("createdAt", .less, .date(Timestamp(milliseconds: 1500)))))
        #expect(try !found(.compare("updatedAt", .less, .date(Timestamp(milliseconds: 1500)))))
        #expect(try found(.usernameKey("äNNE")))
        #expect(try !found(.emailKey("äNNE")))
        #expect(try found(.hidden("_token_hash", .binary([1, 2]))))
        #expect(try !found(.hidden("_token_hash", .binary([1]))))
        #expect(try found(.hidden("_token_tail", .null)))
    }

    /// Links of the row `id1` lead to `a` and `b`; subqueries find `x` and `b`.
    struct Links: LinkResolver {
        func objectIDs(of subquery: Subquery) throws(ParseError) -> Set<String> { ["x", "b"] }

        func values(of subquery: Subquery, at path: String) throws(ParseError) -> Set<JSONValue> {
            path == "k" ? ["v", 1] : []
        }

        func relatedIDs(ownerClass: String, ownerID: String, field: String) throws(ParseError) -> Set<String>
        {
            ownerClass == "C" && ownerID == "id1" && field == "r" ? ["a", "b"] : ["id1"]
        }
    }

    static let subquery = Subquery(className: "D", predicate: .everything, access: .unrestricted)

    @Test(
        arguments: [
            (.amongObjects("f", subquery), pointer, true),
            (.amongObjects("f", subquery), .pointer(className: "D", objectID: "y"), false),
            (.amongObjects("f", subquery), .pointer(className: "E", objectID: "x"), false),
            (.amongObjects("f", subquery), .array([pointer.json]), true),
            (.amongObjects("f", subquery), nil, false),
            (.none([.amongObjects("f", subquery)]), nil, true),
            (.amongValues("f", subquery, path: "k"), .string("v"), true),
            (.amongValues("f", subquery, path: "k"), .array([1]), true),
            (.amongValues("f", subquery, path: "k"), nil, false),
            (.amongValues("f", subquery, path: "l"), .string("v"), false),
            (.related(ownerClass: "P", ownerID: "p", field: "l"), nil, true),
            (.equal("r", .pointer(className: "D", objectID: "a")), nil, true),
            (.equal("r", .pointer(className: "D", objectID: "x")), nil, false),
            (.equal("r", .pointer(className: "E", objectID: "a")), nil, false),
            (.equal("r", .null), nil, false),
            (.notEqual("r", .pointer(className: "D", objectID: "a")), nil, false),
            (.notEqual("r", .pointer(className: "D", objectID: "x")), nil, true),
            (.among("r", [.null, .pointer(className: "D", objectID: "b")]), nil, true),
            (.notAmong("r", [.pointer(className: "D", objectID: "b")]), nil, false),
            (.amongObjects("r", subquery), nil, true), (.exists("r", true), nil, false),
        ] as [(Predicate, FieldValue?, Bool)]
    )
    func `what stands in other rows is asked for`(
        _ predicate: Predicate,
        _ value: FieldValue?,
        _ expected: Bool
    ) throws {
        let matcher = try PredicateMatcher(predicate, schema: Self.schema, links: Links())
        #expect(try matcher.matches(Self.row(value)) == expected)
    }

    @Test func `without other rows such a condition is refused`() {
        let text =
            "Subqueries and relations cannot be used here: the condition must be decided on the object alone."
        for predicate: Predicate in [
            .amongObjects("f", Self.subquery), .amongValues("f", Self.subquery, path: "k"),
            .related(ownerClass: "P", ownerID: "p", field: "l"), .equal("r", Self.pointer),
        ] {
            expectRefusalNow(.invalidQuery, text) { _ = try Self.matches(predicate, nil) }
        }
    }

    @Test func `patterns and searches that cannot be used are refused`() {
        expectRefusalNow(
            .internalServerError,
            "The regular expression is invalid: missing closing parenthesis (at byte 1)."
        ) { _ = try Self.matches(.matches("f", TextPattern("(")), .string("x")) }
        expectRefusalNow(.invalidQuery, "A regular expression may have at most 8192 bytes.") {
            _ = try Self.matches(.matches("f", TextPattern(String(repeating: "x", count: 8193))), nil)
        }
        expectRefusalNow(.invalidQuery, "The regular expression takes too much work. Make it simpler.") {
            let text = String(repeating: "a", count: 50) + "b"
            _ = try Self.matches(.matches("f", TextPattern("(a+)+$")), .string(text))
        }
        expectRefusalNow(.invalidJSON, "bad $text: $language, should be a language that is known") {
            _ = try Self.matches(.search("f", TextSearch(term: "x", language: "klingon")), nil)
        }
    }

    @Test func `the score is that of the searches that are not negated`() throws {
        func score(_ predicate: Predicate, _ value: FieldValue?) throws -> Double {
            try PredicateMatcher(predicate, schema: Self.schema).textScore(of: Self.row(value))
        }
        let search = Predicate.search("f", TextSearch(term: "coffee"))
        #expect(try score(search, .string("Coffee Shopping")) == 0.75)
        #expect(try score(.any([search, .equal("f", .null)]), .array(["coffee", "tea"])) == 1)
        #expect(try score(.none([search]), .string("coffee")) == 0)
        #expect(try score(.search("f.a", TextSearch(term: "coffee")), .object(["a": "coffee"])) == 1)
        #expect(try score(search, nil) == 0)
        #expect(try score(.everything, .string("coffee")) == 0)
    }

    @Test func `a leaf decides on one stored value`() throws {
        let test = try #require(try ValueTest(.equal("f.a.b", .number(1))))
        #expect(test.field == "f")
        #expect(test.path == ["a", "b"])
        #expect(try test.matches(stored: ["a": ["b": 1]]))
        #expect(try test.matches(stored: ["a": [["b": 2], ["b": 1]]]))
        #expect(try !test.matches(stored: nil))
        #expect(try ValueTest(.everything) == nil)
        #expect(try ValueTest(.amongObjects("f", Self.subquery)) == nil)
        #expect(try ValueTest("f", among: ["x"]).matches(.string("x")))
        #expect(try ValueTest("f", pointsTo: "D", among: ["x"]).matches(Self.pointer))
    }
}
