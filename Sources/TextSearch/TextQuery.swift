/// Words to find in texts, as MongoDB's `$text` has them (MongoDB manual, "$text").
///
/// A text matches when it has one of the words, all phrases in quotes, and nothing of what stands behind `-`. Words are
/// compared by their stems; the most common words of the language count for nothing.
package struct TextQuery: Sendable {
    /// The longest query, in bytes of UTF-8.
    package static let byteLimit = 4096

    private let words: Set<String>
    private let excludedWords: Set<String>
    private let phrases: [[UInt8]]
    private let excludedPhrases: [[UInt8]]
    private let reading: Reading

    /// What makes two words the same.
    fileprivate struct Reading: Sendable {
        let language: TextLanguage
        let isCaseSensitive: Bool
        let isDiacriticSensitive: Bool
    }

    /// Reads a query: words, phrases in `"`, and either with a `-` in front.
    ///
    /// - Throws: ``TextSearchError/tooLong``.
    package init(
        _ term: String,
        language: TextLanguage = .english,
        isCaseSensitive: Bool = false,
        isDiacriticSensitive: Bool = false
    ) throws(TextSearchError) {
        guard term.utf8.count <= Self.byteLimit else { throw .tooLong }
        reading = Reading(
            language: language,
            isCaseSensitive: isCaseSensitive,
            isDiacriticSensitive: isDiacriticSensitive
        )
        let parts = TermParts(term)
        // The words of a phrase are searched too, so that it has a score.
        words = Set(reading.stems(of: (parts.loose + parts.phrases).joined(separator: " ")))
        excludedWords = Set(reading.stems(of: parts.excluded.joined(separator: " ")))
        phrases = parts.phrases.map(reading.folded)
        excludedPhrases = parts.excludedPhrases.map(reading.folded)
    }

    /// How well the text matches, more than 0; `nil` when it does not.
    ///
    /// Of n words of the text, c the one searched for: (0.5 + 0.5 · c / n) · (1 + ½ + ¼ + … c terms), added up over
    /// the words of the query.
    package func score(of text: String) -> Double? {
        let stems = reading.stems(of: text)
        var counts: [String: Int] = [:]
        for stem in stems {
            if excludedWords.contains(stem) { return nil }
            if words.contains(stem) { counts[stem, default: 0] += 1 }
        }
        guard !counts.isEmpty, holdsPhrases(text) else { return nil }
        // In order, so that equal texts have equal sums.
        return counts.values.sorted().reduce(0) { sum, count in
            let share = 0.5 + 0.5 * Double(count) / Double(stems.count)
            let frequency = 2 - Double(sign: .plus, exponent: 1 - min(count, 60), significand: 1)
            return sum + share * frequency
        }
    }

    private func holdsPhrases(_ text: String) -> Bool {
        guard !phrases.isEmpty || !excludedPhrases.isEmpty else { return true }
        let folded = reading.folded(text)
        return phrases.allSatisfy { folded.holds($0) } && !excludedPhrases.contains { folded.holds($0) }
    }
}

/// Why words cannot be searched for.
package enum TextSearchError: Error, Hashable, Sendable {
    case tooLong
}

extension TextQuery.Reading {
    /// The stems of the words of a text in order, without the most common words.
    func stems(of text: String) -> [String] {
        Stemmer.with(language) { stem in
            Words.of(text, language).compactMap { word in
                let lower = word.lowercased()
                if StopWords.contains(lower, of: language) { return nil }
                let stemmed = stem(isCaseSensitive ? String(word) : lower)
                return isDiacriticSensitive ? stemmed : Words.withoutMarks(stemmed)
            }
        }
    }

    /// The form in which a phrase is searched.
    func folded(_ text: String) -> [UInt8] {
        let cased = isCaseSensitive ? text : text.lowercased()
        return Array((isDiacriticSensitive ? cased : Words.withoutMarks(cased)).utf8)
    }
}

extension [UInt8] {
    /// Whether the bytes are found here; takes time in proportion to the sum of both lengths (Knuth, Morris, Pratt).
    fileprivate func holds(_ part: [UInt8]) -> Bool {
        guard !part.isEmpty else { return true }
        let overlaps = part.overlaps
        var matched = 0
        for byte in self {
            while matched > 0, part[matched] != byte { matched = overlaps[matched - 1] }
            if part[matched] == byte { matched += 1 }
            if matched == part.count { return true }
        }
        return false
    }

    /// For each beginning of the bytes: how many bytes at its end are also a shorter beginning.
    private var overlaps: [Int] {
        var overlaps = [Int](repeating: 0, count: count)
        var matched = 0
        for index in indices.dropFirst() {
            while matched > 0, self[matched] != self[index] { matched = overlaps[matched - 1] }
            if self[matched] == self[index] { matched += 1 }
            overlaps[index] = matched
        }
        return overlaps
    }
}
