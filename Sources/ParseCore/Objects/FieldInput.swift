package import JSON
import ParseWire

/// One member of a request body, read as what it does to a field.
package struct FieldInput: Sendable {
    /// The type the field must have; `nil` when the value fits any (`null`, `Delete`).
    package let type: FieldType?
    package let change: FieldChange

    /// Reads a value (Parse REST guide, "Data Types" and the `__op` forms).
    ///
    /// - Throws: ``ParseError``: 111 for a `__type` whose parts are missing or malformed, 107 for an
    ///   operation with wrong operands or a NUL in a text, 111 for a number beyond the range of a double, 108 for an operation that is unknown, 121 for `$` or `.` in a key
    ///   inside a value.
    package init(_ json: JSONValue) throws(ParseError) {
        switch json {
        case .null: (type, change) = (nil, .set(.null))
        case .bool(let flag): (type, change) = (.boolean, .set(.bool(flag)))
        case .number(let number):
            try Self.refuseInfinity(number)
            (type, change) = (.number, .set(.number(number)))
        case .string(let text):
            try Self.refuseNUL(text)
            (type, change) = (.string, .set(.string(text)))
        case .array(let elements):
            try Self.checkNestedKeys(json)
            (type, change) = (.array, .set(.array(elements)))
        case .object(let object):
            if let name = object["__op"]?.stringValue {
                (type, change) = try Self.operation(name, object)
            } else if let name = object["__type"]?.stringValue {
                let value = try Self.typed(name, object)
                (type, change) = (value.type, value.value.map(FieldChange.set) ?? .relate([]))
            } else {
                try Self.checkNestedKeys(json)
                (type, change) = (.object, .set(.object(object)))
            }
        }
    }

    private static func operation(
        _ name: String,
        _ object: JSONObject
    ) throws(ParseError) -> (FieldType?, FieldChange) {
        switch name {
        case "Delete": return (nil, .unset)
        case "Increment":
            guard let amount = object["amount"]?.numberValue else {
                throw ParseError(.invalidJSON, "incrementing must provide a number")
            }
            try refuseInfinity(amount)
            return (.number, .increment(amount))
        case "Add": return (.array, .add(try operands(object, "add")))
        case "AddUnique": return (.array, .addUnique(try operands(object, "add")))
        case "Remove": return (.array, .remove(try operands(object, "remove")))
        case "AddRelation", "RemoveRelation", "Batch": return try RelationInput.read(name, object)
        default:
            throw ParseError(.commandUnavailable, "The \(name) operator is not supported yet.")
        }
    }

    private static func operands(_ object: JSONObject, _ verb: String) throws(ParseError) -> [JSONValue] {
        guard let elements = object["objects"]?.arrayValue else {
            throw ParseError(.invalidJSON, "objects to \(verb) must be an array")
        }
        try checkNestedKeys(.array(elements))
        return elements
    }

    private static func typed(
        _ name: String,
        _ object: JSONObject
    ) throws(ParseError) -> (type: FieldType, value: FieldValue?) {
        try refuseNUL(in: .object(object))
        switch name {
        case "Date":
            if let iso = object["iso"]?.stringValue, let instant = Timestamp(iso8601: iso) {
                return (.date, .date(instant))
            }
        case "Pointer":
            if let className = object["className"]?.stringValue, let id = object["objectId"]?.stringValue {
                return (.pointer(className), .pointer(className: className, objectID: id))
            }
        case "GeoPoint":
            if let latitude = object["latitude"]?.numberValue, (-90...90).contains(latitude),
                let longitude = object["longitude"]?.numberValue, (-180...180).contains(longitude)
            {
                return (.geoPoint, .geoPoint(latitude: latitude, longitude: longitude))
            }
        case "File":
            if let file = object["name"]?.stringValue { return (.file, .file(name: file)) }
        case "Bytes":
            if let base64 = object["base64"]?.stringValue, !base64.isEmpty {
                return (.bytes, .bytes(base64: base64))
            }
        case "Relation":
            if let className = object["className"]?.stringValue {
                return (.relation(className), nil)
            }
        case "Polygon":
            if let coordinates = object["coordinates"]?.arrayValue {
                return (.polygon, .polygon(try polygon(coordinates)))
            }
        default: break
        }
        throw ParseError(.incorrectType, "This is not a valid \(name)")
    }

    private static func polygon(_ coordinates: [JSONValue]) throws(ParseError) -> [[Double]] {
        var points: [[Double]] = []
        for coordinate in coordinates {
            guard let pair = coordinate.arrayValue, pair.count == 2, let latitude = pair[0].numberValue,
                let longitude = pair[1].numberValue, (-90...90).contains(latitude),
                (-180...180).contains(longitude)
            else { throw ParseError(.incorrectType, "This is not a valid Polygon") }
            points.append([latitude, longitude])
        }
        guard Set(points).count >= 3 else {
            throw ParseError(.invalidJSON, "Polygon must have at least 3 values")
        }
        if let first = points.first, points.last != first { points.append(first) }
        return points
    }

    /// PostgreSQL holds no text with NUL in it, so that nothing may be stored that one database could not give to
    /// the other.
    private static func refuseNUL(_ text: String) throws(ParseError) {
        if text.utf8.contains(0) {
            throw ParseError(.invalidJSON, "Text cannot contain the character NUL.")
        }
    }

    /// JSON has no way to write what is larger than every number: it would come back as `null`.
    private static func refuseInfinity(_ number: Double) throws(ParseError) {
        guard number.isFinite else { throw ParseError(.incorrectType, "A number is too large.") }
    }

    /// Keys inside a stored value hold neither `$` nor `.`, since queries give both a meaning.
    private static func checkNestedKeys(_ json: JSONValue) throws(ParseError) {
        switch json {
        case .string(let text): try refuseNUL(text)
        case .number(let number): try refuseInfinity(number)
        case .array(let elements):
            for element in elements { try checkNestedKeys(element) }
        case .object(let object):
            for member in object {
                try refuseNUL(member.key)
                if member.key.utf8.contains(where: { $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: ".") }) {
                    throw ParseError(
                        .invalidNestedKey,
                        "Nested keys should not contain the '$' or '.' characters"
                    )
                }
                try checkNestedKeys(member.value)
            }
        default: break
        }
    }
}
