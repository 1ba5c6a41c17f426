/// A stored hash taken apart: the algorithm and cost it names, checked before any work is done with it.
struct EncodedPasswordHash {
    let algorithm: PasswordAlgorithm
    /// The text that was parsed: printable ASCII only.
    let text: String

    /// `nil` unless it is a well-formed `$argon2id$v=19$` or `$2a$`, `$2b$`, `$2y$` hash whose cost is in bounds.
    init?(_ encoded: String) {
        // The longest hash libsodium writes has 128 bytes; other programs use up to twice the salt and hash.
        guard encoded.utf8.count <= 256 else { return nil }
        guard encoded.hasPrefix("$argon2id$") ? Self.isArgon2id(encoded) : Self.isBcrypt(encoded) else {
            return nil
        }
        guard let algorithm = Self.algorithm(encoded), algorithm.isWithinBounds else { return nil }
        self.algorithm = algorithm
        text = encoded
    }

    private static func parts(_ encoded: String) -> [Substring] {
        encoded.split(separator: "$", omittingEmptySubsequences: false)
    }

    private static func algorithm(_ encoded: String) -> PasswordAlgorithm? {
        let parts = parts(encoded)
        if parts.count == 6, let cost = argon2Cost(parts[3]) {
            return .argon2id(memoryKiB: cost.memoryKiB, passes: cost.passes)
        }
        return number(parts[2], digits: 2...2, allowsLeadingZero: true).map { .bcrypt(cost: $0) }
    }

    /// `$argon2id$v=19$m=…,t=…,p=…$salt$hash`, salt and hash in base64 without padding.
    private static func isArgon2id(_ encoded: String) -> Bool {
        let parts = parts(encoded)
        guard parts.count == 6, parts[0].isEmpty, parts[2] == "v=19" else { return false }
        // 8 to 48 bytes of salt, 16 to 64 bytes of hash.
        guard (11...64).contains(parts[4].utf8.count), (22...86).contains(parts[5].utf8.count) else {
            return false
        }
        return argon2Cost(parts[3]) != nil && isBase64(parts[4], "+/") && isBase64(parts[5], "+/")
    }

    private static func argon2Cost(_ text: Substring) -> (memoryKiB: Int, passes: Int)? {
        let fields = text.split(separator: ",", omittingEmptySubsequences: false)
        guard fields.count == 3, fields[0].hasPrefix("m="), fields[1].hasPrefix("t="),
            fields[2].hasPrefix("p="),
            let memory = number(fields[0].dropFirst(2), digits: 1...7),
            let passes = number(fields[1].dropFirst(2), digits: 1...2),
            let lanes = number(fields[2].dropFirst(2), digits: 1...2),
            (1...16).contains(lanes), memory >= 8 * lanes
        else { return nil }
        return (memory, passes)
    }

    /// `$2b$`, two digits, `$`, 22 characters of salt and 31 of hash.
    private static func isBcrypt(_ encoded: String) -> Bool {
        let parts = parts(encoded)
        guard encoded.utf8.count == 60, parts.count == 4, parts[0].isEmpty else { return false }
        guard ["2a", "2b", "2y"].contains(parts[1]), parts[3].utf8.count == 53 else { return false }
        return isBase64(parts[3], "./")
    }

    private static func number(
        _ text: Substring,
        digits: ClosedRange<Int>,
        allowsLeadingZero: Bool = false
    ) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        guard allowsLeadingZero || text.utf8.first != 0x30 else { return nil }
        return Int(text)
    }

    private static func isBase64(_ text: Substring, _ others: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
            default: others.utf8.contains(byte)
            }
        }
    }
}
