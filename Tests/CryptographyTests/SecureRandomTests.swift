import Testing

@testable import Cryptography

@Suite struct SecureRandomTests {
    @Test(arguments: [0, 1, 10, 32, 1000])
    func `a text has the length asked for`(count: Int) {
        #expect(SecureRandom.bytes(count).count == count)
        #expect(SecureRandom.alphanumeric(count).utf8.count == count)
        #expect(SecureRandom.hex(byteCount: count).utf8.count == count * 2)
    }

    @Test func `every letter and digit is equally likely`() {
        let count = 62_000
        var seen: [Character: Int] = [:]
        for character in SecureRandom.alphanumeric(count) { seen[character, default: 0] += 1 }
        #expect(seen.keys.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
        #expect(seen.count == 62)
        let expected = Double(count) / 62
        let chiSquare = seen.values.map { Double($0) - expected }.reduce(0) { $0 + $1 * $1 / expected }
        // 61 degrees of freedom: 140 is seven standard deviations away. `byte % 62` without refusal gives
        // over 400.
        #expect(chiSquare < 140)
    }

    @Test func `nothing comes twice`() {
        #expect(Set((0..<1000).map { _ in SecureRandom.alphanumeric(10) }).count == 1000)
        #expect(Set((0..<1000).map { _ in SecureRandom.bytes(16) }).count == 1000)
    }

    @Test func `a UUID has version 4 and the standard's variant`() {
        for _ in 0..<100 {
            let uuid = SecureRandom.uuid()
            #expect(
                uuid.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/)
                    != nil
            )
        }
        #expect(Set((0..<1000).map { _ in SecureRandom.uuid() }).count == 1000)
    }
}
