/// Why a document was refused, and where.
package struct JSONError: Error, Sendable, Hashable {
    package enum Code: Sendable, Hashable {
        /// The document ends before its value does, or is empty.
        case unexpectedEnd
        /// A byte that cannot come here.
        case unexpectedCharacter
        /// A leading zero, or a sign, point or exponent without a digit after it.
        case invalidNumber
        /// A backslash followed by something that is not an escape.
        case invalidEscape
        /// A character below U+0020 within a string.
        case controlCharacter
        /// Bytes that are not UTF-8 as RFC 3629 defines it.
        case invalidUTF8
        /// Deeper than ``JSONLimits/depth``.
        case tooDeep
        /// Longer than ``JSONLimits/bytes``.
        case tooLarge
        /// More values than ``JSONLimits/values``.
        case tooManyValues
        /// Something but white space after the value.
        case trailingContent
    }

    package let code: Code

    /// Where, in bytes from the start of the document.
    package let offset: Int

    /// The character at `offset`, for the codes whose description shows it.
    private let character: Unicode.Scalar?

    package init(code: Code, offset: Int) {
        self.init(code: code, offset: offset, character: nil)
    }

    init(code: Code, offset: Int, character: Unicode.Scalar?) {
        self.code = code
        self.offset = offset
        self.character = character
    }
}

extension JSONError: CustomStringConvertible {
    /// A sentence in V8's manner that shows at most one character of the document.
    package var description: String {
        switch code {
        case .unexpectedEnd: "Unexpected end of JSON input"
        case .unexpectedCharacter: "Unexpected token \(shownCharacter) at position \(offset)"
        case .invalidNumber: "Invalid number at position \(offset)"
        case .invalidEscape: "Bad escaped character at position \(offset)"
        case .controlCharacter: "Bad control character in string literal at position \(offset)"
        case .invalidUTF8: "Invalid UTF-8 at position \(offset)"
        case .tooDeep: "JSON nested too deeply at position \(offset)"
        case .tooLarge: "JSON input longer than \(offset) bytes"
        case .tooManyValues: "Too many JSON values at position \(offset)"
        case .trailingContent: "Unexpected non-whitespace character after JSON at position \(offset)"
        }
    }

    private var shownCharacter: String {
        guard let character else { return "here" }
        switch character.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .nonspacingMark, .enclosingMark, .spacingMark:
            let digits = String(character.value, radix: 16, uppercase: true)
            return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        default:
            return "'\(character)'"
        }
    }
}
