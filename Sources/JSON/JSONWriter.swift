/// Appends JSON text to a buffer, as `JSON.stringify` writes it.
///
/// Commas, colons and brackets between separately written parts are the caller's.
package struct JSONWriter: Sendable {
    /// What has been written so far, in UTF-8.
    package var bytes: [UInt8] = []

    package init(capacity: Int = 256) {
        bytes.reserveCapacity(capacity)
    }

    /// Writes a value.
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: writeRaw("null")
        case .bool(let value): writeRaw(value ? "true" : "false")
        case .number(let value): writeNumber(value)
        case .string(let value): writeString(value)
        case .array(let elements): write(elements)
        case .object(let object): write(object)
        }
    }

    /// Writes an object with its members in order.
    package mutating func write(_ object: JSONObject) {
        bytes.append(Byte.openBrace)
        var isFirst = true
        for member in object.members {
            if !isFirst { bytes.append(Byte.comma) }
            isFirst = false
            writeString(member.key)
            bytes.append(Byte.colon)
            write(member.value)
        }
        bytes.append(Byte.closeBrace)
    }

    private mutating func write(_ elements: [JSONValue]) {
        bytes.append(Byte.openBracket)
        var isFirst = true
        for element in elements {
            if !isFirst { bytes.append(Byte.comma) }
            isFirst = false
            write(element)
        }
        bytes.append(Byte.closeBracket)
    }

    /// Writes text that is JSON already.
    package mutating func writeRaw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Writes bytes that are JSON already.
    package mutating func writeRaw(_ text: [UInt8]) {
        bytes.append(contentsOf: text)
    }
}

// MARK: - Strings

extension JSONWriter {
    /// Writes a string in quotation marks, escaping only what JSON demands.
    package mutating func writeString(_ text: String) {
        var text = text
        text.withUTF8 { writeString(UnsafeRawBufferPointer($0)) }
    }

    private mutating func writeString(_ text: UnsafeRawBufferPointer) {
        bytes.append(Byte.quote)
        var start = 0
        var position = 0
        while position < text.count {
            if position + 8 <= text.count {
                let word = text.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                let special = Byte.needingEscape(in: UInt64(littleEndian: word))
                guard special != 0 else {
                    position += 8
                    continue
                }
                position += special.trailingZeroBitCount >> 3
            }
            let byte = text[position]
            if byte < 0x20 || byte == Byte.quote || byte == Byte.backslash {
                bytes.append(contentsOf: text[start..<position])
                writeEscape(byte)
                start = position + 1
            }
            position += 1
        }
        bytes.append(contentsOf: text[start...])
        bytes.append(Byte.quote)
    }

    private mutating func writeEscape(_ byte: UInt8) {
        bytes.append(Byte.backslash)
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case Byte.quote, Byte.backslash: bytes.append(byte)
        default:
            writeRaw("u00")
            bytes.append(Byte.zero + byte >> 4)
            let low = byte & 0xF
            bytes.append(low < 10 ? Byte.zero + low : UInt8(ascii: "a") + low - 10)
        }
    }
}

// MARK: - Numbers

extension JSONWriter {
    /// Writes a number as JavaScript's `Number::toString` does, and `null` for infinities and NaN.
    package mutating func writeNumber(_ value: Double) {
        guard value.isFinite else {
            writeRaw("null")
            return
        }
        // Up to here every integer is a double and its digits are the shortest.
        if value.magnitude <= 0x1p53, value == Double(Int64(value)) {
            writeInteger(Int64(value))
        } else {
            writeShortest(value)
        }
    }

    private mutating func writeInteger(_ value: Int64) {
        if value < 0 { bytes.append(Byte.minus) }
        let start = bytes.count
        var rest = value.magnitude
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            bytes.append(Byte.zero + UInt8(truncatingIfNeeded: digit))
            rest = quotient
        } while rest > 0
        bytes[start...].reverse()
    }

    /// Rearranges Swift's description, which has the same digits (the shortest that read back).
    private mutating func writeShortest(_ value: Double) {
        if value < 0 { bytes.append(Byte.minus) }
        let (digits, pointPosition) = Self.decimal(value.magnitude)
        let count = digits.count
        switch pointPosition {
        case count...21:
            bytes.append(contentsOf: digits)
            bytes.append(contentsOf: repeatElement(Byte.zero, count: pointPosition - count))
        case 1...21:
            bytes.append(contentsOf: digits[..<pointPosition])
            bytes.append(Byte.point)
            bytes.append(contentsOf: digits[pointPosition...])
        case -5...0:
            writeRaw("0.")
            bytes.append(contentsOf: repeatElement(Byte.zero, count: -pointPosition))
            bytes.append(contentsOf: digits)
        default:
            bytes.append(digits[0])
            if count > 1 {
                bytes.append(Byte.point)
                bytes.append(contentsOf: digits[1...])
            }
            bytes.append(UInt8(ascii: "e"))
            bytes.append(pointPosition > 0 ? UInt8(ascii: "+") : Byte.minus)
            writeInteger(Int64((pointPosition - 1).magnitude))
        }
    }

    /// The shortest digits that read back as `value`, and how many of them stand before the point.
    private static func decimal(_ value: Double) -> (digits: [UInt8], pointPosition: Int) {
        var digits: [UInt8] = []
        digits.reserveCapacity(24)
        var digitsBeforePoint: Int?
        var exponent = 0
        var text = value.description.utf8[...]
        while let byte = text.popFirst() {
            switch byte {
            case Byte.point: digitsBeforePoint = digits.count
            case UInt8(ascii: "e"):
                exponent = Int(String(Substring(text)).drop { $0 == "+" }) ?? 0
                text = text.suffix(0)
            default: digits.append(byte)
            }
        }
        let pointPosition = (digitsBeforePoint ?? digits.count) + exponent
        let leadingZeros = digits.prefix { $0 == Byte.zero }.count
        let trailingZeros = digits.reversed().prefix { $0 == Byte.zero }.count
        return (Array(digits[leadingZeros..<(digits.count - trailingZeros)]), pointPosition - leadingZeros)
    }
}
