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
        // A borrowed buffer saves a retain and release for every name and value.
        object.members.withUnsafeBufferPointer { members in
            bytes.append(Byte.openBrace)
            for index in members.indices {
                if index > 0 { bytes.append(Byte.comma) }
                writeString(members[index].key)
                bytes.append(Byte.colon)
                write(members[index].value)
            }
            bytes.append(Byte.closeBrace)
        }
    }

    private mutating func write(_ elements: [JSONValue]) {
        elements.withUnsafeBufferPointer { elements in
            bytes.append(Byte.openBracket)
            for index in elements.indices {
                if index > 0 { bytes.append(Byte.comma) }
                write(elements[index])
            }
            bytes.append(Byte.closeBracket)
        }
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
        // Nearly always available, and spares the copy that `withUTF8` needs.
        if text.utf8.withContiguousStorageIfAvailable({ writeString($0) }) == nil {
            var text = text
            text.withUTF8 { writeString($0) }
        }
    }

    private mutating func writeString(_ text: UnsafeBufferPointer<UInt8>) {
        bytes.append(Byte.quote)
        var start = 0
        var position = 0
        while position < text.count {
            if position + 8 <= text.count {
                let word = UnsafeRawBufferPointer(text).loadUnaligned(
                    fromByteOffset: position,
                    as: UInt64.self
                )
                let special = Byte.needingEscape(in: UInt64(littleEndian: word))
                guard special != 0 else {
                    position += 8
                    continue
                }
                position += special.trailingZeroBitCount >> 3
            }
            let byte = text[position]
            if byte < 0x20 || byte == Byte.quote || byte == Byte.backslash {
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<position]))
                writeEscape(byte)
                start = position + 1
            }
            position += 1
        }
        bytes.append(contentsOf: start == 0 ? text : UnsafeBufferPointer(rebasing: text[start...]))
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
        writeDigits(value.magnitude)
    }

    private mutating func writeDigits(_ value: UInt64) {
        let start = bytes.count
        var rest = value
        repeat {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            bytes.append(Byte.zero + UInt8(truncatingIfNeeded: digit))
            rest = quotient
        } while rest > 0
        bytes[start...].reverse()
    }

    private mutating func writeZeros(_ count: Int) {
        for _ in 0..<count { bytes.append(Byte.zero) }
    }

    /// Writes the shortest digits that read back, with the point where JavaScript puts it.
    private mutating func writeShortest(_ value: Double) {
        if value < 0 { bytes.append(Byte.minus) }
        let decimal = ShortestDecimal(value.magnitude)
        let start = bytes.count
        switch decimal.pointPosition {
        case decimal.digitCount...21:
            writeDigits(decimal.digits)
            writeZeros(decimal.pointPosition - decimal.digitCount)
        case 1...21:
            writeDigits(decimal.digits)
            bytes.insert(Byte.point, at: start + decimal.pointPosition)
        case -5...0:
            writeRaw("0.")
            writeZeros(-decimal.pointPosition)
            writeDigits(decimal.digits)
        default:
            writeDigits(decimal.digits)
            if decimal.digitCount > 1 { bytes.insert(Byte.point, at: start + 1) }
            bytes.append(UInt8(ascii: "e"))
            bytes.append(decimal.pointPosition > 0 ? UInt8(ascii: "+") : Byte.minus)
            writeDigits(UInt64((decimal.pointPosition - 1).magnitude))
        }
    }
}
