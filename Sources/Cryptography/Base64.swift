import CSodium

/// Bytes as text of 64 characters (RFC 4648, section 4).
package enum Base64 {
    /// With padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        let variant = Int32(sodium_base64_VARIANT_ORIGINAL)
        let length = sodium_base64_encoded_len(bytes.count, variant)
        return String(unsafeUninitializedCapacity: length) { buffer in
            // SAFETY: the buffer has room for `length` characters, of which the last is a zero that we leave out.
            buffer.withMemoryRebound(to: CChar.self) { characters in
                guard let start = characters.baseAddress else { return 0 }
                sodium_bin2base64(start, length, bytes, bytes.count, variant)
                return length - 1
            }
        }
    }

    /// `nil` for a character outside the alphabet, and for a number of characters that no bytes have.
    ///
    /// Padding may be missing, and `-` and `_` may stand for `+` and `/`, as some clients write them.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let characters = text.utf8.prefix { $0 != UInt8(ascii: "=") }.map { byte in
            switch byte {
            case UInt8(ascii: "-"): CChar(bitPattern: UInt8(ascii: "+"))
            case UInt8(ascii: "_"): CChar(bitPattern: UInt8(ascii: "/"))
            default: CChar(bitPattern: byte)
            }
        }
        guard !characters.isEmpty else { return [] }
        let capacity = characters.count / 4 * 3 + 3
        var isValid = false
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            // SAFETY: at most `capacity` bytes are written, and `count` says how many.
            let variant = Int32(sodium_base64_VARIANT_ORIGINAL_NO_PADDING)
            let start = buffer.baseAddress
            let code =
                if let start {
                    sodium_base642bin(
                        start,
                        capacity,
                        characters,
                        characters.count,
                        nil,
                        &count,
                        nil,
                        variant
                    )
                } else { Int32(-1) }
            isValid = code == 0
            if !isValid { count = 0 }
        }
        return isValid ? bytes : nil
    }
}
