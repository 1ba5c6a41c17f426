import ParseWire
package import JSON

/// About how much room values take, to keep rows and replies within bounds; quick, and never less than a half of it.
package enum ObjectSize {
    /// What one object may hold, in bytes.
    ///
    /// Everything that works on an object whole (reading, changing inside it, searching its arrays) costs in
    /// proportion, so this bounds what one request can ask of the server.
    package static let limit = 1 << 20

    /// The size of a row's fields.
    package static func bytes(of fields: [String: FieldValue]) -> Int {
        fields.reduce(0) { $0 + $1.key.utf8.count + bytes(of: $1.value) }
    }

    private static func bytes(of value: FieldValue) -> Int {
        switch value {
        case .null, .bool: 4
        case .number, .date: 8
        case .geoPoint: 16
        case .string(let text), .bytes(let text), .file(let text): text.utf8.count + 2
        case .pointer(let className, let id): className.utf8.count + id.utf8.count
        case .array(let elements): elements.reduce(2) { $0 + bytes(of: $1) }
        case .object(let object): bytes(of: JSONValue.object(object))
        case .polygon(let points): points.count * 16
        case .binary(let bytes): bytes.count
        }
    }

    package static func bytes(of json: JSONValue) -> Int {
        switch json {
        case .null, .bool: 4
        case .number: 8
        case .string(let text): text.utf8.count + 2
        case .array(let elements): elements.reduce(2) { $0 + bytes(of: $1) }
        case .object(let object): object.reduce(2) { $0 + $1.key.utf8.count + 3 + bytes(of: $1.value) }
        }
    }

    /// - Throws: ``ParseError`` 116 for fields that are larger than an object may be.
    package static func check(_ fields: [String: FieldValue]) throws(ParseError) {
        guard bytes(of: fields) <= limit else {
            throw ParseError(.objectTooLarge, "The object is larger than \(limit) bytes.")
        }
    }
}
