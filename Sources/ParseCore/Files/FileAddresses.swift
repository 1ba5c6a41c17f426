import JSON

/// The addresses that an app's files are downloaded from, as the caller of a request knows the server.
///
/// `{base}/files/{application id}/{name}`, where the base is the option `publicServerURL`, else the address that
/// the request itself was sent to.
package struct FileAddresses: Sendable {
    private let prefix: String

    /// Made once for a reply, however many files it names.
    package init(_ context: RequestContext) {
        let base = context.app.options.publicServerURL ?? context.baseURL ?? ""
        prefix = "\(base)/files/\(Self.encoded(context.app.id))/"
    }

    /// `nil` for a class that has no field for files.
    init?(_ context: RequestContext, for schema: ClassSchema?) {
        guard let schema, schema.fieldNames.contains(where: { schema.type(of: $0) == .file }) else {
            return nil
        }
        self.init(context)
    }

    /// A file with its address; `nil` for any other value.
    func json(of value: FieldValue) -> JSONValue? {
        guard case .file(let name) = value else { return nil }
        return ["__type": "File", "name": .string(name), "url": .string(address(of: name))]
    }

    /// The address of a file by the name it is stored under.
    package func address(of name: String) -> String {
        prefix + Self.encoded(name)
    }

    /// As JavaScript's `encodeURIComponent`, which the addresses of parse-server are made with.
    private static func encoded(_ text: String) -> String {
        guard !text.utf8.allSatisfy(isPlain) else { return text }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        default: "-_.!~*'()".utf8.contains(byte)
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 48 + value : 55 + value
    }
}
