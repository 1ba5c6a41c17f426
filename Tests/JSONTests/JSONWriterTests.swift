import JSON
import Testing

@Suite struct JSONWriterTests {
    @Test(arguments: [
        ("", #""""#),
        ("plain", #""plain""#),
        ("exactly8", #""exactly8""#),
        ("\"\\", #""\"\\""#),
        ("/<>&'", #""/<>&'""#),
        ("\u{8}\u{C}\n\r\t", #""\b\f\n\r\t""#),
        ("\0\u{1}\u{B}\u{1F} \u{7F}", "\"\\u0000\\u0001\\u000b\\u001f \u{7F}\""),
        ("é€😀\u{2028}\u{2029}", "\"é€😀\u{2028}\u{2029}\""),
        ("eight or more, \"then\" an escape\n", #""eight or more, \"then\" an escape\n""#),
        ("!!!!!!!\"#[]", ##""!!!!!!!\"#[]""##),
    ])
    func `a string is written as JSON.stringify writes it`(text: String, written: String) throws {
        #expect(JSONValue.string(text).serializedString() == written)
        #expect(try JSONValue.parse(written) == .string(text))
    }

    @Test func `every character is escaped or not at every place of a word`() throws {
        for scalar in (0...0x100).compactMap(Unicode.Scalar.init) {
            for padding in 0...9 {
                let text = String(repeating: "x", count: padding) + String(scalar) + "yyyyyyyyy"
                let written = JSONValue.string(text).serializedString()
                #expect(try JSONValue.parse(written) == .string(text))
                let isEscaped = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
                #expect(written.contains("\\") == isEscaped)
            }
        }
    }

    @Test func `containers are written without white space`() {
        let value: JSONValue = ["a": [1, "x", nil, true, false, [], [:]], "b\n": ["c": 1.5]]
        #expect(value.serializedString() == #"{"a":[1,"x",null,true,false,[],{}],"b\n":{"c":1.5}}"#)
    }

    @Test func `parts can be written one after the other`() {
        var writer = JSONWriter(capacity: 16)
        writer.writeRaw("{\"results\":[")
        writer.write(["a": 1] as JSONObject)
        writer.writeRaw(Array(",".utf8))
        writer.write("x" as JSONValue)
        writer.writeRaw(",")
        writer.writeString("y")
        writer.writeRaw(",")
        writer.writeNumber(-12.5)
        writer.writeRaw("]}")
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"results":[{"a":1},"x","y",-12.5]}"#)
    }

    @Test func `a random value survives being written and read`() throws {
        var random = SplitMix(seed: testSeed())
        for _ in 0..<500 {
            let value = JSONValue.random(depth: 5, using: &random)
            let bytes = value.serialized()
            let copy = try JSONValue.parse(bytes)
            #expect(copy == value, "seed \(random.seed)")
            #expect(copy.hashValue == value.hashValue, "seed \(random.seed)")
            #expect(copy.serialized() == bytes, "seed \(random.seed)")
        }
    }
}

extension JSONValue {
    /// A value of any kind with every sort of string and number.
    fileprivate static func random(depth: Int, using random: inout SplitMix) -> JSONValue {
        switch Int.random(in: depth > 0 ? 0...7 : 0...4, using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .number(Double(Int.random(in: -1000...1000, using: &random)))
        case 3:
            let value = Double(bitPattern: random.next())
            return .number(value.isFinite ? value : 0)
        case 4: return .string(.random(using: &random))
        case 5, 6:
            let count = Int.random(in: 0...24, using: &random) / depth
            return .array((0..<count).map { _ in .random(depth: depth - 1, using: &random) })
        default:
            let count = Int.random(in: 0...24, using: &random) / depth
            return .object(
                JSONObject(
                    (0..<count).map { _ in
                        .init(key: .random(using: &random), value: .random(depth: depth - 1, using: &random))
                    }
                )
            )
        }
    }
}

extension String {
    fileprivate static func random(using random: inout SplitMix) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...20, using: &random) {
            let highest: UInt32 = [0x20, 0x80, 0x80, 0x800, 0x11_0000].randomElement(using: &random) ?? 0x80
            text.append(Unicode.Scalar(.random(in: 0..<highest, using: &random)) ?? "\u{FFFD}")
        }
        return String(text)
    }
}
