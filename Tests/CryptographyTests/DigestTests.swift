import Testing

@testable import Cryptography

@Suite struct DigestTests {
    @Test(
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ]
    )
    func `SHA-256 gives the digests of FIPS 180-4`(text: String, hex: String) {
        #expect(SHA256.hash(text).hex == hex)
        #expect(SHA256.hash(Array(text.utf8)).hex == hex)
    }

    @Test func `pieces give the digest of the whole`() {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for size in [1, 7, 63, 64, 65, 999, 1000] {
            var hasher = SHA256.Hasher()
            for start in stride(from: 0, to: bytes.count, by: size) {
                hasher.update(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            #expect(hasher.finish() == SHA256.hash(bytes))
        }
    }

    @Test func `a copied hasher goes on independently`() {
        var first = SHA256.Hasher()
        first.update(Array("ab".utf8))
        let second = first
        first.update(Array("c".utf8))
        #expect(first.finish() == SHA256.hash("abc"))
        #expect(second.finish() == SHA256.hash("ab"))
    }

    @Test(
        arguments: [
            (
                [UInt8](repeating: 0x0b, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131),
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ] as [([UInt8], String, String)]
    )
    func `HMAC-SHA-256 gives the codes of RFC 4231`(key: [UInt8], message: String, hex: String) {
        let message = Array(message.utf8)
        let code = HMACSHA256.authenticationCode(for: message, key: key)
        #expect(code.hex == hex)
        #expect(HMACSHA256.isValid(code.bytes, for: message, key: key))
        #expect(!HMACSHA256.isValid(code.bytes.dropLast(), for: message, key: key))
        #expect(!HMACSHA256.isValid(code.bytes, for: message + [0], key: key))
        #expect(!HMACSHA256.isValid(code.bytes, for: message, key: key + [1]))
        var changed = code.bytes
        changed[31] ^= 1
        #expect(!HMACSHA256.isValid(changed, for: message, key: key))
    }

    @Test func `empty key and message have a code`() {
        let hex = "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"
        #expect(HMACSHA256.authenticationCode(for: [], key: []).hex == hex)
    }

    @Test func `a digest is made of exactly 32 bytes`() throws {
        for count in [0, 31, 33, 64] { #expect(Digest256(bytes: [UInt8](repeating: 1, count: count)) == nil) }
        let bytes = (0..<32).map { UInt8($0) }
        let digest = try #require(Digest256(bytes: bytes))
        #expect(digest.bytes == bytes)
        #expect(digest.hex == "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
        #expect(MemoryLayout<Digest256>.size == 32)
    }

    @Test func `digests are equal when all bytes are`() throws {
        let digest = SHA256.hash("a")
        #expect(Set([digest, SHA256.hash("a"), SHA256.hash("b")]).count == 2)
        for index in 0..<32 {
            var bytes = digest.bytes
            bytes[index] ^= 0x80
            let other = try #require(Digest256(bytes: bytes))
            #expect(other != digest)
            #expect(!constantTimeEquals(other, digest))
        }
        #expect(constantTimeEquals(digest, SHA256.hash("a")))
    }

    @Test func `constant-time comparison compares`() {
        #expect(constantTimeEquals([UInt8](), []))
        #expect(constantTimeEquals([1, 2, 3], [1, 2, 3]))
        #expect(!constantTimeEquals([1, 2, 3], [1, 2, 4]))
        #expect(!constantTimeEquals([1, 2, 3], [1, 2]))
        #expect(constantTimeEquals("é", "é"))
        // By bytes, unlike `==`.
        #expect(!constantTimeEquals("é", "e\u{301}"))
    }

    @Test func `the short hash never changes`() {
        // An ETag a client keeps must stay right when the server is updated.
        #expect(ShortHash.sipHash(Array("Martlet".utf8)) == 9_469_701_500_647_354_909)
        #expect(ShortHash.sipHash([UInt8]()) != ShortHash.sipHash([0]))
    }
}
