package import JSON
package import ParseWire

/// The value of one field as the server keeps it.
///
/// A field can also be absent; that is `nil` of an optional, and not the same as ``null``.
package enum FieldValue: Hashable, Sendable {
    case null
    case string(String)
    case number(Double)
    case bool(Bool)
    case date(Timestamp)
    case pointer(className: String, objectID: String)
    case geoPoint(latitude: Double, longitude: Double)
    case file(name: String)
    case bytes(base64: String)
    case array([JSONValue])
    case object(JSONObject)
    /// Latitude first, closed: the last point is the first.
    case polygon([[Double]])
    /// Raw bytes of a hidden column; never on the wire.
    case binary([UInt8])

    package var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var objectValue: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    package var dateValue: Timestamp? {
        if case .date(let instant) = self { instant } else { nil }
    }

    /// What the API answers for it (Parse REST guide, "Data Types").
    package var json: JSONValue {
        switch self {
        case .null: .null
        case .string(let text): .string(text)
        case .number(let number): .number(number)
        case .bool(let flag): .bool(flag)
        case .date(let instant): Self.dateJSON(instant)
        case .pointer(let className, let objectID): Self.pointerJSON(className, objectID)
        case .geoPoint(let latitude, let longitude):
            ["__type": "GeoPoint", "latitude": .number(latitude), "longitude": .number(longitude)]
        case .file(let name): ["__type": "File", "name": .string(name)]
        case .bytes(let base64): ["__type": "Bytes", "base64": .string(base64)]
        case .array(let elements): .array(elements)
        case .object(let object): .object(object)
        case .polygon(let points):
            ["__type": "Polygon", "coordinates": .array(points.map { .array($0.map(JSONValue.number)) })]
        case .binary: .null
        }
    }

    package static func dateJSON(_ instant: Timestamp) -> JSONValue {
        ["__type": "Date", "iso": .string(instant.iso8601)]
    }

    package static func pointerJSON(_ className: String, _ objectID: String) -> JSONValue {
        ["__type": "Pointer", "className": .string(className), "objectId": .string(objectID)]
    }
}
