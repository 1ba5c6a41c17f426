import CSodium

/// Randomness fit for secrets, from the operating system.
package enum SecureRandom {
    package static func bytes(_ count: Int) -> [UInt8] {
        precondition(count >= 0, "A number of bytes is not negative.")
        Sodium.start()
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            if let start = buffer.baseAddress { randombytes_buf(start, count) }
            initialized = count
        }
    }

    /// Letters and digits (A-Z, a-z, 0-9), each equally likely: 5.95 bits a character.
    package static func alphanumeric(_ count: Int) -> String {
        precondition(count >= 0, "A number of characters is not negative.")
        var text: [UInt8] = []
        text.reserveCapacity(count)
        while text.count < count {
            // One byte in 32 is refused below, so this is nearly always enough at once.
            for byte in bytes((count - text.count) * 9 / 8 + 4) where text.count < count {
                // 248 is the largest multiple of 62 in a byte: more would favour the first letters.
                if byte < 248 { text.append(alphabet[Int(byte % 62)]) }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Two lower-case digits for each byte.
    package static func hex(byteCount: Int) -> String {
        bytes(byteCount).withUnsafeBytes { hexText($0) }
    }

    /// A random UUID (version 4, RFC 9562) in lower case.
    package static func uuid() -> String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        var text = ""
        text.reserveCapacity(36)
        for (index, digit) in bytes.withUnsafeBytes({ hexText($0) }).enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    private static let alphabet = [UInt8](
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8
    )
}

/// The state of libsodium in this process.
enum Sodium {
    private static let started: Void = {
        let code = sodium_init()
        precondition(code >= 0, "libsodium found no source of randomness.")
    }()

    /// Prepares libsodium; cheap when done already.
    static func start() { _ = started }
}
