import Cryptography

/// A name from a client as the name of a file on disk.
///
/// Lower-case letters, digits, `-` and dots stand for themselves, every other byte is written as a number, so that
/// no name leads out of its folder and a file system without regard to case keeps all names apart. A name
/// that would be too long for a file system ends in its hash instead.
enum StoredName {
    /// File systems take 255 bytes; some room is left for what is appended.
    private static let limit = 200
    private static let keptOfLongName = 100

    static func encode(_ name: String) -> String {
        // No other name is written so.
        if name.isEmpty { return "_" }
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            if isPlain(byte) || byte == UInt8(ascii: ".") && !bytes.isEmpty {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "_"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        guard bytes.count > limit else { return String(decoding: bytes, as: UTF8.self) }
        // No encoding of a short name has this character.
        return String(decoding: bytes.prefix(keptOfLongName), as: UTF8.self) + "~" + hash(name)
    }

    /// The name that is written so; `nil` for one that was too long, and for what is never written.
    static func decode(_ stored: String) -> String? {
        if stored == "_" { return "" }
        var bytes: [UInt8] = []
        var rest = Array(stored.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "_") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        let name = String(decoding: bytes, as: UTF8.self)
        return encode(name) == stored ? name : nil
    }

    /// Whether all of the name can be read from how it is written.
    static func isWhole(_ stored: String) -> Bool {
        !stored.utf8.contains(UInt8(ascii: "~"))
    }

    /// One of 256 folders, so that none gets too many entries.
    static func shard(_ name: String) -> String {
        String(hash(name).prefix(2))
    }

    private static func hash(_ name: String) -> String {
        let bytes = SHA256.hash(name).bytes.flatMap { [digit($0 >> 4), digit($0 & 15)] }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 97...122, UInt8(ascii: "-"): true
        default: false
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 48 + value : 87 + value
    }
}
