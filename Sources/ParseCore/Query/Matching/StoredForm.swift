package import JSON
import ParseWire

extension FieldValue {
    /// A value as it stands inside of an array or object: JSON with a `__type` is what it says, where it is well-formed.
    package init(stored json: JSONValue) {
        switch json {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .number(let number): self = .number(number)
        case .string(let text): self = .string(text)
        case .array(let elements): self = .array(elements)
        case .object(let object): self = Self.typed(object) ?? .object(object)
        }
    }

    private static func typed(_ object: JSONObject) -> FieldValue? {
        switch object["__type"]?.stringValue {
        case "Date": return object["iso"]?.stringValue.flatMap(Timestamp.init(iso8601:)).map(FieldValue.date)
        case "Pointer":
            guard let className = object["className"]?.stringValue, let id = object["objectId"]?.stringValue
            else { return nil }
            return .pointer(className: className, objectID: id)
        case "GeoPoint":
            guard let latitude = object["latitude"]?.numberValue,
                let longitude = object["longitude"]?.numberValue
            else { return nil }
            return .geoPoint(latitude: latitude, longitude: longitude)
        case "File": return object["name"]?.stringValue.map(FieldValue.file)
        case "Bytes": return object["base64"]?.stringValue.map(FieldValue.bytes)
        case "Polygon": return object["coordinates"]?.arrayValue.flatMap(polygon)
        default: return nil
        }
    }

    private static func polygon(_ coordinates: [JSONValue]) -> FieldValue? {
        var points = coordinates.map { ($0.arrayValue ?? []).compactMap(\.numberValue) }
        guard points.count >= 3, points.allSatisfy({ $0.count == 2 }), let first = points.first else {
            return nil
        }
        if points.last != first { points.append(first) }
        return .polygon(points)
    }

    /// The form in which values are compared for equality; two values are equal when their forms are.
    ///
    /// Texts are compared by code points, dates as instants, pointers by class and id, files by name. Arrays and
    /// objects are compared as the JSON they are, however deep; the order of an object's members does not count.
    package var comparisonForm: JSONValue {
        json
    }

    /// Whether a condition of equality takes the two for the same.
    package func isSame(as other: FieldValue) -> Bool {
        switch (self, other) {
        case (.number(let left), .number(let right)): left == right
        case (.bool(let left), .bool(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.binary(let left), .binary(let right)): left == right
        case (.null, .null): true
        case (.binary, _), (_, .binary): false
        default: comparisonForm == other.comparisonForm
        }
    }
}
