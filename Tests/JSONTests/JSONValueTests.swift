import JSON
import Testing

@Suite struct JSONValueTests {
    @Test func `an accessor answers for its own kind only`() {
        let all: [JSONValue] = [nil, true, 1, "a", [1], ["a": 1]]
        #expect(all.map(\.isNull) == [true, false, false, false, false, false])
        #expect(all.map(\.boolValue) == [nil, true, nil, nil, nil, nil])
        #expect(all.map(\.numberValue) == [nil, nil, 1, nil, nil, nil])
        #expect(all.map(\.stringValue) == [nil, nil, nil, "a", nil, nil])
        #expect(all.map(\.arrayValue) == [nil, nil, nil, nil, [1], nil])
        #expect(all.map(\.objectValue) == [nil, nil, nil, nil, nil, ["a": 1]])
        #expect(all.map { $0["a"] } == [nil, nil, nil, nil, nil, 1])
    }

    @Test(
        arguments: [
            (nil, false), (false, false), (0, false), (-0.0, false), (.number(.nan), false), ("", false),
            (true, true),
            (1, true), (.number(.infinity), true), ("0", true), ("false", true), ([], true), ([:], true),
        ] as [(JSONValue, Bool)]
    )
    func `truth is JavaScript's`(value: JSONValue, isTruthy: Bool) {
        #expect(value.isTruthy == isTruthy)
    }

    @Test func `values of different kinds differ`() {
        let all: [JSONValue] = [nil, false, true, 0, 1, "", "0", "null", [], [nil], [:], ["": nil]]
        for (left, value) in all.enumerated() {
            for (right, other) in all.enumerated() {
                #expect((value == other) == (left == right))
            }
        }
        #expect(Set(all).count == all.count)
    }

    @Test func `numbers compare as JavaScript compares them`() {
        #expect(JSONValue.number(-0.0) == 0)
        #expect(JSONValue.number(-0.0).hashValue == JSONValue.number(0).hashValue)
        #expect(JSONValue.number(.nan) != .number(.nan))
    }
}
