import JSON
import ParseCore
import ParsePostgres
import ParseWire
import StorageTestSupport
import TestSupport
import Testing

/// Patterns in PostgreSQL's syntax against the same in PCRE's.
@Suite(.enabled(if: PostgresServer.isInstalled), .timeLimit(.minutes(3)))
struct PatternTranslatorTests {
    private static let texts = [
        "", "a", "A", "b", "ab", "abc", "a\n", "a\nb", "\na", "\n", "aa\n\n", "a b", "a_b", "é", "É", "ß",
        "ẞ", "SS",
        "σ", "ς", "Σ", "k", "\u{212A}", "ſ", "s", "S", "ı", "i", "I", "İ", "1", "٣", "\t", "\u{B}", "\u{85}",
        "\u{A0}", "a.c", "[x]", "a-c", "\\d", "^", "$", "#", "a#b", "{2}", "a{2}", "\u{1F600}", "K\u{300}",
        "]", "-",
        "foo", "foobar", "barfoo", "x\r\ny",
    ]

    private static let patterns = [
        "", "a", "^a", "a$", "^a$", "^$", "^", "$", "a|b", "a||b", "(a)(b)?", "(?:ab)+", "a*?b", "a{2}",
        "a{2,}?", "{2}",
        "a{", "[abc]", "[^abc]", "[]a]", "[^]a]", "[a-]", "[\\]\\-]", "[\\w-]", "[\\d\\s]", "[^\\W_]",
        "[[:alpha:]]",
        "[[:space:]x]", "\\w", "\\W", "\\d", "\\D", "\\s", "\\S", "\\b", "\\B", "\\ba", "a\\b", "\\Aa",
        "a\\z", "a\\Z",
        "\\.", "\\$", "\\^", "\\\\", "\\#", "\\n", "\\t", "\\x41", "\\x{1F600}", "\\Qa.c\\E", "\\Q[x]",
        "a\\Q\\Eb", ".",
        "a.b", "^.$", "(?s)a.b", "(?i)A", "(?i:a)B", "a(?i)B", "(?-i)a", "(?m)^b", "(?m)a$", "(?=a)",
        "(?!a)b",
        "foo(?=bar)", "foo(?!bar)", "(?<=bar)foo", "(?<!bar)foo", "(?#comment)a", "(?<name>a)b",
        "(?P<name>a)",
        "(?x) a # b\n b", "a #", "(?i)ß", "(?i)σ", "(?i)k", "(?i)[a-z]", "(?i)s", "(?i)ı", "(?i)i",
        "(?i)[à-ý]",
        "\\N", "^\\s*$", "(a|b)*c", "((a))", "(|a)b", "[\\x41-\\x43]", "[a-c[]", "\\/", "a\\-c", "é", "[é-ü]",
    ]

    private static let optionSets: [TextPattern.Options] = [
        [], .ignoresCase, .multiline, .dotMatchesLineEnds, .extended,
        [.ignoresCase, .multiline, .dotMatchesLineEnds],
    ]

    @Test func `a pattern is found in the same texts as by PCRE`() async throws {
        let test = try await TestDatabase()
        let rows = Self.texts.enumerated().map {
            TestDatabase.row("r\($0.offset)", ["s": .string($0.element), "a": .array([.string($0.element)])])
        }
        try await test.store("C", [("s", .string), ("a", .array)], rows)
        var compared = 0
        for pattern in Self.patterns {
            for options in Self.optionSets {
                let textPattern = TextPattern(pattern, options: options)
                guard (try? textPattern.compiled()) != nil else { continue }
                compared += try await compare(textPattern, rows, in: test)
            }
        }
        #expect(compared > 450)
    }

    @Test func `random patterns are found in the same texts as by PCRE`() async throws {
        var random = RandomSource(seed: RandomSource.seed(for: "PatternTranslator"))
        let test = try await TestDatabase()
        let rows = Self.texts.enumerated().map {
            TestDatabase.row("r\($0.offset)", ["s": .string($0.element)])
        }
        try await test.store("C", [("s", .string), ("a", .array)], rows)
        let parts = [
            "a", "b", "S", "é", "k", ".", "^", "$", "\\b", "\\w", "\\d", "\\s", "\\W", "[ab]", "[^a]",
            "[a-s]", "(", ")",
            "(?:", "|", "*", "+", "?", "{1,2}", "(?=", "(?!", "(?<=a)", "(?<!b)", "(?i)", "(?m)", "(?s)", " ",
            "\\n",
        ]
        var compared = 0
        for _ in 0..<4000 {
            let pattern = (0..<1 + random.next(7)).map { _ in random.pick(parts) }.joined()
            let textPattern = TextPattern(pattern, options: random.pick(Self.optionSets))
            guard (try? textPattern.compiled()) != nil else { continue }
            compared += try await compare(textPattern, rows, in: test)
        }
        #expect(compared > 500)
    }

    /// - Returns: 1 when there was something to compare, 0 for a pattern that PostgreSQL has not.
    private func compare(_ pattern: TextPattern, _ rows: [StoredRow], in test: TestDatabase) async throws
        -> Int
    {
        let predicates: [Predicate] = [.matches("s", pattern), .matches("a", pattern)]
        for predicate in predicates {
            let matcher = try PredicateMatcher(predicate, schema: test.storage.schema["C"])
            guard let expected = try? rows.filter({ try matcher.matches($0) }).map(\.objectID) else {
                return 0
            }
            do {
                let found = try await test.ids("C", predicate)
                #expect(found == expected, "\(pattern)")
            } catch StorageError.refused(let error) {
                #expect(error.code == .invalidQuery, "\(pattern)")
                return 0
            }
        }
        return 1
    }

    @Test(arguments: [
        ("(a)\\1", "\\1"), ("(?>a)", "group of the kind (?>"), ("a++", "possessive repetition"),
        ("a{256}", "repetition more than 255 times"), ("\\p{L}", "\\p"), ("(?R)", "group of the kind (?R"),
        ("\\x00", "character \\x00"), ("(*UCP)a", "verb"),
    ])
    func `what PostgreSQL has not is named`(_ pattern: String, _ what: String) async throws {
        let test = try await TestDatabase()
        try await test.store("C", [("s", .string)], [])
        do {
            _ = try await test.find("C", .matches("s", TextPattern(pattern)))
            Issue.record("it was taken")
        } catch StorageError.refused(let error) {
            #expect(error.code == .invalidQuery)
            #expect(
                error.message
                    == "The regular expression cannot be used with this database: it has no \(what)."
            )
        }
    }
}
