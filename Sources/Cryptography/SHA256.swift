import CSodium

/// The hash function SHA-256 (FIPS 180-4).
package enum SHA256 {
    package static func hash(_ bytes: [UInt8]) -> Digest256 {
        bytes.withUnsafeBytes { hash($0) }
    }

    /// The digest of the text's UTF-8 bytes.
    package static func hash(_ text: String) -> Digest256 {
        var text = text
        return text.withUTF8 { hash(UnsafeRawBufferPointer($0)) }
    }

    package static func hash(_ bytes: UnsafeRawBufferPointer) -> Digest256 {
        var hasher = Hasher()
        hasher.update(bytes)
        return hasher.finish()
    }

    /// Hashes bytes that arrive in pieces; a copy goes on independently.
    package struct Hasher: Sendable {
        private var state = crypto_hash_sha256_state()

        package init() {
            crypto_hash_sha256_init(&state)
        }

        package mutating func update(_ bytes: UnsafeRawBufferPointer) {
            guard let start = bytes.baseAddress else { return }
            crypto_hash_sha256_update(&state, start.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
        }

        package mutating func update(_ bytes: [UInt8]) {
            bytes.withUnsafeBytes { update($0) }
        }

        /// The digest of everything so far.
        package consuming func finish() -> Digest256 {
            var state = state
            return Digest256 { crypto_hash_sha256_final(&state, $0) }
        }
    }
}

/// Message authentication with HMAC-SHA-256 (RFC 2104).
package enum HMACSHA256 {
    /// The code for a message; the key may have any length.
    package static func authenticationCode(for message: [UInt8], key: [UInt8]) -> Digest256 {
        var state = crypto_auth_hmacsha256_state()
        crypto_auth_hmacsha256_init(&state, key, key.count)
        crypto_auth_hmacsha256_update(&state, message, UInt64(message.count))
        return Digest256 { crypto_auth_hmacsha256_final(&state, $0) }
    }

    /// Whether the code is the message's, compared in constant time.
    package static func isValid(_ code: some Collection<UInt8>, for message: [UInt8], key: [UInt8]) -> Bool {
        constantTimeEquals(Array(code), authenticationCode(for: message, key: key).bytes)
    }
}

/// SipHash-2-4 with a fixed key, for ETags and the like: fast, no defence against chosen input.
package enum ShortHash {
    private static let key = [UInt8]("Martlet ETag 001".utf8)

    package static func sipHash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var result: UInt64 = 0
        withUnsafeMutablePointer(to: &result) { pointer in
            // SAFETY: the output is eight bytes, and any bytes are a valid UInt64.
            pointer.withMemoryRebound(to: UInt8.self, capacity: 8) { target in
                let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
                _ = crypto_shorthash(target, start, UInt64(bytes.count), key)
            }
        }
        // The algorithm's output is little-endian on every machine.
        return UInt64(littleEndian: result)
    }

    package static func sipHash(_ bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBytes { sipHash($0) }
    }
}
