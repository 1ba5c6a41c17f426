import Cryptography
import JSON
import ParseCore
import ParseWire

/// One line of an export: a JSON object with a member that says what it is.
///
/// The format is ours (`docs/operations.md` describes it). Whoever has such a file has everything the app has, password
/// hashes included.
enum TransferLine {
    /// Raised when a reader of today could not read a file of tomorrow.
    static let version = 1

    case header(AppRecord)
    case schema(ClassSchema)
    case row(className: String, StoredRow)
    case links(RelationField, ownerID: String, relatedIDs: [String])
    case file(FileHeading)
    /// Some of the content of the file before.
    case bytes([UInt8])
    case end(TransferCounts)

    var json: JSONValue {
        switch self {
        case .header(let app): .object(["martlet": .number(Double(Self.version)), "app": Self.json(app)])
        case .schema(let schema): .object(["class": .object(SchemaCoding.json(schema))])
        case .row(let className, let row):
            .object(["row": .string(className), "object": .object(RowCoding.json(row))])
        case .links(let relation, let ownerID, let relatedIDs):
            .object([
                "links": .string(relation.className), "field": .string(relation.field),
                "owner": .string(ownerID), "related": .array(relatedIDs.map(JSONValue.string)),
            ])
        case .file(let heading): heading.json
        case .bytes(let bytes): FileHeading.bytesJSON(bytes)
        case .end(let counts): .object(["end": .object(counts.json)])
        }
    }

    private static func json(_ app: AppRecord) -> JSONValue {
        func value(_ key: String?) -> JSONValue {
            key.map(JSONValue.string) ?? .null
        }
        let keys = app.credentials
        return [
            "id": .string(app.id), "name": .string(app.name), "clientKey": value(keys.clientKey),
            "restAPIKey": value(keys.restAPIKey), "javascriptKey": value(keys.javascriptKey),
            "masterKeyHash": .string(Hexadecimal.encode(keys.masterKeyHash.bytes)),
        ]
    }

    static func app(_ json: JSONValue) throws(ConfigurationError) -> AppRecord {
        guard let id = json["id"]?.stringValue, !id.isEmpty, id.utf8.count <= DataFolder.appIDLimit,
            let name = json["name"]?.stringValue,
            let bytes = json["masterKeyHash"]?.stringValue.flatMap(Hexadecimal.decode),
            let hash = Digest256(bytes: bytes)
        else { throw ConfigurationError("its app is malformed") }
        let credentials = AppCredentials(
            clientKey: json["clientKey"]?.stringValue,
            restAPIKey: json["restAPIKey"]?.stringValue,
            javascriptKey: json["javascriptKey"]?.stringValue,
            masterKeyHash: hash
        )
        return AppRecord(id: id, name: name, credentials: credentials)
    }
}

/// Bytes as hexadecimal digits.
enum Hexadecimal {
    static func encode(_ bytes: [UInt8]) -> String {
        var text = ""
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            if byte < 16 { text += "0" }
            text += String(byte, radix: 16)
        }
        return text
    }

    /// `nil` for anything but pairs of hexadecimal digits.
    static func decode(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[start..<start + 2], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
