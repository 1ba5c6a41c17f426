/// The parts of a query text.
struct TermParts {
    var loose: [String] = []
    var excluded: [String] = []
    var phrases: [String] = []
    var excludedPhrases: [String] = []

    /// A `-` counts where a word or phrase begins; a quotation mark that is not closed is left out.
    init(_ term: String) {
        let scalars = Array(term.unicodeScalars)
        var index = 0
        while index < scalars.count {
            if scalars[index].properties.isWhitespace {
                index += 1
                continue
            }
            let isExcluded = scalars[index] == "-"
            if isExcluded { index += 1 }
            if index < scalars.count, scalars[index] == "\"" {
                takePhrase(scalars, &index, isExcluded)
            } else {
                takeWord(scalars, &index, isExcluded)
            }
        }
    }

    private mutating func takePhrase(_ scalars: [Unicode.Scalar], _ index: inout Int, _ isExcluded: Bool) {
        index += 1
        guard let end = scalars[index...].firstIndex(of: "\"") else { return }
        let phrase = Self.text(scalars[index..<end])
        index = end + 1
        guard phrase.contains(where: { !$0.isWhitespace }) else { return }
        if isExcluded { excludedPhrases.append(phrase) } else { phrases.append(phrase) }
    }

    private mutating func takeWord(_ scalars: [Unicode.Scalar], _ index: inout Int, _ isExcluded: Bool) {
        let end =
            scalars[index...].firstIndex { $0.properties.isWhitespace || $0 == "\"" } ?? scalars.endIndex
        let word = Self.text(scalars[index..<end])
        index = end
        if isExcluded { excluded.append(word) } else { loose.append(word) }
    }

    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return String(view)
    }
}
