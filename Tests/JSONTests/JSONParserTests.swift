import JSON
import Testing

/// A document and what `JSON.parse` makes of it.
struct Accepted: Sendable, CustomTestStringConvertible {
    let text: String
    let value: JSONValue

    init(_ text: String, _ value: JSONValue) {
        self.text = text
        self.value = value
    }

    var testDescription: String { text }
}

/// A document, why it is refused, and where.
struct Refused: Sendable, CustomTestStringConvertible {
    let text: String
    let code: JSONError.Code
    let offset: Int

    init(_ text: String, _ code: JSONError.Code, at offset: Int) {
        self.text = text
        self.code = code
        self.offset = offset
    }

    var testDescription: String { text }
}

func parseError(_ bytes: [UInt8], limits: JSONLimits = .standard) -> JSONError? {
    do throws(JSONError) {
        _ = try JSONValue.parse(bytes, limits: limits)
        return nil
    } catch {
        return error
    }
}

func parseError(_ text: String, limits: JSONLimits = .standard) -> JSONError? {
    parseError(Array(text.utf8), limits: limits)
}

@Suite struct JSONParserTests {
    static let accepted: [Accepted] = [
        Accepted("null", nil),
        Accepted("true", true),
        Accepted("false", false),
        Accepted(" \t\r\n1 \t\r\n", 1),
        Accepted("[]", []),
        Accepted("[ ]", []),
        Accepted("{}", [:]),
        Accepted("{ }", [:]),
        Accepted("[1,2]", [1, 2]),
        Accepted("[ 1 , 2 ]", [1, 2]),
        Accepted("[[],[[]],{}]", [[], [[]], [:]]),
        Accepted(#"{"a":1,"b":[true,null]}"#, ["a": 1, "b": [true, nil]]),
        Accepted(#" { "a" : { "b" : "c" } } "#, ["a": ["b": "c"]]),
        Accepted(#"{"":0}"#, ["": 0]),
        Accepted(#""""#, ""),
        Accepted(#""a""#, "a"),
        Accepted(#""exactly8""#, "exactly8"),
        Accepted(#""longer than one word of eight bytes""#, "longer than one word of eight bytes"),
        Accepted(#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        Accepted(#""before\nafter the escape it goes on""#, "before\nafter the escape it goes on"),
        Accepted(#""\u0041\u00e9\u20AC""#, "Aé€"),
        Accepted(#""\u0000""#, "\0"),
        Accepted(#""\ud83d\ude00""#, "😀"),
        Accepted(#""\uDBFF\uDFFF""#, "\u{10FFFF}"),
        Accepted(#""é€😀 and DEL \#u{7F}""#, "é€😀 and DEL \u{7F}"),
        Accepted("\"\u{2028}\u{2029}\u{FEFF}\u{FFFF}\"", "\u{2028}\u{2029}\u{FEFF}\u{FFFF}"),
        Accepted(#""\ud800""#, "\u{FFFD}"),
        Accepted(#""\udc00""#, "\u{FFFD}"),
        Accepted(#""\udc00\ud800""#, "\u{FFFD}\u{FFFD}"),
        Accepted(#""\ud800\ud83d\ude00""#, "\u{FFFD}😀"),
        Accepted(#""\ud800\u0041""#, "\u{FFFD}A"),
        Accepted(#""\ud800\n""#, "\u{FFFD}\n"),
        Accepted(#""\ud800x""#, "\u{FFFD}x"),
        Accepted("0", 0),
        Accepted("-1", -1),
        Accepted("10", 10),
        Accepted("1.5", 1.5),
        Accepted("-0.25", -0.25),
        Accepted("1e2", 100),
        Accepted("1E+2", 100),
        Accepted("125e-2", 1.25),
        Accepted("0e99999999999999999999", 0),
        Accepted("0.0000", 0),
        Accepted("1e400", .number(.infinity)),
        Accepted("-1e400", .number(-.infinity)),
        Accepted("1e-400", 0),
        Accepted("1e99999999999999999999", .number(.infinity)),
        Accepted("1e-99999999999999999999", 0),
    ]

    @Test(arguments: accepted)
    func `a document is read as JSON.parse reads it`(_ document: Accepted) throws {
        #expect(try JSONValue.parse(document.text) == document.value)
    }

    static let refused: [Refused] = [
        Refused("", .unexpectedEnd, at: 0),
        Refused("  ", .unexpectedEnd, at: 2),
        Refused("nul", .unexpectedEnd, at: 3),
        Refused("nulL", .unexpectedCharacter, at: 3),
        Refused("True", .unexpectedCharacter, at: 0),
        Refused("truefalse", .trailingContent, at: 4),
        Refused("undefined", .unexpectedCharacter, at: 0),
        Refused("NaN", .unexpectedCharacter, at: 0),
        Refused("Infinity", .unexpectedCharacter, at: 0),
        Refused("-Infinity", .invalidNumber, at: 1),
        Refused("'a'", .unexpectedCharacter, at: 0),
        Refused("// a\n1", .unexpectedCharacter, at: 0),
        Refused("1 2", .trailingContent, at: 2),
        Refused("[]]", .trailingContent, at: 2),
        Refused("1\0", .trailingContent, at: 1),
        Refused("\u{FEFF}1", .unexpectedCharacter, at: 0),
        Refused("\u{A0}1", .unexpectedCharacter, at: 0),
        Refused("\u{C}1", .unexpectedCharacter, at: 0),
        Refused("[", .unexpectedEnd, at: 1),
        Refused("[1", .unexpectedEnd, at: 2),
        Refused("[1,", .unexpectedEnd, at: 3),
        Refused("[1,]", .unexpectedCharacter, at: 3),
        Refused("[,1]", .unexpectedCharacter, at: 1),
        Refused("[1,,2]", .unexpectedCharacter, at: 3),
        Refused("[1 2]", .unexpectedCharacter, at: 3),
        Refused("[1}", .unexpectedCharacter, at: 2),
        Refused("{", .unexpectedEnd, at: 1),
        Refused("{,}", .unexpectedCharacter, at: 1),
        Refused("{]", .unexpectedCharacter, at: 1),
        Refused("{a:1}", .unexpectedCharacter, at: 1),
        Refused("{1:1}", .unexpectedCharacter, at: 1),
        Refused(#"{"a""#, .unexpectedEnd, at: 4),
        Refused(#"{"a"}"#, .unexpectedCharacter, at: 4),
        Refused(#"{"a":}"#, .unexpectedCharacter, at: 5),
        Refused(#"{"a":1,}"#, .unexpectedCharacter, at: 7),
        Refused(#"{"a":1,,"b":2}"#, .unexpectedCharacter, at: 7),
        Refused(#"{"a":1 "b":2}"#, .unexpectedCharacter, at: 7),
        Refused(#"{"a",1}"#, .unexpectedCharacter, at: 4),
        Refused(#""a"#, .unexpectedEnd, at: 2),
        Refused(#""a\"#, .unexpectedEnd, at: 3),
        Refused(#""\x41""#, .invalidEscape, at: 2),
        Refused(#""\U0041""#, .invalidEscape, at: 2),
        Refused(#""\'""#, .invalidEscape, at: 2),
        Refused(#""\u12"#, .unexpectedEnd, at: 5),
        Refused(#""\u12""#, .invalidEscape, at: 5),
        Refused(#""\u00G0""#, .invalidEscape, at: 5),
        Refused(#""\ud800\u00""#, .invalidEscape, at: 11),
        Refused("\"a\nb\"", .controlCharacter, at: 2),
        Refused("\"long enough for a word\tb\"", .controlCharacter, at: 23),
        Refused("\"\0\"", .controlCharacter, at: 1),
        Refused("\"\\n\u{1F}\"", .controlCharacter, at: 3),
        Refused("-", .unexpectedEnd, at: 1),
        Refused("--1", .invalidNumber, at: 1),
        Refused("+1", .unexpectedCharacter, at: 0),
        Refused("01", .invalidNumber, at: 1),
        Refused("-01", .invalidNumber, at: 2),
        Refused("00", .invalidNumber, at: 1),
        Refused(".5", .unexpectedCharacter, at: 0),
        Refused("1.", .unexpectedEnd, at: 2),
        Refused("[1.]", .invalidNumber, at: 3),
        Refused("1.e1", .invalidNumber, at: 2),
        Refused("1e", .unexpectedEnd, at: 2),
        Refused("1e+", .unexpectedEnd, at: 3),
        Refused("[1e]", .invalidNumber, at: 3),
        Refused("1ee1", .invalidNumber, at: 2),
        Refused("0x1", .trailingContent, at: 1),
        Refused("1_000", .trailingContent, at: 1),
        Refused("１", .unexpectedCharacter, at: 0),
    ]

    @Test(arguments: refused)
    func `a document that is not JSON is refused where it goes wrong`(_ document: Refused) {
        let error = parseError(document.text)
        #expect(error?.code == document.code)
        #expect(error?.offset == document.offset)
    }

    @Test(arguments: [
        ("", "Unexpected end of JSON input"),
        (#"{"a""#, "Unexpected end of JSON input"),
        (#"[1}"#, "Unexpected token '}' at position 2"),
        ("[é]", "Unexpected token 'é' at position 1"),
        ("\u{FEFF}1", "Unexpected token U+FEFF at position 0"),
        ("[\u{1}]", "Unexpected token U+0001 at position 1"),
        ("[01]", "Invalid number at position 2"),
        (#""\x""#, "Bad escaped character at position 2"),
        ("\"\n\"", "Bad control character in string literal at position 1"),
        ("1 secret", "Unexpected non-whitespace character after JSON at position 2"),
    ])
    func `an error says what is wrong in the manner of V8`(text: String, description: String) {
        #expect(parseError(text)?.description == description)
    }

    static let invalidUTF8: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80],
        [0xE0, 0x9F, 0xBF],
        [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
        [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF0, 0x9F, 0x98, 0x28],
        [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF],
    ]

    @Test(arguments: invalidUTF8)
    func `bytes that are not UTF-8 are refused wherever they stand`(_ bytes: [UInt8]) {
        for padding in 0...9 {
            let before = Array("\"".utf8) + Array(repeating: UInt8(ascii: "x"), count: padding)
            let error = parseError(before + bytes + Array("\"".utf8))
            #expect(error == JSONError(code: .invalidUTF8, offset: before.count))
        }
        #expect(parseError(bytes)?.code == .invalidUTF8)
    }

    static let sample = #"""
        {"objectId":"Ed1nuqPvcm","text":"tab\t \u00e9 \ud83d\ude00 ü € 😀","list":[1,-2.5e-3,1e21,true,false,null,{}],
         "ACL":{"*":{"read":true},"role:x":{"write":true}},"n":12345678901234567890.5,"empty":[]}
        """#

    @Test func `a document cut at any byte is an error`() throws {
        let bytes = Array(Self.sample.utf8)
        _ = try JSONValue.parse(bytes)
        for count in bytes.indices {
            let error = parseError(Array(bytes[..<count]))
            #expect(error?.code == .unexpectedEnd || error?.code == .invalidUTF8, "cut at \(count)")
        }
    }

    @Test func `a document with any one byte replaced never crashes and agrees with its own writing`() {
        var bytes = Array(Self.sample.utf8)
        for index in bytes.indices {
            let original = bytes[index]
            for replacement in [0x00, 0x22, 0x2C, 0x30, 0x5C, 0x5D, 0x65, 0x7D, 0x80, 0xFF] as [UInt8] {
                bytes[index] = replacement
                guard let value = try? JSONValue.parse(bytes) else { continue }
                #expect((try? JSONValue.parse(value.serialized())) == value)
            }
            bytes[index] = original
        }
    }

    @Test func `every overload reads the same, and a slice counts from its own start`() throws {
        let bytes = Array("xx[1}".utf8)
        #expect(parseError(Array(bytes[2...]))?.offset == 2)
        #expect(throws: JSONError.self) { try JSONValue.parse(bytes[2...]) }
        do throws(JSONError) {
            _ = try JSONValue.parse(bytes[2...])
        } catch {
            #expect(error.offset == 2)
        }
        let good = Array("xx[1]".utf8)
        #expect(try JSONValue.parse(good[2...]) == [1])
        #expect(try JSONValue.parse("[1]") == [1])
        #expect(try good[2...].withUnsafeBytes { try JSONValue.parse($0) } == [1])
        #expect(throws: JSONError(code: .unexpectedEnd, offset: 0)) {
            try JSONValue.parse(UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }
}
