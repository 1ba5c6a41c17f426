import Cryptography
import ParseWire

/// The name that a client gives a file (Parse REST guide, "Files").
struct FileName: Sendable {
    private static let limit = 128

    let text: String

    /// - Parameter text: Decoded; `nil` for a name that could not be.
    /// - Throws: ``ParseError`` 122 for a name that is too long or holds what a name may not hold.
    init(_ text: String?) throws(ParseError) {
        guard let text else { throw Self.invalid }
        guard text.utf16.count <= Self.limit else { throw ParseError(.invalidFileName, "Filename too long.") }
        guard let first = text.utf8.first, Self.isWord(first) || first == UInt8(ascii: "_"),
            text.utf8.allSatisfy({ Self.isWord($0) || "@. ~_-".utf8.contains($0) })
        else { throw Self.invalid }
        self.text = text
    }

    /// What follows the last dot; `nil` without a dot, or when nothing follows it.
    static func pathExtension(of name: String) -> String? {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let text = name[name.utf8.index(after: dot)...]
        return text.isEmpty ? nil : String(text)
    }

    /// The extension that the upload policy looks at, without blanks: of the name, else what its type says.
    func checkedExtension(_ type: MediaType?) -> String? {
        let text = Self.pathExtension(of: text) ?? type?.subtype
        guard let bare = text?.filter({ $0 != " " }), !bare.isEmpty else { return nil }
        return bare
    }

    /// The name that the file is kept under.
    ///
    /// It gets the usual extension of its type where it has none, and in front of it, unless names are preserved,
    /// what nobody can guess.
    func stored(_ type: MediaType?, isPreserved: Bool) -> String {
        var name = text
        if !text.utf8.contains(UInt8(ascii: ".")), let known = type?.usualExtension { name += "." + known }
        return isPreserved ? name : SecureRandom.hex(byteCount: 16) + "_" + name
    }

    private static let invalid = ParseError(.invalidFileName, "Filename contains invalid characters.")

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        default: false
        }
    }
}
