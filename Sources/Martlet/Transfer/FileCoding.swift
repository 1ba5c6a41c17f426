import Cryptography
import JSON
import Locking
import ParseCore

/// What an export says of an uploaded file before its bytes.
struct FileHeading: Sendable {
    var name: String
    var attributes: FileAttributes
    var size: Int

    /// As many bytes are in a line; in Base64 and with what is around them less than 64 KiB.
    static let chunkBytes = 48_000

    init(name: String, attributes: FileAttributes, size: Int) {
        self.name = name
        self.attributes = attributes
        self.size = size
    }

    init(_ json: JSONValue) throws(ConfigurationError) {
        guard let name = json["file"]?.stringValue, let metadata = json["metadata"]?.objectValue,
            let tags = json["tags"]?.objectValue,
            let size = json["size"]?.numberValue.flatMap({ Int(exactly: $0) }), size >= 0
        else { throw ConfigurationError("a file is malformed") }
        self.init(name: name, attributes: FileAttributes(metadata: metadata, tags: tags), size: size)
    }

    var json: JSONValue {
        [
            "file": .string(name), "metadata": .object(attributes.metadata),
            "tags": .object(attributes.tags), "size": .number(Double(size)),
        ]
    }

    static func bytesJSON(_ bytes: [UInt8]) -> JSONValue {
        ["bytes": .string(Base64.encode(bytes))]
    }

    /// The content that follows in these lines, which are taken while it is read.
    func content(in lines: TransferLines) -> NewFile {
        let missing = Locked(size)
        return NewFile(attributes: attributes) {
            guard missing.withLock({ $0 }) > 0 else { return nil }
            guard let text = try lines.next()?["bytes"]?.stringValue, let bytes = Base64.decode(text),
                !bytes.isEmpty,
                missing.withLock({
                    $0 -= bytes.count
                    return $0 >= 0
                })
            else { throw ConfigurationError("the bytes of the file \(name) are malformed or missing") }
            return bytes
        }
    }
}
