import Cryptography

/// The header `ETag` (RFC 9110, section 8.8.3).
enum EntityTag {
    private static let digits = Array("0123456789abcdef".utf8)

    /// A weak tag of a body: its length and a short hash of it.
    static func weak(of body: [UInt8]) -> String {
        let hash = ShortHash.sipHash(body)
        return String(unsafeUninitializedCapacity: 37) { buffer in
            var count = 0
            func append(_ byte: UInt8) {
                buffer[count] = byte
                count += 1
            }
            func append(hexadecimal value: UInt64) {
                var shift = value == 0 ? 0 : (63 - value.leadingZeroBitCount) / 4 * 4
                while shift >= 0 {
                    append(digits[Int(value >> UInt64(shift) & 15)])
                    shift -= 4
                }
            }
            for byte in "W/\"".utf8 { append(byte) }
            append(hexadecimal: UInt64(body.count))
            append(UInt8(ascii: "-"))
            append(hexadecimal: hash)
            append(UInt8(ascii: "\""))
            return count
        }
    }
}
