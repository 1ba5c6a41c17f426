import Locking

/// Regular expressions of the configuration, each compiled once.
package enum ConfiguredPattern {
    private static let expressions = Locked<[String: Expression]>([:])

    /// Whether the text is a regular expression.
    package static func isUsable(_ pattern: String) -> Bool {
        (try? Regex(pattern)) != nil
    }

    /// Whether the pattern is found anywhere in the text; a pattern that is none is found nowhere.
    static func matches(_ text: String, _ pattern: String) -> Bool {
        guard let expression = compiled(pattern) else { return false }
        return text.firstMatch(of: expression.value) != nil
    }

    /// Whether the text begins with what the pattern matches.
    static func matchesStart(of text: Substring, _ pattern: String) -> Bool {
        guard let expression = compiled(pattern) else { return false }
        return text.prefixMatch(of: expression.value) != nil
    }

    private static func compiled(_ pattern: String) -> Expression? {
        expressions.withLock { known in
            if let expression = known[pattern] { return expression }
            guard let value = try? Regex(pattern) else { return nil }
            let expression = Expression(value: value)
            known[pattern] = expression
            return expression
        }
    }

    /// SAFETY: a compiled regular expression is never changed; matching keeps its state apart.
    private struct Expression: @unchecked Sendable {
        let value: Regex<AnyRegexOutput>
    }
}
