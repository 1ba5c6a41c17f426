import Locking

/// The regular expressions of the configuration, each compiled once.
enum CompiledPatterns {
    /// SAFETY: a compiled regular expression is never changed; matching keeps its state apart.
    struct Expression: @unchecked Sendable {
        let value: Regex<AnyRegexOutput>
    }

    private static let known = Locked<[String: Expression]>([:])

    /// `nil` for a text that is no regular expression.
    ///
    /// What is asked for is kept, so this is for texts of the configuration and not for those of requests.
    static func expression(_ pattern: String) -> Expression? {
        known.withLock { known in
            if let expression = known[pattern] { return expression }
            guard let value = try? Regex(pattern) else { return nil }
            let expression = Expression(value: value)
            known[pattern] = expression
            return expression
        }
    }
}
