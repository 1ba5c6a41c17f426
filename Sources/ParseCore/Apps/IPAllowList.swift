/// Addresses that may use a key: single ones and ranges (CIDR, RFC 4632), IPv4 and IPv6 apart.
package struct IPAllowList: Sendable, Hashable {
    private let ranges: [IPRange]

    /// The machine itself, and nobody else.
    package static let loopback = IPAllowList(
        ranges: [
            IPRange(address: IPAddress(bytes: [127, 0, 0, 1]), prefixLength: 32),
            IPRange(address: IPAddress(bytes: [UInt8](repeating: 0, count: 15) + [1]), prefixLength: 128),
        ])

    private init(ranges: [IPRange]) {
        self.ranges = ranges
    }

    /// Reads the entries of the option; an empty list allows nobody.
    ///
    /// `0.0.0.0` and `::` (or `::0`) without a length mean every address of their family, as in parse-server.
    ///
    /// - Throws: ``InvalidEntry`` with the first entry that is no address.
    package init(_ entries: [String]) throws(InvalidEntry) {
        var ranges: [IPRange] = []
        for entry in entries {
            guard let range = IPRange(entry) else { throw InvalidEntry(text: entry) }
            ranges.append(range)
        }
        self.ranges = ranges
    }

    /// Whether the address is in the list; an IPv4 address inside IPv6 (`::ffff:1.2.3.4`) counts as IPv4.
    package func contains(_ text: String) -> Bool {
        guard let address = IPAddress(text) else { return false }
        return ranges.contains { $0.contains(address) }
    }

    /// Whether every address of a family is in the list.
    package var containsEverybody: Bool {
        ranges.contains { $0.prefixLength == 0 }
    }

    package struct InvalidEntry: Error {
        package let text: String
    }
}

/// An address and how many of its leading bits count.
package struct IPRange: Sendable, Hashable {
    let address: IPAddress
    let prefixLength: Int

    init(address: IPAddress, prefixLength: Int) {
        self.address = address
        self.prefixLength = prefixLength
    }

    /// Reads `10.0.0.0/8`, `::1`, `0.0.0.0`.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let first = parts.first, parts.count <= 2, let address = IPAddress(first) else { return nil }
        let bits = address.bytes.count * 8
        self.address = address
        if parts.count == 1 {
            prefixLength = address.bytes.allSatisfy { $0 == 0 } ? 0 : bits
            return
        }
        guard let length = Int(parts[1]), (0...bits).contains(length),
            parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        prefixLength = length
    }

    package func contains(_ other: IPAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        var bits = prefixLength
        for (mine, its) in zip(address.bytes, other.bytes) {
            if bits <= 0 { return true }
            let mask: UInt8 = bits >= 8 ? 0xFF : ~(0xFF >> UInt8(bits))
            if mine & mask != its & mask { return false }
            bits -= 8
        }
        return true
    }
}

/// An IPv4 (4 bytes) or IPv6 (16 bytes) address.
package struct IPAddress: Sendable, Hashable {
    package let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads an address in text form (RFC 4291, section 2.2); zone ids are dropped, IPv4 in IPv6 is IPv4.
    package init?(_ text: String) {
        let bare = text.split(separator: "%", maxSplits: 1).first.map(String.init) ?? text
        if let four = Self.four(bare) {
            bytes = four
            return
        }
        guard let sixteen = Self.sixteen(bare) else { return nil }
        let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        bytes = Array(sixteen[..<12]) == mappedPrefix ? Array(sixteen[12...]) : sixteen
    }

    private static func four(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let bytes = parts.compactMap { part in
            part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? UInt8(part) : nil
        }
        return bytes.count == 4 ? bytes : nil
    }

    private static func sixteen(_ text: String) -> [UInt8]? {
        let halves = split(text, at: "::")
        guard halves.count <= 2 else { return nil }
        let groups = halves.map { half in
            half.isEmpty ? [] : half.split(separator: ":", omittingEmptySubsequences: false)
        }
        var bytes: [[UInt8]] = []
        for (half, parts) in groups.enumerated() {
            var run: [UInt8] = []
            for (position, part) in parts.enumerated() {
                let isLast = half == groups.count - 1 && position == parts.count - 1
                if isLast, let four = four(String(part)) {
                    run += four
                    continue
                }
                guard (1...4).contains(part.utf8.count), let value = UInt16(part, radix: 16),
                    part.first != "+"
                else { return nil }
                run += [UInt8(value >> 8), UInt8(value & 0xFF)]
            }
            bytes.append(run)
        }
        if bytes.count == 1 { return bytes[0].count == 16 ? bytes[0] : nil }
        let missing = 16 - bytes[0].count - bytes[1].count
        guard missing >= 2 else { return nil }
        return bytes[0] + [UInt8](repeating: 0, count: missing) + bytes[1]
    }

    private static func split(_ text: String, at separator: String) -> [Substring] {
        var parts: [Substring] = []
        var rest = text[...]
        while let start = rest.indices.first(where: { rest[$0...].hasPrefix(separator) }) {
            parts.append(rest[..<start])
            rest = rest[rest.index(start, offsetBy: separator.count)...]
        }
        return parts + [rest]
    }
}
