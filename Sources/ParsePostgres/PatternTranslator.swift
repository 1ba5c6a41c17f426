import ParseCore
import ParseWire

extension TextPattern {
    /// The pattern in PostgreSQL's syntax, as a text with the collation `C` is to be searched with it.
    ///
    /// - Throws: ``ParseError`` 102 for what PostgreSQL has not, naming it.
    func postgresPattern() throws(ParseError) -> String {
        var translator = PatternTranslator(self)
        return try translator.translate()
    }
}

/// Reads a pattern of PCRE's syntax and writes one of PostgreSQL's "advanced" syntax that is found in the same texts.
///
/// Only whether it is found matters, not where: how greedy a repetition is makes no difference. The pattern is known to
/// be well-formed. Case is folded here, since PostgreSQL would fold ASCII letters only in the collation `C`.
struct PatternTranslator {
    private typealias Options = TextPattern.Options

    private let scalars: [Unicode.Scalar]
    private var position = 0
    private var options: TextPattern.Options

    /// PostgreSQL counts repetitions up to here.
    private static let repetitionLimit = 255
    /// A range of so many characters is spelled out when case does not count.
    private static let foldedRangeLimit: UInt32 = 4096
    private static let wordCharacters = "A-Za-z0-9_"
    private static let blanks = "\\u0009-\\u000d\\u0020"

    init(_ pattern: TextPattern) {
        scalars = Array(pattern.pattern.unicodeScalars)
        options = pattern.options
    }

    mutating func translate() throws(ParseError) -> String {
        let text = try alternatives()
        guard position == scalars.count else { throw Self.unsupported("this pattern") }
        return text
    }

    private static func unsupported(_ what: String) -> ParseError {
        ParseError(
            .invalidQuery,
            "The regular expression cannot be used with this database: it has no \(what)."
        )
    }

    // MARK: Reading

    private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    private mutating func take(_ text: String) -> Bool {
        let wanted = Array(text.unicodeScalars)
        guard scalars[position...].starts(with: wanted) else { return false }
        position += wanted.count
        return true
    }

    private mutating func take() throws(ParseError) -> Unicode.Scalar {
        guard let next else { throw Self.unsupported("pattern that ends like this") }
        position += 1
        return next
    }

    /// What stands before that character, which is taken too.
    private mutating func take(until end: Unicode.Scalar) throws(ParseError) -> String {
        var text = String.UnicodeScalarView()
        while true {
            let scalar = try take()
            if scalar == end { return String(text) }
            text.append(scalar)
        }
    }

    // MARK: Structure

    private mutating func alternatives() throws(ParseError) -> String {
        // An option that is set inside of a group ends with it.
        let outer = options
        var branches: [String] = []
        repeat { branches.append(try branch()) } while take("|")
        options = outer
        return branches.map { $0.isEmpty ? "(?:)" : $0 }.joined(separator: "|")
    }

    private mutating func branch() throws(ParseError) -> String {
        var text = ""
        while let scalar = next, scalar != "|", scalar != ")" {
            if try skipExtended() { continue }
            guard let piece = try piece() else { continue }
            text += piece.text + (try repetition(of: piece))
        }
        return text
    }

    /// White space and comments of the extended syntax.
    private mutating func skipExtended() throws(ParseError) -> Bool {
        guard options.contains(.extended), let scalar = next else { return false }
        if scalar == "#" {
            while let scalar = next, scalar != "\n" { position += scalar == "\n" ? 0 : 1 }
            if next != nil { position += 1 }
            return true
        }
        guard [" ", "\t", "\n", "\u{B}", "\u{C}", "\r"].contains(scalar) else { return false }
        position += 1
        return true
    }

    /// Something that can be repeated, or not.
    private struct Piece {
        var text: String
        var isRepeatable = true
    }

    /// `nil` for what matches nothing and stands for nothing, such as a comment.
    private mutating func piece() throws(ParseError) -> Piece? {
        let scalar = try take()
        switch scalar {
        case "^":
            guard options.contains(.multiline) else { return Piece(text: "\\A", isRepeatable: false) }
            return Piece(text: "(?:\\A|(?<=\\n)(?!\\Z))", isRepeatable: false)
        case "$":
            let text = options.contains(.multiline) ? "(?=\\n|\\Z)" : "(?=\\n?\\Z)"
            return Piece(text: text, isRepeatable: false)
        case ".": return Piece(text: options.contains(.dotMatchesLineEnds) ? "." : "[^\\n]")
        case "(": return try group()
        case "[": return Piece(text: try bracket())
        case "\\": return try escape()
        default: return Piece(text: literal(scalar))
        }
    }

    private mutating func repetition(of piece: Piece) throws(ParseError) -> String {
        while try skipExtended() {}
        var text = ""
        if take("*") {
            text = "*"
        } else if take("+") {
            text = "+"
        } else if take("?") {
            text = "?"
        } else if let bounds = try bounds() {
            text = bounds
        } else {
            return ""
        }
        guard piece.isRepeatable else { throw Self.unsupported("repetition of what has no length") }
        // How much is taken first makes no difference to whether something is found.
        if take("?") { return text }
        if next == "+" { throw Self.unsupported("possessive repetition") }
        return text
    }

    /// `{2}`, `{2,}`, `{2,5}`; `nil` for a brace that stands for itself.
    private mutating func bounds() throws(ParseError) -> String? {
        guard next == "{" else { return nil }
        let start = position
        position += 1
        var parts = [""]
        while let scalar = next, scalar != "}" {
            if scalar == ",", parts.count == 1 {
                parts.append("")
            } else if ("0"..."9").contains(scalar) {
                parts[parts.count - 1].unicodeScalars.append(scalar)
            } else {
                break
            }
            position += 1
        }
        guard take("}"), !parts[0].isEmpty else {
            position = start
            return nil
        }
        for part in parts where !part.isEmpty {
            guard let count = Int(part), count <= Self.repetitionLimit else {
                throw Self.unsupported("repetition more than \(Self.repetitionLimit) times")
            }
        }
        return "{\(parts.joined(separator: ","))}"
    }

    private mutating func group() throws(ParseError) -> Piece? {
        if take("*") { throw Self.unsupported("verb") }
        guard take("?") else { return Piece(text: "(?:\(try closed()))") }
        if take("#") {
            _ = try take(until: ")")
            return nil
        }
        for (opening, isCapturing) in [(":", false), ("P<", true), ("'", true)] where take(opening) {
            if isCapturing { _ = try take(until: opening == "'" ? "'" : ">") }
            return Piece(text: "(?:\(try closed()))")
        }
        for look in ["=", "!", "<=", "<!"] where take(look) {
            return Piece(text: "(?\(look)\(try closed()))", isRepeatable: false)
        }
        if take("<") {
            _ = try take(until: ">")
            return Piece(text: "(?:\(try closed()))")
        }
        return try optionGroup()
    }

    private mutating func closed() throws(ParseError) -> String {
        let text = try alternatives()
        guard take(")") else { throw Self.unsupported("group that ends like this") }
        return text
    }

    /// `(?i)` for the rest of the group around it, `(?i:…)` for itself.
    private mutating func optionGroup() throws(ParseError) -> Piece? {
        let outer = options
        var isSetting = true
        while let scalar = next {
            position += 1
            let option: TextPattern.Options
            switch scalar {
            case "-":
                isSetting = false
                continue
            case "i": option = .ignoresCase
            case "m": option = .multiline
            case "s": option = .dotMatchesLineEnds
            case "x" where next != "x": option = .extended
            case ")": return nil
            case ":":
                let text = try closed()
                options = outer
                return Piece(text: "(?:\(text))")
            default: throw Self.unsupported("group of the kind (?\(scalar)")
            }
            if isSetting { options.insert(option) } else { options.remove(option) }
        }
        throw Self.unsupported("group that ends like this")
    }

    // MARK: Characters

    private mutating func escape() throws(ParseError) -> Piece? {
        let scalar = try take()
        switch scalar {
        case "A": return Piece(text: "\\A", isRepeatable: false)
        case "z": return Piece(text: "\\Z", isRepeatable: false)
        case "Z": return Piece(text: "(?=\\n?\\Z)", isRepeatable: false)
        case "b", "B":
            let word = "[\(Self.wordCharacters)]"
            let both =
                scalar == "b"
                ? "(?<=\(word))(?!\(word))|(?<!\(word))(?=\(word))"
                : "(?<=\(word))(?=\(word))|(?<!\(word))(?!\(word))"
            return Piece(text: "(?:\(both))", isRepeatable: false)
        case "Q":
            var text = ""
            while next != nil, !take("\\E") { text += literal(try take()) }
            // A repetition behind it means its last character.
            guard ["*", "+", "?", "{"].contains(next) else {
                return text.isEmpty ? nil : Piece(text: text, isRepeatable: false)
            }
            throw Self.unsupported("repetition behind \\E")
        case "E": return nil
        case "N": return Piece(text: "[^\\n]")
        default:
            if let set = Self.set(scalar) {
                return Piece(text: "[\(set.isNegated ? "^" : "")\(set.members)]")
            }
            return Piece(text: literal(try escaped(scalar)))
        }
    }

    /// What stands for a set of characters, as PCRE has it without Unicode properties.
    private static func set(_ scalar: Unicode.Scalar) -> (members: String, isNegated: Bool)? {
        switch scalar {
        case "d": ("0-9", false)
        case "D": ("0-9", true)
        case "w": (wordCharacters, false)
        case "W": (wordCharacters, true)
        case "s": (blanks, false)
        case "S": (blanks, true)
        default: nil
        }
    }

    /// The character that an escape stands for.
    private mutating func escaped(_ scalar: Unicode.Scalar) throws(ParseError) -> Unicode.Scalar {
        switch scalar {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "f": return "\u{C}"
        case "e": return "\u{1B}"
        case "a": return "\u{7}"
        case "x":
            var digits = ""
            if take("{") {
                digits = try take(until: "}")
            } else {
                while digits.count < 2, let scalar = next, scalar.properties.isASCIIHexDigit {
                    digits.unicodeScalars.append(scalar)
                    position += 1
                }
            }
            guard let value = UInt32(digits, radix: 16), value > 0, let scalar = Unicode.Scalar(value) else {
                throw Self.unsupported("character \\x\(digits)")
            }
            return scalar
        default:
            let isLetterOrDigit =
                ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
            if isLetterOrDigit { throw Self.unsupported("\\\(scalar)") }
            return scalar
        }
    }

    private func literal(_ scalar: Unicode.Scalar) -> String {
        guard options.contains(.ignoresCase) else { return Self.quoted(scalar) }
        let variants = CaseFolding.variants(of: scalar)
        return variants.count == 1
            ? Self.quoted(scalar) : "[\(variants.map(Self.quoted).joined())]"
    }

    /// A character that stands for itself, in brackets too.
    private static func quoted(_ scalar: Unicode.Scalar) -> String {
        if scalar.value >= 0x80 { return String(scalar) }
        if ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar) {
            return String(scalar)
        }
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    // MARK: Brackets

    private mutating func bracket() throws(ParseError) -> String {
        let isNegated = take("^")
        var members = ""
        var isFirst = true
        while true {
            if !isFirst, take("]") { break }
            if let part = try bracketPart(isFirst: isFirst) { members += part }
            isFirst = false
        }
        if members.isEmpty { throw Self.unsupported("empty set of characters") }
        return "[\(isNegated ? "^" : "")\(members)]"
    }

    private mutating func bracketPart(isFirst: Bool) throws(ParseError) -> String? {
        if take("\\E") { return nil }
        if take("\\Q") { throw Self.unsupported("\\Q in brackets") }
        if next == "[", position + 1 < scalars.count, [":", ".", "="].contains(scalars[position + 1]) {
            return try namedClass()
        }
        let (start, set) = try bracketMember()
        if let set { return set }
        guard let start else { return nil }
        guard next == "-", position + 1 < scalars.count, scalars[position + 1] != "]" else {
            return members(start, start)
        }
        position += 1
        let (end, endSet) = try bracketMember()
        // A hyphen between a character and a set stands for itself.
        if let endSet { return members(start, start) + members("-", "-") + endSet }
        guard let end, start.value <= end.value else { throw Self.unsupported("range like this") }
        if options.contains(.ignoresCase), end.value - start.value > Self.foldedRangeLimit {
            throw Self.unsupported("wide range of characters without regard to case")
        }
        return members(start, end)
    }

    /// A character, or what stands for a set of them.
    private mutating func bracketMember() throws(ParseError) -> (Unicode.Scalar?, String?) {
        let scalar = try take()
        guard scalar == "\\" else { return (scalar, nil) }
        let kind = try take()
        if kind == "b" { return ("\u{8}", nil) }
        guard let set = Self.set(kind) else { return (try escaped(kind), nil) }
        guard set.isNegated else { return (nil, set.members) }
        switch kind {
        case "D": return (nil, "\\u0001-/:-\\U0010ffff")
        case "W": return (nil, "\\u0001-/:-@\\u005b-\\u005e`{-\\U0010ffff")
        default: return (nil, "\\u0001-\\u0008\\u000e-\\u001f!-\\U0010ffff")
        }
    }

    private func members(_ start: Unicode.Scalar, _ end: Unicode.Scalar) -> String {
        var text = Self.quoted(start)
        if start != end { text += "-" + Self.quoted(end) }
        guard options.contains(.ignoresCase) else { return text }
        for value in start.value...end.value {
            guard let scalar = Unicode.Scalar(value) else { continue }
            for variant in CaseFolding.variants(of: scalar) where variant < start || variant > end {
                text += Self.quoted(variant)
            }
        }
        return text
    }

    private mutating func namedClass() throws(ParseError) -> String {
        guard take("[:") else { throw Self.unsupported("collating element") }
        let name = try take(until: ":")
        guard take("]") else { throw Self.unsupported("set of characters like this") }
        switch name {
        case "alpha": return "A-Za-z"
        case "digit": return "0-9"
        case "alnum": return "A-Za-z0-9"
        case "upper": return options.contains(.ignoresCase) ? "A-Za-z" : "A-Z"
        case "lower": return options.contains(.ignoresCase) ? "A-Za-z" : "a-z"
        case "space": return Self.blanks
        case "word": return Self.wordCharacters
        case "xdigit": return "0-9A-Fa-f"
        case "punct": return "!-/:-@\\u005b-`{-~"
        default: throw Self.unsupported("[:\(name):]")
        }
    }
}

/// Which characters are the same without regard to case, by Unicode's simple folding.
enum CaseFolding {
    /// The character and its variants.
    static func variants(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        guard scalar.value != 0x131 else { return [scalar] }
        return families[fold(scalar)] ?? [scalar]
    }

    /// The lower-case form of the upper-case form: the same for all variants.
    private static func fold(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        let upper = single(scalar.properties.uppercaseMapping) ?? scalar
        return single(upper.properties.lowercaseMapping) ?? upper
    }

    private static func single(_ text: String) -> Unicode.Scalar? {
        text.unicodeScalars.count == 1 ? text.unicodeScalars.first : nil
    }

    /// Characters that have variants, by what they fold to.
    private static let families: [Unicode.Scalar: [Unicode.Scalar]] = {
        var families: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        // Nothing beyond has a case.
        for value in UInt32(0x41)...0x1E943 {
            // The dotless i has an upper-case form, but is the same as nothing else.
            guard value != 0x131, let scalar = Unicode.Scalar(value) else { continue }
            let properties = scalar.properties
            guard properties.isCased || properties.changesWhenCaseMapped else { continue }
            families[fold(scalar), default: []].append(scalar)
        }
        return families.filter { $0.value.count > 1 }
    }()
}
