/// Splits texts into words: runs of letters, digits, marks on them, and `_`.
enum Words {
    /// The words of a text in order, as they stand there.
    static func of(_ text: some StringProtocol, _ language: TextLanguage) -> [Substring] {
        var words: [Substring] = []
        let scalars = Substring(text).unicodeScalars
        var start: String.Index?
        var index = scalars.startIndex
        while index < scalars.endIndex {
            if isPart(scalars[index]) || isApostrophe(at: index, of: scalars, language) {
                if start == nil { start = index }
            } else if let first = start {
                words.append(Substring(scalars[first..<index]))
                start = nil
            }
            index = scalars.index(after: index)
        }
        if let first = start { words.append(Substring(scalars[first...])) }
        return words
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return (0x61...0x7A).contains(scalar.value | 0x20) || (0x30...0x39).contains(scalar.value)
                || scalar == "_"
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .nonspacingMark,
            .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
            return true
        default: return false
        }
    }

    /// Whether an apostrophe with letters on both sides stands here, where the language takes it for one of them.
    private static func isApostrophe(
        at index: String.Index,
        of scalars: Substring.UnicodeScalarView,
        _ language: TextLanguage
    ) -> Bool {
        guard language.joinsApostrophes, scalars[index] == "'" || scalars[index] == "\u{2019}",
            index > scalars.startIndex, isPart(scalars[scalars.index(before: index)])
        else { return false }
        let next = scalars.index(after: index)
        return next < scalars.endIndex && isPart(scalars[next])
    }

    /// The text with letters in place of letters that carry marks.
    static func withoutMarks(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if let letter = MarkedLetters.plain[scalar] {
                plain.append(letter)
            } else if !isMark(scalar) {
                plain.append(scalar)
            }
        }
        return String(plain)
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .nonspacingMark
            && (scalar.properties.isDiacritic || (0x300...0x36F).contains(scalar.value))
    }
}
