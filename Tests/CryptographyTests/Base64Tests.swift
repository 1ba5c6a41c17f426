import Cryptography
import Testing

@Suite struct Base64Tests {
    /// RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `text is written with padding and read with or without`(plain: String, text: String) {
        #expect(Base64.encode(Array(plain.utf8)) == text)
        #expect(Base64.decode(text) == Array(plain.utf8))
        #expect(Base64.decode(text.filter { $0 != "=" }) == Array(plain.utf8))
    }

    @Test func `all bytes of all lengths come back`() {
        for count in 0..<300 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
    }

    @Test func `the letters of addresses are read too`() {
        #expect(Base64.encode([0xFB, 0xFF]) == "+/8=")
        #expect(Base64.decode("-_8") == [0xFB, 0xFF])
    }

    @Test(arguments: ["Z", "Zm9vY", "Zm 9v", "Zm9v\n", "Zg\0", "Zm9!", "é", "Zh=="])
    func `what no bytes are written as is refused`(text: String) {
        #expect(Base64.decode(text) == nil)
    }
}
