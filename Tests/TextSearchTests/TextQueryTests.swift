import TextSearch
import Testing

@Suite struct TextQueryTests {
    private func score(
        _ term: String,
        _ text: String,
        _ language: TextLanguage = .english,
        caseSensitive: Bool = false,
        diacriticSensitive: Bool = false
    ) throws -> Double? {
        try TextQuery(
            term,
            language: language,
            isCaseSensitive: caseSensitive,
            isDiacriticSensitive: diacriticSensitive
        ).score(of: text)
    }

    @Test(
        arguments: [
            ("coffee", "coffee", 1), ("coffee", "Coffee Shopping", 0.75),
            ("coffee", "coffee and cream", 0.75),
            ("coffee", "Baking a cake", nil), ("coffee", "", nil), ("coffee", "coffeehouse", nil),
            // Twice the same word: (0.5 + 0.5 · 2/4) · 1.5.
            ("coffee", "coffee, more coffee: good thing", 1.125),
            // Two words of the query: 0.75 each.
            ("coffee cream", "coffee and cream", 1.5), ("coffee coffee", "coffee and cream", 0.75),
            ("coffee -cream", "coffee and cream", nil), ("coffee -tea", "coffee and cream", 0.75),
            ("-tea", "coffee", nil), ("the", "the the", nil), ("", "anything", nil),
            ("\"coffee and\"", "coffee and cream", 0.75), ("\"and coffee\"", "coffee and cream", nil),
            ("tea \"coffee and\"", "coffee and cream", 0.75),
            ("coffee \"ice cream\"", "coffee and cream", nil),
            ("coffee -\"and cream\"", "coffee and cream", nil),
            ("coffee -\"ice cream\"", "coffee and cream", 0.75),
            ("\"coffee", "coffee", 1), ("\"\"", "x", nil), ("coffee-house", "coffee", 1),
            ("- coffee", "coffee", 1),
            ("running", "He runs daily", 0.75), ("don't", "don't", nil), ("o'brien", "O'Brien", 1),
        ] as [(String, String, Double?)]
    )
    func `a text has a score when it has the words`(_ term: String, _ text: String, _ expected: Double?)
        throws
    {
        #expect(try score(term, text) == expected)
    }

    @Test func `case and marks count when they are asked to`() throws {
        #expect(try score("CAFE", "the café") == 1)
        #expect(try score("café", "the cafe\u{301}") == 1)
        #expect(try score("Cafe", "the cafe", caseSensitive: true) == nil)
        #expect(try score("Cafe", "the Cafe", caseSensitive: true) == 1)
        #expect(try score("cafe", "the café", diacriticSensitive: true) == nil)
        #expect(try score("Café", "the café", diacriticSensitive: true) == 1)
        #expect(try score("\"a CAFÉ\"", "in a cafe here") != nil)
        #expect(try score("\"a CAFÉ\"", "in a cafe here", caseSensitive: true) == nil)
    }

    @Test(
        arguments: [
            (.portuguese, "preparar", "Estamos preparando o jantar"), (.german, "häuser", "ein großes Haus"),
            (.french, "chevaux", "deux chevaux"), (.french, "eau", "de l'eau"),
            (.spanish, "correr", "está corriendo"),
            (.russian, "книга", "много книг"), (.swedish, "bilarna", "en bil"), (.none, "the", "the"),
            (.italian, "gatti", "il gatto"), (.dutch, "boeken", "een boek"), (.turkish, "evler", "ev"),
        ] as [(TextLanguage, String, String)]
    )
    func `other forms of a word are found by their language`(
        _ language: TextLanguage,
        _ term: String,
        _ text: String
    ) throws {
        #expect(try score(term, text, language) != nil)
    }

    @Test func `without a language no word has forms`() throws {
        #expect(try score("running", "runs", .none) == nil)
        #expect(try score("preparar", "preparando", .english) == nil)
    }

    @Test func `languages have names and codes`() {
        #expect(TextLanguage(name: "PORTUGUESE") == .portuguese)
        #expect(TextLanguage(name: "pt") == .portuguese)
        #expect(TextLanguage(name: "none") == TextLanguage.none)
        #expect(TextLanguage(name: "klingon") == nil)
        #expect(TextLanguage(name: "") == nil)
    }

    @Test(arguments: TextLanguage.allCases)
    func `each language has an algorithm and words to leave out`(_ language: TextLanguage) throws {
        // A word of no language is found by itself, whatever the algorithm makes of it.
        #expect(try score("zyxabc", "zyxabc", language) == 1)
        let common = [
            TextLanguage.danish: "og", .dutch: "het", .english: "the", .finnish: "ja", .french: "les",
            .german: "der", .hungarian: "egy", .italian: "gli", .norwegian: "og", .portuguese: "os",
            .romanian: "și", .russian: "и", .spanish: "los", .swedish: "och", .turkish: "ve",
        ]
        if let word = common[language] { #expect(try score(word, word, language) == nil) }
    }

    @Test func `a query may have 4096 bytes and not more`() throws {
        _ = try TextQuery(String(repeating: "x", count: 4096))
        #expect(throws: TextSearchError.tooLong) { try TextQuery(String(repeating: "x", count: 4097)) }
    }

    @Test func `a long text of one letter does not hold up a phrase`() throws {
        let text = String(repeating: "a", count: 200_000)
        let start = ContinuousClock.now
        #expect(try score("\"" + String(repeating: "a", count: 2000) + "b\" aaa", text) == nil)
        #expect(ContinuousClock.now - start < .seconds(5))
    }

    @Test func `many threads may search at once`() async throws {
        let query = try TextQuery("running shoes")
        await withTaskGroup(of: Double?.self) { group in
            for _ in 0..<200 { group.addTask { query.score(of: "a shoe that runs") } }
            for await score in group { #expect(score == 1.5) }
        }
    }
}
