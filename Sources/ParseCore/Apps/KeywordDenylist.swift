import ParseWire
package import JSON

/// Keys and values that no request may carry (the option `requestKeywordDenylist`).
package struct KeywordDenylist: Sendable, Hashable {
    /// One rule; a request breaks it when a member matches all that it names.
    package struct Rule: Sendable, Hashable {
        /// A regular expression that is searched in the key.
        package var key: String?
        /// What the value must be; text is a regular expression too.
        package var value: JSONValue?

        package init(key: String?, value: JSONValue? = nil) {
            self.key = key
            self.value = value
        }

        fileprivate var json: String {
            var object = JSONObject()
            if let key { object.append("key", .string(key)) }
            if let value { object.append("value", value) }
            return JSONValue.object(object).serializedString()
        }
    }

    package let rules: [Rule]

    /// What parse-server starts with.
    package static let standard = KeywordDenylist(
        rules: [
            Rule(key: "_bsontype", value: "Code"), Rule(key: "constructor"), Rule(key: "__proto__"),
        ])

    package init(rules: [Rule]) {
        self.rules = rules
    }

    /// Looks through the whole body, however deep.
    ///
    /// - Throws: ``ParseError`` 105 that names the rule that was broken.
    package func check(_ object: JSONObject) throws(ParseError) {
        guard !rules.isEmpty else { return }
        for member in object {
            for rule in rules where Self.matches(rule, member) {
                throw ParseError(.invalidKeyName, "Prohibited keyword in request data: \(rule.json).")
            }
            try check(member.value)
        }
    }

    private func check(_ value: JSONValue) throws(ParseError) {
        switch value {
        case .object(let object): try check(object)
        case .array(let elements): for element in elements { try check(element) }
        default: break
        }
    }

    private static func matches(_ rule: Rule, _ member: JSONObject.Member) -> Bool {
        if let key = rule.key, !contains(member.key, pattern: key) { return false }
        guard let value = rule.value else { return rule.key != nil }
        if case .string(let pattern) = value, case .string(let text) = member.value {
            return contains(text, pattern: pattern)
        }
        return value == member.value
    }

    /// Text without a special character is searched as it stands, which is all that the standard rules need.
    private static func contains(_ text: String, pattern: String) -> Bool {
        guard pattern.utf8.contains(where: Self.isSpecial) else { return holds(text, pattern) }
        return ConfiguredPattern.matches(text, pattern)
    }

    /// Whether the bytes of one stand in the other; every key of every body is searched, so this is no place for
    /// the search of the standard library, which takes microseconds for a word.
    private static func holds(_ text: String, _ pattern: String) -> Bool {
        let text = text.utf8
        let pattern = pattern.utf8
        guard let first = pattern.first else { return true }
        guard text.count >= pattern.count else { return false }
        var rest = text[...]
        while rest.count >= pattern.count, let start = rest.firstIndex(of: first) {
            if rest[start...].starts(with: pattern) { return true }
            rest = rest[rest.index(after: start)...]
        }
        return false
    }

    /// Whether the text of a rule can be searched for.
    package static func isUsable(_ pattern: String) -> Bool {
        !pattern.utf8.contains(where: isSpecial) || ConfiguredPattern.isUsable(pattern)
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        "\\^$.|?*+()[]{}".utf8.contains(byte)
    }
}
