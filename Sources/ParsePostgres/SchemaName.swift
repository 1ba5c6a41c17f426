import Cryptography

/// The PostgreSQL schema that holds an app.
enum SchemaName {
    private static let prefix = "app_"

    /// The name: `app_` and the id, or for an id that is long or odd what is plain of it and a digest.
    ///
    /// Names with a digest have a `~`, which a plain one cannot have, so no two ids share a name.
    static func of(applicationID id: String) -> String {
        let bytes = Array(id.utf8)
        if !bytes.isEmpty, bytes.count <= 55, bytes.allSatisfy(isPlain) { return prefix + id }
        let start = String(decoding: bytes.prefix(20).filter(isPlain), as: UTF8.self)
        return "\(prefix)\(start)~\(SHA256.hash(id).hex.prefix(32))"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
