import ParseWire
package import RegularExpressions
package import TextSearch

extension TextPattern {
    /// The compiled pattern, from the cache of the process.
    ///
    /// - Throws: ``ParseError``: 1 for what is no regular expression (Parse has no other code for it), 102 for one
    ///   that is longer or more complicated than allowed.
    package func compiled() throws(ParseError) -> RegularExpression {
        var options: RegularExpression.Options = []
        if self.options.contains(.ignoresCase) { options.insert(.ignoresCase) }
        if self.options.contains(.multiline) { options.insert(.multiline) }
        if self.options.contains(.extended) { options.insert(.extended) }
        if self.options.contains(.dotMatchesLineEnds) { options.insert(.dotMatchesLineEnds) }
        do {
            return try RegularExpressionCache.shared.expression(pattern, options: options)
        } catch {
            throw ParseError(error)
        }
    }
}

extension RegularExpression {
    /// Whether it is found in the text.
    ///
    /// - Throws: ``ParseError`` 102 when the search takes more work than it may.
    package func isFound(in text: String) throws(ParseError) -> Bool {
        do {
            return try matches(text)
        } catch {
            throw ParseError(error)
        }
    }
}

extension ParseError {
    /// What a client is told of a regular expression that cannot be used.
    package init(_ error: RegularExpressionError) {
        switch error {
        case .invalid(let reason, let offset):
            self.init(
                .internalServerError,
                "The regular expression is invalid: \(reason) (at byte \(offset))."
            )
        case .tooLong:
            self.init(
                .invalidQuery,
                "A regular expression may have at most \(RegularExpression.patternByteLimit) bytes."
            )
        case .tooComplex:
            self.init(.invalidQuery, "The regular expression takes too much work. Make it simpler.")
        }
    }
}

extension TextSearch {
    /// The search, ready to be asked.
    ///
    /// - Throws: ``ParseError``: 107 for a language that is unknown, 102 for too long a text.
    package func query() throws(ParseError) -> TextQuery {
        guard let language = TextLanguage(name: language ?? "english") else {
            throw ParseError(.invalidJSON, "bad $text: $language, should be a language that is known")
        }
        do {
            return try TextQuery(
                term,
                language: language,
                isCaseSensitive: isCaseSensitive,
                isDiacriticSensitive: isDiacriticSensitive
            )
        } catch {
            throw ParseError(.invalidQuery, "A text search may have at most \(TextQuery.byteLimit) bytes.")
        }
    }
}
