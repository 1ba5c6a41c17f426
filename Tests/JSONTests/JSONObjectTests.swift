import JSON
import Testing

@Suite struct JSONObjectTests {
    @Test func `members keep their order`() throws {
        let object: JSONObject = ["b": 1, "a": 2, "c": 3]
        #expect(object.keys == ["b", "a", "c"])
        #expect(object.map(\.key) == ["b", "a", "c"])
        #expect(try JSONValue.parse(#"{"b":1,"a":2}"#).serializedString() == #"{"b":1,"a":2}"#)
    }

    @Test func `the last of several members of one name wins at the first one's place`() throws {
        let text = #"{"a":1,"b":2,"a":3,"\u0061":4}"#
        #expect(try JSONValue.parse(text).serializedString() == #"{"a":4,"b":2}"#)
        let object = JSONObject(
            ["a", "b", "a"].enumerated().map { .init(key: $1, value: .number(Double($0))) }
        )
        #expect(JSONValue.object(object).serializedString() == #"{"a":2,"b":1}"#)
        let literal: JSONValue = ["a": 1, "b": 2, "a": 3]
        #expect(literal.serializedString() == #"{"a":3,"b":2}"#)
    }

    @Test(arguments: [2, 15, 16, 17, 18, 40, 200])
    func `duplicates are found in objects of any size`(count: Int) throws {
        let names = (0..<count).map { "name\($0)" }
        for repeated in [0, count / 2, count - 1] {
            let members = (names + [names[repeated]]).enumerated().map {
                JSONObject.Member(key: $1, value: .number(Double($0)))
            }
            let text = "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
            let expected = (0..<count).map { $0 == repeated ? count : $0 }.map {
                JSONValue.number(Double($0))
            }
            let parsed = try #require(try JSONValue.parse(text).objectValue)
            #expect(parsed.keys == names)
            #expect(parsed.map(\.value) == expected)
            #expect(JSONObject(members).map(\.value) == expected)
            #expect(JSONObject(members).keys == names)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a hundred thousand names, and the same a second time, cost linear time`() throws {
        let names = (0..<100_000).map { "name\($0)" }
        let text = "{" + (names + names).map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        let object = try #require(try JSONValue.parse(text).objectValue)
        #expect(object.count == 100_000)
        #expect(JSONObject(object.members + object.members).count == 100_000)
        #expect(JSONObject(object.members.reversed()) == object)
    }

    @Test func `names that differ only by normalisation are different names`() throws {
        let value = try JSONValue.parse(#"{"\u00e9":1,"e\u0301":2}"#)
        #expect(value.objectValue?.count == 2)
        #expect(value["\u{E9}"] == 1)
        #expect(value["e\u{301}"] == 2)
        #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
        // The same length in bytes, equal as Swift strings.
        #expect(JSONValue.string("e\u{323}\u{307}") != .string("e\u{307}\u{323}"))
    }

    @Test func `the order of members does not count for equality and hash`() {
        let names = (0..<30).map(String.init)
        for count in [0, 1, 2, 16, 17, 30] {
            let members = names.prefix(count).map { JSONObject.Member(key: $0, value: .string($0)) }
            let (forward, backward) = (JSONObject(members), JSONObject(members.reversed()))
            #expect(forward == backward)
            #expect(forward.hashValue == backward.hashValue)
            guard count > 0 else { continue }
            var changed = backward
            changed["0"] = "other"
            #expect(forward != changed)
            var renamed = backward
            renamed["0"] = nil
            renamed["other"] = "0"
            #expect(forward != renamed)
            renamed["other"] = nil
            #expect(forward != renamed)
        }
    }

    @Test func `a member can be read, set, replaced and removed`() {
        var object = JSONObject()
        #expect(object.isEmpty)
        object["a"] = 1
        object.append("b", 2)
        object["c"] = 3
        object["b"] = "two"
        #expect(JSONValue.object(object).serializedString() == #"{"a":1,"b":"two","c":3}"#)
        #expect(object.removeValue(forKey: "a") == 1)
        #expect(object.removeValue(forKey: "a") == nil)
        object["c"] = nil
        object["missing"] = nil
        object["b"] = .null
        #expect(object == ["b": nil])
        #expect(object.count == 1)
        #expect(object["b"] == .some(.null))
        #expect(object["a"] == nil)
    }
}
