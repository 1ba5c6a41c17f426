/// Why a regular expression cannot be used, or gave up on a text.
package enum RegularExpressionError: Error, Hashable, Sendable {
    /// It is no regular expression; what is wrong in PCRE2's words, and at which byte of the pattern.
    case invalid(reason: String, offset: Int)
    /// The pattern has more than ``RegularExpression/patternByteLimit`` bytes.
    case tooLong
    /// It cannot be compiled within the limits, or it takes more work on a text than any search may.
    case tooComplex
}
