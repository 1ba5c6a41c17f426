import CCrypt
import CSodium

/// Making and checking of stored password hashes.
///
/// These calls block for as long as the hash takes (tens of milliseconds) and use its memory: call them
/// through a ``PasswordHashingPool``.
package enum PasswordHash {
    /// A hash with a fresh salt, in the form `$argon2id$v=19$m=19456,t=2,p=1$…` or `$2b$10$…`.
    package static func make(
        _ password: String,
        _ algorithm: PasswordAlgorithm = .standard
    ) throws(PasswordHashError) -> String {
        guard algorithm.isWithinBounds else { throw .costOutOfBounds }
        switch algorithm {
        case .argon2id(let memoryKiB, let passes): return try argon2id(password, memoryKiB, passes)
        case .bcrypt(let cost): return try bcrypt(password, cost)
        }
    }

    /// Whether the password is the one the hash was made of.
    ///
    /// Answers `false` without any work for a text that is not a hash of a known form, or whose cost is out
    /// of the bounds of ``PasswordAlgorithm/isWithinBounds``.
    package static func verify(_ password: String, against encoded: String) -> Bool {
        check(password, against: encoded) == .matches
    }

    /// Whether a hash should be made anew, at a time when the password is known, to be of this algorithm
    /// and cost; true for anything that is not a hash.
    package static func needsRehash(_ encoded: String, for algorithm: PasswordAlgorithm) -> Bool {
        EncodedPasswordHash(encoded)?.algorithm != algorithm
    }

    enum Outcome { case matches, differs, refusedWithoutWork }

    static func check(_ password: String, against encoded: String) -> Outcome {
        guard let hash = EncodedPasswordHash(encoded) else { return .refusedWithoutWork }
        switch hash.algorithm {
        case .argon2id:
            Sodium.start()
            var password = password
            let code = password.withUTF8 { bytes in
                withChars(bytes) { crypto_pwhash_str_verify(hash.text, $0, UInt64(bytes.count)) }
            }
            return code == 0 ? .matches : .differs
        case .bcrypt:
            guard !password.utf8.contains(0) else { return .refusedWithoutWork }
            guard let computed = crypt(password, setting: hash.text) else { return .differs }
            // Only the hash proper: the salt's last character has spare bits that crypt clears.
            let isEqual = constantTimeEquals(
                Array(computed.utf8.suffix(bcryptHashLength)),
                Array(hash.text.utf8.suffix(bcryptHashLength))
            )
            return isEqual ? .matches : .differs
        }
    }

    /// Checks, and does the work of one hash of `algorithm` when there is nothing that could be checked.
    static func verify(
        _ password: String,
        against encoded: String?,
        sameCostAs algorithm: PasswordAlgorithm
    ) -> Bool {
        let outcome = encoded.map { check(password, against: $0) } ?? .refusedWithoutWork
        if outcome == .refusedWithoutWork {
            // The result is thrown away; only the time matters. bcrypt would refuse a NUL at once.
            let readable = password.unicodeScalars.filter { $0 != "\0" }
            _ = try? make(String(String.UnicodeScalarView(readable)), algorithm)
        }
        return outcome == .matches
    }

    private static let bcryptHashLength = 31

    private static func argon2id(
        _ password: String,
        _ memoryKiB: Int,
        _ passes: Int
    ) throws(PasswordHashError) -> String {
        Sodium.start()
        var password = password
        var encoded = [CChar](repeating: 0, count: Int(crypto_pwhash_STRBYTES))
        let code = password.withUTF8 { bytes in
            withChars(bytes) {
                crypto_pwhash_str_alg(
                    &encoded,
                    $0,
                    UInt64(bytes.count),
                    UInt64(passes),
                    memoryKiB * 1024,
                    crypto_pwhash_ALG_ARGON2ID13
                )
            }
        }
        guard code == 0 else { throw .failed }
        return text(encoded)
    }

    private static func bcrypt(_ password: String, _ cost: Int) throws(PasswordHashError) -> String {
        guard !password.utf8.contains(0) else { throw .passwordContainsNUL }
        let salt = SecureRandom.bytes(16).map { CChar(bitPattern: $0) }
        var setting = [CChar](repeating: 0, count: Int(CRYPT_GENSALT_OUTPUT_SIZE))
        let made = crypt_gensalt_rn(
            "$2b$",
            UInt(cost),
            salt,
            Int32(salt.count),
            &setting,
            Int32(CRYPT_GENSALT_OUTPUT_SIZE)
        )
        guard made != nil, let encoded = crypt(password, setting: text(setting)) else { throw .failed }
        return encoded
    }

    /// The C library's `crypt`; `nil` when it refuses.
    private static func crypt(_ password: String, setting: String) -> String? {
        // 32 KiB: too large for the stack of a small thread.
        let data = UnsafeMutablePointer<crypt_data>.allocate(capacity: 1)
        let size = MemoryLayout<crypt_data>.size
        // SAFETY: zero-filled is the documented initial state; the block is cleared (it holds the password)
        // and freed here and the result is copied before.
        UnsafeMutableRawPointer(data).initializeMemory(as: UInt8.self, repeating: 0, count: size)
        defer {
            sodium_memzero(data, size)
            data.deallocate()
        }
        guard let result = crypt_rn(password, setting, data, Int32(size)) else { return nil }
        return String(cString: result)
    }

    /// The text up to the first NUL.
    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func withChars<R>(
        _ bytes: UnsafeBufferPointer<UInt8>,
        _ body: (UnsafePointer<CChar>) -> R
    ) -> R {
        guard let start = bytes.baseAddress else { return body("") }
        // SAFETY: CChar and UInt8 have the same layout.
        return start.withMemoryRebound(to: CChar.self, capacity: bytes.count, body)
    }
}
