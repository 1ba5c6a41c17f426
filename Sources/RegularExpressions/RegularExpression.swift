/// A compiled regular expression of PCRE2's syntax, in Unicode (PCRE2 10, `pcre2pattern(3)`).
///
/// Made for patterns that strangers send: what a pattern and a match cost is bounded, whatever they are. The bound
/// is a count of steps and not of time, so that the same pattern gives the same answer on the same text anywhere.
/// It may be used by several threads at once.
package struct RegularExpression: Sendable {
    /// How a pattern is read.
    package struct Options: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Letters match without regard to case (`i`).
        package static let ignoresCase = Options(rawValue: 1)
        /// `^` and `$` match at line ends too (`m`).
        package static let multiline = Options(rawValue: 2)
        /// White space and comments in the pattern count for nothing (`x`).
        package static let extended = Options(rawValue: 4)
        /// `.` matches a line end too (`s`).
        package static let dotMatchesLineEnds = Options(rawValue: 8)
    }

    /// The longest pattern, in bytes of UTF-8.
    package static let patternByteLimit = 8192

    package let pattern: String
    package let options: Options
    let compiled: CompiledPattern

    /// Compiles a pattern.
    ///
    /// Takes up to some milliseconds for the most costly patterns; see ``RegularExpressionCache``.
    ///
    /// - Throws: ``RegularExpressionError`` for what is no pattern or more than is allowed.
    package init(_ pattern: String, options: Options = []) throws(RegularExpressionError) {
        guard pattern.utf8.count <= Self.patternByteLimit else { throw .tooLong }
        self.pattern = pattern
        self.options = options
        compiled = try CompiledPattern(pattern, options)
    }

    /// Whether the pattern is found anywhere in the text.
    ///
    /// - Throws: ``RegularExpressionError/tooComplex`` when the search takes more work than it may.
    package func matches(_ text: String) throws(RegularExpressionError) -> Bool {
        var text = text
        let result: Result<Bool, RegularExpressionError> = text.withUTF8 { bytes in
            Result { () throws(RegularExpressionError) in
                try compiled.matches(UnsafeRawBufferPointer(bytes), isUTF8: true)
            }
        }
        return try result.get()
    }

    /// As ``matches(_:)-swift.method`` for bytes that may be anything; bytes that are no UTF-8 match nothing.
    package func matches(bytes: UnsafeRawBufferPointer) throws(RegularExpressionError) -> Bool {
        try compiled.matches(bytes, isUTF8: false)
    }
}
