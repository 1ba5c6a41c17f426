import JSON
import ParseCore
import ParseWire
import Testing

@Suite struct FieldNameTests {
    @Test(arguments: [
        ("a", true), ("Z9_", true), ("score", true), ("a_b", true), ("length", false), ("className", false),
        ("", false), ("_a", false), ("9a", false), ("a-b", false), ("a b", false), ("a.b", false),
        ("é", false),
        ("a\0", false), ("a$", false), ("\u{212A}ey", false), ("a\"b", false), ("__proto__", false),
    ])
    func `a field name is letters, digits and underscores, a letter first`(_ name: String, _ isValid: Bool) {
        #expect(FieldName.isValid(name) == isValid)
    }

    @Test(arguments: [
        ("a", true), ("a.b", true), ("a.0.b", true), ("a.", true), (".a", false), ("_a", false), ("", false),
        ("a.$b", false), ("a. b", false),
    ])
    func `a path also has dots`(_ path: String, _ isValid: Bool) {
        #expect(FieldName.isValidPath(path) == isValid)
    }

    @Test func `a path has no empty part`() {
        #expect(FieldName.path("a.b.c") == ["a", "b", "c"])
        #expect(FieldName.path("a") == ["a"])
        for text in ["", ".", "a.", ".a", "a..b"] { #expect(FieldName.path(text) == nil) }
        #expect(FieldName.root(of: "a.b") == "a")
        #expect(FieldName.root(of: "a") == "a")
    }
}

@Suite struct FieldInputTests {
    struct Reading: Sendable, CustomTestStringConvertible {
        let json: JSONValue
        let type: FieldType?
        let change: FieldChange

        init(_ json: JSONValue, _ type: FieldType?, _ change: FieldChange) {
            self.json = json
            self.type = type
            self.change = change
        }

        var testDescription: String { json.serializedString() }
    }

    @Test(arguments: [
        Reading(.null, nil, .set(.null)),
        Reading(true, .boolean, .set(.bool(true))),
        Reading(1.5, .number, .set(.number(1.5))),
        Reading("t", .string, .set(.string("t"))),
        Reading([1, ["a": "b"]], .array, .set(.array([1, ["a": "b"]]))),
        Reading(["a": ["b": 1]], .object, .set(.object(["a": ["b": 1]]))),
        Reading([:], .object, .set(.object([:]))),
        Reading(["__type": 1], .object, .set(.object(["__type": 1]))),
        Reading(["__op": 1], .object, .set(.object(["__op": 1]))),
        Reading(
            ["__type": "Date", "iso": "2024-10-24T21:13:17.123Z"],
            .date,
            .set(.date(Timestamp(milliseconds: 1_729_804_397_123)))
        ),
        Reading(
            ["__type": "Pointer", "className": "C", "objectId": "i", "more": 1],
            .pointer("C"),
            .set(.pointer(className: "C", objectID: "i"))
        ),
        Reading(
            ["__type": "GeoPoint", "latitude": -90, "longitude": 180],
            .geoPoint,
            .set(.geoPoint(latitude: -90, longitude: 180))
        ),
        Reading(["__type": "File", "name": "n", "url": "http://evil"], .file, .set(.file(name: "n"))),
        Reading(["__type": "Bytes", "base64": "AA=="], .bytes, .set(.bytes(base64: "AA=="))),
        Reading(
            ["__type": "Polygon", "coordinates": [[0, 0], [0, 1], [1, 1]]],
            .polygon,
            .set(.polygon([[0, 0], [0, 1], [1, 1], [0, 0]]))
        ),
        Reading(
            ["__type": "Polygon", "coordinates": [[0, 0], [0, 1], [1, 1], [0, 0]]],
            .polygon,
            .set(.polygon([[0, 0], [0, 1], [1, 1], [0, 0]]))
        ),
        Reading(["__op": "Delete"], nil, .unset),
        Reading(["__op": "Increment", "amount": -2], .number, .increment(-2)),
        Reading(["__op": "Add", "objects": [1]], .array, .add([1])),
        Reading(["__op": "AddUnique", "objects": [1]], .array, .addUnique([1])),
        Reading(["__op": "Remove", "objects": [1]], .array, .remove([1])),
        Reading(
            ["a": ["__op": "Increment", "amount": 1]],
            .object,
            .set(.object(["a": ["__op": "Increment", "amount": 1]]))
        ),
    ])
    func `a value has a type and does something to the field`(_ reading: Reading) throws {
        let input = try FieldInput(reading.json)
        #expect(input.type == reading.type)
        #expect(input.change == reading.change)
    }

    @Test(
        arguments: [
            (["__type": "Date"], "Date"), (["__type": "Date", "iso": 1], "Date"),
            (["__type": "Date", "iso": "yesterday"], "Date"),
            (["__type": "Date", "iso": "2023-02-29"], "Date"),
            (["__type": "Pointer", "className": "C"], "Pointer"),
            (["__type": "Pointer", "objectId": "i"], "Pointer"),
            (["__type": "Pointer", "className": ["$ne": 1], "objectId": "i"], "Pointer"),
            (["__type": "GeoPoint", "latitude": 1], "GeoPoint"),
            (["__type": "GeoPoint", "latitude": 90.5, "longitude": 0], "GeoPoint"),
            (["__type": "GeoPoint", "latitude": 0, "longitude": -180.5], "GeoPoint"),
            (["__type": "GeoPoint", "latitude": "1", "longitude": 0], "GeoPoint"),
            (["__type": "File"], "File"),
            (["__type": "File", "name": 1], "File"), (["__type": "Bytes"], "Bytes"),
            (["__type": "Bytes", "base64": ""], "Bytes"), (["__type": "Polygon"], "Polygon"),
            (["__type": "Polygon", "coordinates": [[0], [0, 1], [1, 1]]], "Polygon"),
            (["__type": "Polygon", "coordinates": [[0, 0, 0], [0, 1], [1, 1]]], "Polygon"),
            (["__type": "Polygon", "coordinates": [[91, 0], [0, 1], [1, 1]]], "Polygon"),
            (["__type": "Polygon", "coordinates": [[0, 181], [0, 1], [1, 1]]], "Polygon"),
            (["__type": "Object", "className": "C", "objectId": "i"], "Object"),
            (["__type": "Nonsense"], "Nonsense"),
            (["__type": ""], ""),
        ] as [(JSONValue, String)]
    )
    func `a malformed typed value is refused with 111`(_ json: JSONValue, _ type: String) {
        expectRefusalNow(.incorrectType, "This is not a valid \(type)") { _ = try FieldInput(json) }
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let json: JSONValue
        let code: ParseErrorCode
        let message: String

        init(_ json: JSONValue, _ code: ParseErrorCode, _ message: String) {
            self.json = json
            self.code = code
            self.message = message
        }

        var testDescription: String { json.serializedString() }
    }

    @Test(arguments: [
        Refused(["__op": "Increment"], .invalidJSON, "incrementing must provide a number"),
        Refused(["__op": "Increment", "amount": "1"], .invalidJSON, "incrementing must provide a number"),
        Refused(["__op": "Add"], .invalidJSON, "objects to add must be an array"),
        Refused(["__op": "AddUnique", "objects": 1], .invalidJSON, "objects to add must be an array"),
        Refused(["__op": "Remove", "objects": ["a": 1]], .invalidJSON, "objects to remove must be an array"),
        Refused(
            ["__op": "Batch", "ops": [["__op": "Increment", "amount": 1]]],
            .commandUnavailable,
            "A Batch holds only AddRelation and RemoveRelation."
        ),
        Refused(["__op": "Nonsense"], .commandUnavailable, "The Nonsense operator is not supported yet."),
        Refused(["__op": ""], .commandUnavailable, "The  operator is not supported yet."),
        Refused(
            ["__type": "Polygon", "coordinates": [[0, 0], [0, 1], [0, 0]]],
            .invalidJSON,
            "Polygon must have at least 3 values"
        ),
        Refused(
            ["a": ["$b": 1]],
            .invalidNestedKey,
            "Nested keys should not contain the '$' or '.' characters"
        ),
        Refused(["a.b": 1], .invalidNestedKey, "Nested keys should not contain the '$' or '.' characters"),
        Refused(
            [["a": [["x.y": 1]]]],
            .invalidNestedKey,
            "Nested keys should not contain the '$' or '.' characters"
        ),
        Refused(
            ["__op": "Add", "objects": [["$a": 1]]],
            .invalidNestedKey,
            "Nested keys should not contain the '$' or '.' characters"
        ),
    ])
    func `a malformed operation or key is refused`(_ refused: Refused) {
        expectRefusalNow(refused.code, refused.message) { _ = try FieldInput(refused.json) }
    }
}

@Suite struct FieldChangeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let change: FieldChange
        let before: FieldValue?
        let after: FieldValue?

        init(_ change: FieldChange, _ before: FieldValue?, _ after: FieldValue?) {
            self.change = change
            self.before = before
            self.after = after
        }

        var testDescription: String { "\(change) on \(String(describing: before))" }
    }

    @Test(arguments: [
        Case(.set(.number(1)), nil, .number(1)),
        Case(.set(.null), .string("a"), .null),
        Case(.unset, .string("a"), nil),
        Case(.unset, nil, nil),
        Case(.increment(2), nil, .number(2)),
        Case(.increment(2), .null, .number(2)),
        Case(.increment(-0.5), .number(2), .number(1.5)),
        Case(.add([1, 1]), nil, .array([1, 1])),
        Case(.add([1]), .null, .array([1])),
        Case(.add(["b"]), .array(["a"]), .array(["a", "b"])),
        Case(.addUnique([1, 1]), nil, .array([1, 1])),
        Case(.addUnique([2, 1, 2, 3]), .array([1, 1]), .array([1, 1, 2, 3])),
        Case(.addUnique([["a": 1, "b": 2]]), .array([["b": 2, "a": 1]]), .array([["b": 2, "a": 1]])),
        Case(.remove([1]), nil, .array([])),
        Case(.remove([1, "x"]), .array([1, 2, 1, "x"]), .array([2])),
        Case(.merge(["a": 1]), nil, .object(["a": 1])),
        Case(.merge(["a": nil, "b": 2]), .object(["a": 1, "c": 3]), .object(["c": 3, "b": 2])),
        Case(.merge(["a": nil]), .object(["a": 1]), nil),
        Case(.merge(["a": nil]), nil, nil),
        Case(.path(["a"], .set(.number(1))), nil, .object(["a": 1])),
        Case(.path(["a", "b"], .set(.number(1))), nil, .object(["a": ["b": 1]])),
        Case(
            .path(["a", "b"], .increment(1)),
            .object(["a": ["b": 2, "c": 3]]),
            .object(["a": ["b": 3, "c": 3]])
        ),
        Case(.path(["a"], .unset), .object(["a": 1, "b": 2]), .object(["b": 2])),
        Case(.path(["a", "b"], .unset), nil, nil),
        Case(.path(["a", "b"], .unset), .object(["x": 1]), .object(["x": 1])),
        Case(.path(["0"], .set(.number(9))), .array([1, 2]), .array([9, 2])),
        Case(.path(["1", "n"], .increment(1)), .array([1, ["n": 1]]), .array([1, ["n": 2]])),
        Case(.path(["1"], .unset), .array([1, 2]), .array([1, nil])),
        Case(.path(["a"], .set(.null)), .object(["a": 1]), .object(["a": nil])),
        Case(.path(["a"], .add([2])), .object(["a": [1]]), .object(["a": [1, 2]])),
    ])
    func `a change makes one value of another`(_ example: Case) throws {
        #expect(try example.change.applied(to: example.before) == example.after)
    }

    @Test(arguments: [
        Case(.increment(1), .string("1"), nil), Case(.add([1]), .string("a"), nil),
        Case(.addUnique([1]), .object([:]), nil), Case(.remove([1]), .number(1), nil),
        Case(.path(["a"], .increment(1)), .object(["a": "text"]), nil),
        Case(.path(["a", "b"], .set(.number(1))), .object(["a": "text"]), nil),
        Case(.path(["a"], .add([1])), .object(["a": 1]), nil),
    ])
    func `a change that does not fit the value is refused with 111`(_ example: Case) throws {
        let error = #expect(throws: ParseError.self) { try example.change.applied(to: example.before) }
        #expect(error?.code == .incorrectType)
    }

    @Test(arguments: ["-1", "2", "x", "99999999999999999999", "+1"])
    func `an index outside the array is refused with 121`(_ index: String) throws {
        let change = FieldChange.path([index], .set(.number(1)))
        expectRefusalNow(.invalidNestedKey, "There is no element \(index) in the array.") {
            _ = try change.applied(to: .array([1, 2]))
        }
    }

    @Test func `a sum that no number can hold is refused`() {
        let change = FieldChange.increment(Double.greatestFiniteMagnitude)
        expectRefusalNow(.incorrectType, "the sum is too large for a number") {
            _ = try change.applied(to: .number(Double.greatestFiniteMagnitude))
        }
    }

    @Test func `only results that the client cannot know are answered`() {
        for change in [
            FieldChange.increment(1), .add([]), .addUnique([]), .remove([]), .path(["a"], .increment(1)),
        ] {
            #expect(change.resultIsReturned)
        }
        for change in [FieldChange.set(.null), .unset, .merge([:]), .path(["a"], .unset)] {
            #expect(!change.resultIsReturned)
        }
    }
}
