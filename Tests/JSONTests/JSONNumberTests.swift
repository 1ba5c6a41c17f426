import JSON
import Testing

@Suite struct JSONNumberTests {
    /// Each with what `JSON.stringify(JSON.parse(text))` answers in V8.
    static let texts: [(String, String)] = [
        ("40", "40"),
        ("-40", "-40"),
        ("0.5", "0.5"),
        ("-0.5", "-0.5"),
        ("100", "100"),
        ("123456789", "123456789"),
        ("9007199254740991", "9007199254740991"),
        ("9007199254740992", "9007199254740992"),
        ("9007199254740993", "9007199254740992"),
        ("-9007199254740993", "-9007199254740992"),
        ("9007199254740994", "9007199254740994"),
        ("18014398509481984", "18014398509481984"),
        ("1e15", "1000000000000000"),
        ("1e16", "10000000000000000"),
        ("123456789012345680000", "123456789012345680000"),
        ("100000000000000000000", "100000000000000000000"),
        ("999999999999999900000", "999999999999999900000"),
        ("999999999999999999999", "1e+21"),
        ("1e21", "1e+21"),
        ("1.5e21", "1.5e+21"),
        ("1e22", "1e+22"),
        ("1e23", "1e+23"),
        ("-1e21", "-1e+21"),
        ("1e-5", "0.00001"),
        ("1e-6", "0.000001"),
        ("0.000001", "0.000001"),
        ("0.00000123", "0.00000123"),
        ("1e-7", "1e-7"),
        ("1.5e-7", "1.5e-7"),
        ("-1e-7", "-1e-7"),
        ("0.1", "0.1"),
        ("0.2", "0.2"),
        ("0.30000000000000004", "0.30000000000000004"),
        ("3.141592653589793", "3.141592653589793"),
        ("37.7749", "37.7749"),
        ("-122.41941550000001", "-122.41941550000001"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("-1.7976931348623157e308", "-1.7976931348623157e+308"),
        ("2.2250738585072014e-308", "2.2250738585072014e-308"),
        ("2.225073858507201e-308", "2.225073858507201e-308"),
        ("5e-324", "5e-324"),
        ("4.9e-324", "5e-324"),
        ("2.4703282292062328e-324", "5e-324"),
        ("2.4703282292062327e-324", "0"),
        ("1.1", "1.1"),
        ("1234.5678", "1234.5678"),
        ("4.35", "4.35"),
        ("0.1e1", "1"),
        ("10.0", "10"),
        ("1e0", "1"),
        ("12e-1", "1.2"),
        ("1.0e+2", "100"),
        ("9223372036854775807", "9223372036854776000"),
        ("9223372036854775808", "9223372036854776000"),
        ("18446744073709551615", "18446744073709552000"),
        ("18446744073709551616", "18446744073709552000"),
        ("12345678901234567890123", "1.2345678901234568e+22"),
        ("1.00000000000000011102230246251565", "1"),
        ("1.00000000000000011102230246251566", "1.0000000000000002"),
        ("1.000000000000000111022302462515650000000000000000000000000000000000000000001", "1"),
        ("0.500000000000000166533453693773481063544750213623046875", "0.5000000000000002"),
        ("8.41e21", "8.41e+21"),
        ("9.5367431640625e-7", "9.5367431640625e-7"),
        ("2e-323", "2e-323"),
        ("1.7976931348623158e308", "1.7976931348623157e+308"),
        ("1.7976931348623159e308", "null"),
        ("7.2057594037927933e16", "72057594037927940"),
        ("6.62607015e-34", "6.62607015e-34"),
        ("6.02214076e23", "6.02214076e+23"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("-0e5", "0"),
        ("1e400", "null"),
        ("-1e400", "null"),
    ]

    @Test(arguments: texts)
    func `a number is read and written as JavaScript does`(text: String, written: String) throws {
        #expect(try JSONValue.parse(text).serializedString() == written)
    }

    @Test func `minus zero keeps its sign when read`() throws {
        #expect(try JSONValue.parse("-0").numberValue?.sign == .minus)
        #expect(try JSONValue.parse("-0.0e-400").numberValue?.sign == .minus)
        #expect(try JSONValue.parse("-1e-400").numberValue?.sign == .minus)
    }

    @Test func `what is not finite is written as null`() {
        #expect(
            JSONValue.array([.number(.nan), .number(.infinity), .number(-.infinity)]).description
                == "[null,null,null]"
        )
    }

    @Test func `a point moved by a million zeros changes nothing`() throws {
        let zeros = String(repeating: "0", count: 1_000_000)
        #expect(try JSONValue.parse("1\(zeros)e-1000000") == 1)
        #expect(try JSONValue.parse("0.\(zeros)15e1000001") == 1.5)
        #expect(try JSONValue.parse("0.\(zeros)1") == 0)
        #expect(try JSONValue.parse("1\(zeros)") == .number(.infinity))
    }

    @Test func `a digit far behind the half-way point decides the rounding`() throws {
        // 1 + 2^-53 lies half-way between 1 and the next double.
        let half = "1.00000000000000011102230246251565404236316680908203125"
        let zeros = String(repeating: "0", count: 5000)
        #expect(try JSONValue.parse(half) == 1)
        #expect(try JSONValue.parse(half + zeros) == 1)
        #expect(try JSONValue.parse(half + zeros + "1") == .number(1.0.nextUp))
        #expect(try JSONValue.parse("-" + half + zeros + "1e0") == .number(-1.0.nextUp))
    }

    @Test func `any double survives being written and read`() throws {
        var random = SplitMix(seed: testSeed())
        for _ in 0..<20_000 {
            let value = Double(bitPattern: random.next())
            guard value.isFinite else { continue }
            let text = JSONValue.number(value).serializedString()
            #expect(try JSONValue.parse(text) == .number(value), "\(text), seed \(random.seed)")
        }
    }

    @Test func `short decimals are read as Swift reads them`() throws {
        var random = SplitMix(seed: testSeed())
        for _ in 0..<20_000 {
            let digits = random.next() >> UInt64.random(in: 0...63, using: &random)
            let text = "\(digits)e\(Int.random(in: -345...310, using: &random))"
            let expected = try #require(Double(text))
            #expect(try JSONValue.parse(text) == .number(expected), "\(text), seed \(random.seed)")
        }
    }
}
