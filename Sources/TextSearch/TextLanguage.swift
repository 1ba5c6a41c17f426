/// A language whose words are stemmed and whose most common words are left out.
package enum TextLanguage: String, CaseIterable, Hashable, Sendable {
    case danish, dutch, english, finnish, french, german, hungarian, italian, norwegian, portuguese, romanian
    case russian, spanish, swedish, turkish
    /// No language: no word is stemmed or left out.
    case none

    /// The language of that name or ISO 639-1 code, as MongoDB's text search knows them, without regard to case.
    package init?(name: String) {
        let name = name.lowercased()
        guard let language = Self(rawValue: name) ?? Self.codes[name] else { return nil }
        self = language
    }

    private static let codes: [String: TextLanguage] = [
        "da": .danish, "nl": .dutch, "en": .english, "fi": .finnish, "fr": .french, "de": .german,
        "hu": .hungarian, "it": .italian, "nb": .norwegian, "no": .norwegian, "pt": .portuguese,
        "ro": .romanian,
        "ru": .russian, "es": .spanish, "sv": .swedish, "tr": .turkish,
    ]

    /// Whether an apostrophe between letters belongs to the word (`don't`) or ends one (`l'eau`).
    var joinsApostrophes: Bool {
        self == .english
    }
}
