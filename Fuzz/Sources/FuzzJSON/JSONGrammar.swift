/// The grammar of RFC 8259 and nothing else: slow, plain, and written apart from the parser it checks.
struct JSONGrammar {
    private var rest: ArraySlice<Unicode.Scalar>

    /// Whether the bytes are UTF-8 and one JSON text.
    static func accepts(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        var grammar = JSONGrammar(rest: Array(text.unicodeScalars)[...])
        return grammar.value() && grammar.rest.isEmpty
    }

    private mutating func space() {
        rest = rest.drop { [" ", "\t", "\n", "\r"].contains($0) }
    }

    private mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.unicodeScalars) else { return false }
        rest = rest.dropFirst(text.unicodeScalars.count)
        return true
    }

    private mutating func take(where condition: (Unicode.Scalar) -> Bool) -> Bool {
        guard let first = rest.first, condition(first) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// A value with white space on both sides.
    private mutating func value() -> Bool {
        space()
        defer { space() }
        return switch rest.first {
        case "t": take("true")
        case "f": take("false")
        case "n": take("null")
        case "\"": string()
        case "[": list("[", "]") { $0.value() }
        case "{": list("{", "}") { $0.member() }
        default: number()
        }
    }

    private mutating func member() -> Bool {
        space()
        guard string() else { return false }
        space()
        return take(":") && value()
    }

    /// Items between brackets, with commas between them.
    private mutating func list(_ open: String, _ close: String, item: (inout Self) -> Bool) -> Bool {
        guard take(open) else { return false }
        space()
        guard !take(close) else { return true }
        repeat {
            guard item(&self) else { return false }
        } while take(",")
        return take(close)
    }

    private mutating func string() -> Bool {
        guard take("\"") else { return false }
        while !take("\"") {
            if take("\\") {
                if take("u") {
                    for _ in 0..<4 {
                        guard take(where: { $0.isASCII && $0.properties.isASCIIHexDigit }) else {
                            return false
                        }
                    }
                } else if !take(where: { "\"\\/bfnrt".unicodeScalars.contains($0) }) {
                    return false
                }
            } else if !take(where: { $0.value >= 0x20 }) {
                return false
            }
        }
        return true
    }

    private mutating func number() -> Bool {
        _ = take("-")
        guard take("0") || digits() else { return false }
        if take("."), !digits() { return false }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            return digits()
        }
        return true
    }

    private mutating func digits() -> Bool {
        let count = rest.prefix { ("0"..."9").contains($0) }.count
        rest = rest.dropFirst(count)
        return count > 0
    }
}
