import CStemmer
import Locking

/// Cuts the endings off words by the Snowball algorithms (https://snowballstem.org).
// SAFETY: the one who took it has it for itself until it is given back.
final class Stemmer: @unchecked Sendable {
    private let stemmer: OpaquePointer

    /// So many are kept of each language.
    private static let keptLimit = 8
    /// Longer words are left as they are.
    private static let wordByteLimit = 256
    private static let kept = Locked<[TextLanguage: [Stemmer]]>([:])

    private init?(_ language: TextLanguage) {
        guard language != .none, let stemmer = sb_stemmer_new(language.rawValue, nil) else { return nil }
        self.stemmer = stemmer
    }

    deinit {
        sb_stemmer_delete(stemmer)
    }

    /// Gives `body` a function that stems words of the language.
    static func with<Result>(_ language: TextLanguage, _ body: ((String) -> String) -> Result) -> Result {
        guard let stemmer = kept.withLock({ $0[language]?.popLast() }) ?? Stemmer(language) else {
            return body { $0 }
        }
        defer {
            kept.withLock { kept in
                if kept[language, default: []].count < keptLimit {
                    kept[language, default: []].append(stemmer)
                }
            }
        }
        return body { stemmer.stem($0) }
    }

    private func stem(_ word: String) -> String {
        let bytes = Array(word.utf8)
        guard bytes.count <= Self.wordByteLimit,
            // SAFETY: the library reads the word during the call; what it gives stays until the next call.
            let stem = sb_stemmer_stem(stemmer, bytes, Int32(bytes.count))
        else { return word }
        let count = Int(sb_stemmer_length(stemmer))
        return String(decoding: UnsafeBufferPointer(start: stem, count: count), as: UTF8.self)
    }
}
