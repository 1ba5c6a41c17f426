/// Percent-encoding of RFC 3986 §2.1.
package enum PercentEncoding {
    /// Decodes `%XX`; `nil` when an escape is malformed or the result is no UTF-8.
    ///
    /// A `+` stays a plus: it means a space in forms only, see ``FormEncoding``.
    package static func decode(_ text: some StringProtocol) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "%") {
                guard let byte = escape(in: bytes, at: position) else { return nil }
                decoded.append(byte)
                position += 3
            } else {
                decoded.append(bytes[position])
                position += 1
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Encodes everything but the unreserved characters, as `encodeURIComponent` nearly does.
    package static func encode(_ text: some StringProtocol) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), hexDigit(byte >> 4), hexDigit(byte & 15)]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// The byte that the three bytes at `position` stand for, if they are an escape.
    static func escape(in bytes: [UInt8], at position: Int) -> UInt8? {
        guard position + 2 < bytes.count, bytes[position] == UInt8(ascii: "%"),
            let high = ASCII.hexValue(bytes[position + 1]), let low = ASCII.hexValue(bytes[position + 2])
        else { return nil }
        return high << 4 | low
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 55 + value }
}
