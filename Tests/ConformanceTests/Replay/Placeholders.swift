import JSON

/// The values that placeholders stand for, learnt from answers.
struct Placeholders {
    /// The address of the server with its mount.
    let url: String
    private var values: [String: String] = [:]

    private var host: String {
        String(url.dropFirst(7).prefix { $0 != "/" })
    }

    init(url: String) {
        self.url = url
    }

    /// The text with every placeholder replaced.
    ///
    /// - Returns: `nil` when one of them has no value yet.
    func filled(_ text: String) -> String? {
        var result = ""
        for part in Self.parts(of: text) {
            switch part {
            case .literal(let literal): result += literal
            case .placeholder("url", _), .placeholder("server", _): result += url
            case .placeholder("host", _): result += host
            case .placeholder(_, let whole):
                guard let value = values[whole] else { return nil }
                result += value
            }
        }
        return result
    }

    /// Compares a text with one that may hold placeholders, and learns the values of new ones.
    ///
    /// - Returns: What differs; `nil` when nothing does.
    mutating func difference(_ text: String, from pattern: String) -> String? {
        var rest = text[...]
        var learnt: [String: String] = [:]
        for part in Self.parts(of: pattern) {
            switch part {
            case .literal(let literal):
                guard rest.hasPrefix(literal) else { return "\"\(text)\" is not \"\(pattern)\"" }
                rest = rest.dropFirst(literal.count)
            case .placeholder("url", _), .placeholder("server", _):
                guard rest.hasPrefix(url) else { return "\"\(text)\" does not hold \(url)" }
                rest = rest.dropFirst(url.count)
            case .placeholder(let kind, let whole):
                guard let length = Self.length(of: kind) else { return "unknown placeholder \(whole)" }
                let value = String(rest.prefix(length))
                guard Self.isWellFormed(value, kind) else { return "\"\(value)\" is no \(kind)" }
                let known = values[whole] ?? learnt[whole]
                guard known == nil || known == value else {
                    return "\(whole) was \(known ?? ""), is \(value)"
                }
                learnt[whole] = value
                rest = rest.dropFirst(length)
            }
        }
        guard rest.isEmpty else { return "\"\(text)\" is not \"\(pattern)\"" }
        values.merge(learnt) { first, _ in first }
        return nil
    }

    private enum Part {
        case literal(String)
        case placeholder(kind: String, whole: String)
    }

    private static func length(of kind: String) -> Int? {
        ["objectId": 10, "sessionToken": 34, "date": 24, "username": 25, "file": 32][kind]
    }

    private static func isWellFormed(_ value: String, _ kind: String) -> Bool {
        switch kind {
        case "objectId", "username":
            return value.count == length(of: kind) && value.utf8.allSatisfy(isLetterOrDigit)
        case "file":
            return value.count == 32
                && value.utf8.allSatisfy { isLetterOrDigit($0) && !(65...90).contains($0) && $0 < 103 }
        case "sessionToken":
            return value.count == 34 && value.hasPrefix("r:")
                && value.dropFirst(2).utf8.allSatisfy {
                    isLetterOrDigit($0) && !(65...90).contains($0) && $0 < 103
                }
        default:
            let form = Array("0000-00-00T00:00:00.000Z".utf8)
            let bytes = Array(value.utf8)
            return bytes.count == form.count
                && zip(bytes, form).allSatisfy { $1 == UInt8(ascii: "0") ? (48...57).contains($0) : $0 == $1 }
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...122).contains(byte | 0x20)
    }

    /// Takes a text apart; `<` that begins no placeholder is a literal.
    private static func parts(of text: String) -> [Part] {
        var parts: [Part] = []
        var literal = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "<") {
            literal += rest[..<open]
            guard let close = rest[open...].firstIndex(of: ">") else { break }
            let inner = rest[rest.index(after: open)..<close]
            let kind = String(inner.prefix { $0 != ":" })
            if ["url", "server", "host"].contains(kind)
                || (length(of: kind) != nil && inner.count > kind.count)
            {
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = ""
                parts.append(.placeholder(kind: kind, whole: "<\(inner)>"))
            } else {
                literal += rest[open...close]
            }
            rest = rest[rest.index(after: close)...]
        }
        literal += rest
        if !literal.isEmpty { parts.append(.literal(literal)) }
        return parts
    }
}
