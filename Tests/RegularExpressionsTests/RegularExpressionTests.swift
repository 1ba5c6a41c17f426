import RegularExpressions
import Testing

@Suite struct RegularExpressionTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let pattern: String
        let options: RegularExpression.Options
        let found: [String]
        let notFound: [String]

        init(
            _ pattern: String,
            _ options: RegularExpression.Options = [],
            found: [String],
            notFound: [String]
        ) {
            self.pattern = pattern
            self.options = options
            self.found = found
            self.notFound = notFound
        }

        var testDescription: String { pattern }
    }

    @Test(arguments: [
        Case("b", found: ["abc", "b"], notFound: ["", "B", "a"]),
        Case("^b", found: ["bc"], notFound: ["ab", "a\nb"]),
        Case("^b", .multiline, found: ["bc", "a\nb"], notFound: ["ab"]),
        Case("B", .ignoresCase, found: ["abc"], notFound: ["ac"]),
        Case("É", .ignoresCase, found: ["café"], notFound: ["cafe", "cafe\u{301}"]),
        Case("a.b", found: ["axb", "aéb", "a👍b"], notFound: ["ab", "a\nb"]),
        Case("a.b", .dotMatchesLineEnds, found: ["a\nb"], notFound: ["ab"]),
        Case("a b # letters", .extended, found: ["ab"], notFound: ["a b"]),
        Case(#"^\Qa.b\E"#, found: ["a.bc"], notFound: ["axb"]),
        Case(#"^\Q(*[\E$"#, found: ["(*["], notFound: ["(*[["]),
        Case(#"\Qa\E\\E\Qb\E"#, found: [#"a\Eb"#], notFound: ["ab"]),
        Case(#"(\w+) \1"#, found: ["say say"], notFound: ["say so"]),
        Case("(?<=a)b(?!c)", found: ["abd"], notFound: ["abc", "bd"]),
        Case("a\u{0}b", found: ["xa\u{0}b"], notFound: ["ab"]),
        Case("^.$", found: ["\u{0}", "ä"], notFound: ["", "ab"]),
        Case("", found: ["", "x"], notFound: []),
        Case(#"\d{3}-\d{4}"#, found: ["555-1234"], notFound: ["55-1234", "٣٣٣-٣٣٣٣"]),
        Case(#"^(?:(?=.*a)(?=.*b)).*$"#, found: ["xbya"], notFound: ["aa"]),
    ])
    func `a pattern is found or not`(_ example: Case) throws {
        let expression = try RegularExpression(example.pattern, options: example.options)
        for text in example.found { #expect(try expression.matches(text), "\(text)") }
        for text in example.notFound { #expect(try !expression.matches(text), "\(text)") }
    }

    @Test(arguments: [
        "(", "a)", "[", "*", "a**+", "\\", "(?<n>a)(?<n>b)", "a{2,1}", #"\C"#, "(?P<a", "\\p{Nope}",
    ])
    func `what is no pattern is refused with a reason`(_ pattern: String) {
        let error = #expect(throws: RegularExpressionError.self) { try RegularExpression(pattern) }
        guard case .invalid(let reason, _) = error else {
            Issue.record("\(pattern): \(String(describing: error))")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test func `a pattern may have 8192 bytes and not more`() throws {
        let long = "^" + String(repeating: "x", count: 8191)
        #expect(try RegularExpression(long).matches(String(repeating: "x", count: 9000)))
        #expect(throws: RegularExpressionError.tooLong) { try RegularExpression(long + "x") }
    }

    @Test func `bytes that are no text match nothing`() throws {
        let bytes: [UInt8] = [0x61, 0xFF, 0x62]
        let found = try bytes.withUnsafeBytes { try RegularExpression("a").matches(bytes: $0) }
        #expect(!found)
        let text = try Array("xa".utf8).withUnsafeBytes { try RegularExpression("a").matches(bytes: $0) }
        #expect(text)
    }

    struct Attack: Sendable, CustomTestStringConvertible {
        let pattern: String
        let text: String

        init(_ pattern: String, _ text: String) {
            self.pattern = pattern
            self.text = text
        }

        var testDescription: String { String(pattern.prefix(40)) + " on \(text.utf8.count) bytes" }
    }

    private static func many(_ text: String, _ count: Int) -> String {
        String(repeating: text, count: count)
    }

    /// Each takes from seconds to ages where nothing bounds it.
    static let attacks = [
        Attack("(a+)+$", many("a", 40) + "b"),
        Attack("(a|aa)+$", many("a", 60) + "b"),
        Attack("(a|a?)+$", many("a", 40) + "b"),
        Attack("^(([a-z])+.)+[A-Z]([a-z])+$", many("a", 60)),
        Attack("(.*)(.*)(.*)(.*)(.*)(.*)(.*)[xy]", many("a", 400)),
        Attack(".*.*.*.*.*.*[xy]", many("a", 2000)),
        Attack("a*a*a*a*a*a*a*[bc]", many("a", 3000)),
        Attack("(a(?R)?b?)+[cd]", many("a", 50)),
        Attack("a(?R)?b|a(?R)c|a(?R)d|a", many("a", 40)),
        Attack("(?R)?a?(?R)?[bc]", many("a", 40)),
        Attack("[^b]*b", many("a", 1_000_000)),
        Attack("[^b]*?c", many("a", 1_000_000)),
        Attack("(.*)\\1[xy]", many("a", 100_000)),
        Attack("(?=(a+))a*[bc]\\1", many("a", 20_000)),
        Attack(many("(a|a)", 300) + "[bc]", many("a", 300)),
        Attack(many("a?", 60) + many("a", 60) + "[bc]", many("a", 59)),
        Attack("(*NO_JIT)(a+)+$", many("a", 40) + "b"),
        Attack("(*LIMIT_MATCH=4000000000)(a+)+$", many("a", 40) + "b"),
        Attack("(x+x+)+[yz]", many("x", 1000)),
        Attack("((((a*)*)*)*)*[bc]", many("a", 1000)),
        Attack("(?>a+|b)*(?:a|b|ab)*[cd]", many("ab", 5000)),
        Attack("(?=.*a)(?=.*b)(?=.*c)(?:.|a)*[xyz]", many("abc", 20_000)),
        Attack(many("x", 900) + "[yz]|q", many("x", 100_000)),
        Attack("(?<=a{200})[bc]", many("a", 200_000)),
        Attack("(?:(?:a{1,100}){1,20})$", many("a", 5000) + "b"),
    ]

    @Test(arguments: attacks)
    func `no pattern holds up the server`(_ attack: Attack) throws {
        let start = ContinuousClock.now
        var outcome = ""
        do {
            outcome = try RegularExpression(attack.pattern).matches(attack.text) ? "found" : "not found"
        } catch RegularExpressionError.tooComplex {
            outcome = "too complex"
        }
        let time = ContinuousClock.now - start
        // Generous, because the machine may be busy; unbounded each takes seconds at least.
        #expect(time < .milliseconds(500), "\(outcome)")
    }

    @Test(arguments: ["(a+)+$", "(a|aa)+$", "(*NO_JIT)(a+)+$", "(*LIMIT_MATCH=4000000000)(a+)+$"])
    func `a search that does not end says so`(_ pattern: String) throws {
        let expression = try RegularExpression(pattern)
        let text = Self.many("a", 60) + "b"
        #expect(throws: RegularExpressionError.tooComplex) { try expression.matches(text) }
        #expect(throws: RegularExpressionError.tooComplex) { try expression.matches(text) }
        #expect(try expression.matches("aaa"))
    }

    static let bombs = [
        "((((((a{1,50}){1,50}){1,50}){1,50}){1,50}){1,50}){1,50}", many("(", 3000) + many(")", 3000),
        many("(?<n", 1) + ">a)" + many("(?1)", 1500), many("a|", 4000), many("[^a-z]{1,9}", 700),
        many("(?:a{0,99})", 700), many("(?=a", 90) + many(")", 90), many("\\p{L}", 1600),
        many("(a?){0,200}", 600),
        many("x{65535}", 900), many("(?|(a)|(b))", 700), many("[\u{400}-\u{4FF}\\p{Lu}]+", 400),
    ]

    @Test(arguments: bombs)
    func `no pattern takes long to compile`(_ pattern: String) {
        let clock = ContinuousClock()
        var outcome = "fine"
        let start = clock.now
        do { _ = try RegularExpression(pattern, options: .ignoresCase) } catch { outcome = "\(error)" }
        let time = clock.now - start
        #expect(time < .milliseconds(500), "\(outcome)")
    }

    @Test func `ordinary searches in long texts are allowed`() throws {
        let text = Self.many("The quick brown fox jumps over the lazy dog. ", 2000) + "needle"
        for pattern in [
            "needle$", ".*needle", "(quick|slow) brown.*needle", "[a-z]+ needle|needle", "(?i)NEEDLE",
        ] {
            #expect(try RegularExpression(pattern, options: .dotMatchesLineEnds).matches(text), "\(pattern)")
        }
    }

    @Test func `one expression serves many threads`() async throws {
        let expression = try RegularExpression("(a+)(b+)c")
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask { try expression.matches("xx\(number % 2 == 0 ? "aabbc" : "aabb")") }
            }
            var found = 0
            for try await result in group where result { found += 1 }
            #expect(found == 100)
        }
    }
}

@Suite struct RegularExpressionCacheTests {
    @Test func `a pattern is compiled once for each set of options`() throws {
        let cache = RegularExpressionCache(countLimit: 10, byteLimit: 1 << 20)
        for _ in 0..<3 { _ = try cache.expression("a+") }
        #expect(cache.count == 1)
        _ = try cache.expression("a+", options: .ignoresCase)
        #expect(cache.count == 2)
    }

    @Test func `patterns that only look the same are two`() throws {
        let cache = RegularExpressionCache(countLimit: 10, byteLimit: 1 << 20)
        #expect(try cache.expression("^\u{E9}$").matches("\u{E9}"))
        #expect(try !cache.expression("^e\u{301}$").matches("\u{E9}"))
        #expect(cache.count == 2)
    }

    @Test func `the one not used for the longest time goes`() throws {
        let cache = RegularExpressionCache(countLimit: 3, byteLimit: 1 << 20)
        for pattern in ["a", "b", "c", "a", "d"] { _ = try cache.expression(pattern) }
        #expect(cache.count == 3)
        _ = try cache.expression("a")
        #expect(cache.count == 3)
    }

    @Test func `their memory is bounded`() throws {
        let cache = RegularExpressionCache(countLimit: 1000, byteLimit: 20_000)
        for number in 0..<100 { _ = try cache.expression("(x+y\(number))+z") }
        #expect(cache.count < 40)
        #expect(cache.count >= 1)
    }

    @Test func `what fails is not kept`() {
        let cache = RegularExpressionCache(countLimit: 3, byteLimit: 1 << 20)
        #expect(throws: RegularExpressionError.self) { try cache.expression("(") }
        #expect(cache.count == 0)
    }
}
