/// `application/x-www-form-urlencoded`, in query strings and bodies.
package enum FormEncoding {
    /// Pairs beyond this are dropped, as Express does.
    package static let pairLimit = 1000

    /// The pairs in order, decoded.
    ///
    /// `+` is a space, a malformed escape stays as it is, what is no UTF-8 is replaced (U+FFFD). A name without `=` has an empty value.
    package static func parse(_ bytes: [UInt8]) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        var start = 0
        while start < bytes.count, pairs.count < pairLimit {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "&")) ?? bytes.count
            defer { start = end + 1 }
            guard end > start else { continue }
            let equals = bytes[start..<end].firstIndex(of: UInt8(ascii: "=")) ?? end
            pairs.append((decode(bytes, start..<equals), decode(bytes, min(equals + 1, end)..<end)))
        }
        return pairs
    }

    /// The pairs of a query string, which comes without its `?`.
    package static func parse(_ query: some StringProtocol) -> [(name: String, value: String)] {
        parse(Array(query.utf8))
    }

    private static func decode(_ bytes: [UInt8], _ range: Range<Int>) -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(range.count)
        var position = range.lowerBound
        while position < range.upperBound {
            let byte = bytes[position]
            if byte == UInt8(ascii: "%"), position + 2 < range.upperBound,
                let escaped = PercentEncoding.escape(in: bytes, at: position)
            {
                decoded.append(escaped)
                position += 3
            } else {
                decoded.append(byte == UInt8(ascii: "+") ? ASCII.space : byte)
                position += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
