/// Reads one document from a buffer; recursive descent, bounded by ``JSONLimits/depth``.
struct JSONParser {
    // SAFETY: the buffer outlives the parser, which never leaves `JSONValue.parse`; every access is
    // preceded by a comparison of `position` with `end`.
    private let bytes: UnsafeRawBufferPointer
    private let end: Int
    private var position = 0
    private var depthLeft: Int
    private var valuesLeft: Int
    /// Holds a string with escapes, or a long number, while it is decoded; kept to reuse its memory.
    private var scratch: [UInt8] = []

    /// Starts at the beginning of a buffer.
    ///
    /// - Throws: ``JSONError`` when the buffer is too long or not UTF-8.
    init(_ bytes: UnsafeRawBufferPointer, limits: JSONLimits) throws(JSONError) {
        guard bytes.count <= limits.bytes else {
            throw JSONError(code: .tooLarge, offset: limits.bytes)
        }
        if let offset = offsetOfInvalidUTF8(in: bytes) {
            throw JSONError(code: .invalidUTF8, offset: offset)
        }
        self.bytes = bytes
        end = bytes.count
        depthLeft = limits.depth
        valuesLeft = limits.values
    }

    /// Reads the value and checks that only white space follows.
    mutating func document() throws(JSONError) -> JSONValue {
        let value = try value()
        skipWhitespace()
        guard position == end else { throw error(.trailingContent) }
        return value
    }
}

// MARK: - Values

extension JSONParser {
    private mutating func value() throws(JSONError) -> JSONValue {
        skipWhitespace()
        guard position < end else { throw error(.unexpectedEnd) }
        guard valuesLeft > 0 else { throw error(.tooManyValues) }
        valuesLeft -= 1
        switch bytes[position] {
        case Byte.quote: return .string(try string())
        case Byte.openBrace: return .object(try object())
        case Byte.openBracket: return .array(try array())
        case Byte.minus, Byte.zero...Byte.nine: return .number(try number())
        case UInt8(ascii: "t"):
            try literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        default: throw error(.unexpectedCharacter)
        }
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        try enter()
        var members: [JSONObject.Member] = []
        var names = NameFilter()
        guard try !closes(with: Byte.closeBrace) else { return JSONObject() }
        members.reserveCapacity(4)
        repeat {
            skipWhitespace()
            guard position < end else { throw error(.unexpectedEnd) }
            guard bytes[position] == Byte.quote else { throw error(.unexpectedCharacter) }
            let start = position
            let key = try string()
            let hint = NameFilter.hint(of: key, firstByte: bytes[start + 1], length: position - start - 2)
            skipWhitespace()
            guard position < end else { throw error(.unexpectedEnd) }
            guard bytes[position] == Byte.colon else { throw error(.unexpectedCharacter) }
            position += 1
            let value = try value()
            if let earlier = names.place(of: key, hint: hint, in: members) {
                members[earlier].value = value
            } else {
                members.append(JSONObject.Member(key: key, value: value))
            }
        } while try continues(orCloseWith: Byte.closeBrace)
        return JSONObject(unique: members)
    }

    private mutating func array() throws(JSONError) -> [JSONValue] {
        try enter()
        var elements: [JSONValue] = []
        guard try !closes(with: Byte.closeBracket) else { return elements }
        repeat {
            elements.append(try value())
        } while try continues(orCloseWith: Byte.closeBracket)
        return elements
    }

    /// Passes the opening bracket.
    private mutating func enter() throws(JSONError) {
        guard depthLeft > 0 else { throw error(.tooDeep) }
        depthLeft -= 1
        position += 1
    }

    /// Passes the closing bracket if it comes at once.
    private mutating func closes(with close: UInt8) throws(JSONError) -> Bool {
        skipWhitespace()
        guard position < end else { throw error(.unexpectedEnd) }
        guard bytes[position] == close else { return false }
        position += 1
        depthLeft += 1
        return true
    }

    /// Passes a comma and answers true, or the closing bracket and answers false.
    private mutating func continues(orCloseWith close: UInt8) throws(JSONError) -> Bool {
        skipWhitespace()
        guard position < end else { throw error(.unexpectedEnd) }
        let byte = bytes[position]
        guard byte == Byte.comma || byte == close else { throw error(.unexpectedCharacter) }
        position += 1
        if byte == close { depthLeft += 1 }
        return byte == Byte.comma
    }

    private mutating func literal(_ word: StaticString) throws(JSONError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard position < end else { throw error(.unexpectedEnd) }
            guard bytes[position] == word.utf8Start[index] else { throw error(.unexpectedCharacter) }
            position += 1
        }
    }

    private mutating func skipWhitespace() {
        while position < end {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    private func error(_ code: JSONError.Code) -> JSONError {
        guard code == .unexpectedCharacter, position < end else {
            return JSONError(code: code, offset: position)
        }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[position..<min(end, position + 4)])
        return JSONError(
            code: code,
            offset: position,
            character: String(decoding: rest, as: UTF8.self).unicodeScalars.first
        )
    }
}

// MARK: - Strings

extension JSONParser {
    /// Reads a string, from its opening to past its closing quotation mark.
    private mutating func string() throws(JSONError) -> String {
        position += 1
        let start = position
        skipPlainCharacters()
        guard position < end else { throw error(.unexpectedEnd) }
        if bytes[position] == Byte.quote {
            let text = String(
                decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<position]),
                as: UTF8.self
            )
            position += 1
            return text
        }
        scratch.removeAll(keepingCapacity: true)
        scratch.append(contentsOf: utf8(start..<position))
        return try stringWithEscapes()
    }

    private func utf8(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        UnsafeRawBufferPointer(rebasing: bytes[range]).assumingMemoryBound(to: UInt8.self)
    }

    private mutating func stringWithEscapes() throws(JSONError) -> String {
        while position < end {
            switch bytes[position] {
            case Byte.quote:
                position += 1
                return String(decoding: scratch, as: UTF8.self)
            case Byte.backslash:
                try escape()
            case 0..<0x20:
                throw error(.controlCharacter)
            default:
                let start = position
                skipPlainCharacters()
                scratch.append(contentsOf: utf8(start..<position))
            }
        }
        throw error(.unexpectedEnd)
    }

    /// Passes bytes that stand for themselves: all but quotation mark, backslash and control characters.
    private mutating func skipPlainCharacters() {
        while position + 8 <= end {
            let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let special = Byte.needingEscape(in: UInt64(littleEndian: word))
            guard special == 0 else {
                position += special.trailingZeroBitCount >> 3
                return
            }
            position += 8
        }
        while position < end {
            let byte = bytes[position]
            if byte == Byte.quote || byte == Byte.backslash || byte < 0x20 { return }
            position += 1
        }
    }

    private mutating func escape() throws(JSONError) {
        position += 1
        guard position < end else { throw error(.unexpectedEnd) }
        switch bytes[position] {
        case Byte.quote, Byte.backslash, UInt8(ascii: "/"): scratch.append(bytes[position])
        case UInt8(ascii: "b"): scratch.append(0x08)
        case UInt8(ascii: "f"): scratch.append(0x0C)
        case UInt8(ascii: "n"): scratch.append(0x0A)
        case UInt8(ascii: "r"): scratch.append(0x0D)
        case UInt8(ascii: "t"): scratch.append(0x09)
        case UInt8(ascii: "u"):
            position += 1
            try unicodeEscape()
            return
        default: throw error(.invalidEscape)
        }
        position += 1
    }

    /// Reads the four digits after `\u`, and the second half of a surrogate pair when it follows.
    private mutating func unicodeEscape() throws(JSONError) {
        let unit = try fourHexDigits()
        var value = UInt32(unit)
        if UTF16.isLeadSurrogate(unit), position + 1 < end, bytes[position] == Byte.backslash,
            bytes[position + 1] == UInt8(ascii: "u")
        {
            let afterLead = position
            position += 2
            let next = try fourHexDigits()
            if UTF16.isTrailSurrogate(next) {
                value = 0x1_0000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(next) - 0xDC00)
            } else {
                // Not a pair: what follows is an escape of its own.
                position = afterLead
            }
        }
        // A lone surrogate has no Unicode scalar.
        let scalar = Unicode.Scalar(value) ?? "\u{FFFD}"
        scratch.append(contentsOf: String(scalar).utf8)
    }

    private mutating func fourHexDigits() throws(JSONError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard position < end else { throw error(.unexpectedEnd) }
            let byte = bytes[position]
            let digit: UInt8
            switch byte {
            case Byte.zero...Byte.nine: digit = byte - Byte.zero
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw error(.invalidEscape)
            }
            value = value << 4 | UInt16(digit)
            position += 1
        }
        return value
    }
}

// MARK: - Numbers

extension JSONParser {
    private mutating func number() throws(JSONError) -> Double {
        let start = position
        let negative = bytes[position] == Byte.minus
        if negative { position += 1 }

        // Wraps around when there are more than 19 digits, and is not used then.
        var significand: UInt64 = 0
        let integerStart = position
        try digits(into: &significand)
        var digitCount = position - integerStart
        if digitCount > 1, bytes[integerStart] == Byte.zero {
            position = integerStart + 1
            throw error(.invalidNumber)
        }
        var exponent = 0
        if position < end, bytes[position] == Byte.point {
            position += 1
            let fractionStart = position
            try digits(into: &significand)
            exponent = fractionStart - position
            digitCount -= exponent
        }
        if position < end, bytes[position] | 0x20 == UInt8(ascii: "e") {
            exponent += try explicitExponent()
        }
        if digitCount <= 19, let value = DecimalNumber.exact(significand, exponent) {
            return negative ? -value : value
        }
        return DecimalNumber.rounded(
            UnsafeRawBufferPointer(rebasing: bytes[start..<position]),
            exponent: exponent,
            scratch: &scratch
        )
    }

    /// Passes one digit or more.
    private mutating func digits(into significand: inout UInt64) throws(JSONError) {
        guard position < end else { throw error(.unexpectedEnd) }
        guard Byte.isDigit(bytes[position]) else { throw error(.invalidNumber) }
        repeat {
            significand = significand &* 10 &+ UInt64(bytes[position] &- Byte.zero)
            position += 1
        } while position < end && Byte.isDigit(bytes[position])
    }

    private mutating func explicitExponent() throws(JSONError) -> Int {
        position += 1
        guard position < end else { throw error(.unexpectedEnd) }
        let negative = bytes[position] == Byte.minus
        if negative || bytes[position] == UInt8(ascii: "+") { position += 1 }
        guard position < end else { throw error(.unexpectedEnd) }
        guard Byte.isDigit(bytes[position]) else { throw error(.invalidNumber) }
        var exponent = 0
        while position < end, Byte.isDigit(bytes[position]) {
            // Saturates far above what the digits of any document could make up for.
            if exponent < 1 << 48 { exponent = exponent * 10 + Int(bytes[position] - Byte.zero) }
            position += 1
        }
        return negative ? -exponent : exponent
    }
}
