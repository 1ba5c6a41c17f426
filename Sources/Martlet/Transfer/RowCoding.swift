import JSON
import ParseCore
import ParseWire

/// A row as a line of an export holds it: everything that the database holds of it, hidden columns too.
enum RowCoding {
    static func json(_ row: StoredRow) -> JSONObject {
        var object: JSONObject = [
            "id": .string(row.objectID), "created": .number(Double(row.createdAt.milliseconds)),
            "updated": .number(Double(row.updatedAt.milliseconds)),
        ]
        if let acl = row.acl {
            object.append("read", .array(acl.readers.map(JSONValue.string)))
            object.append("write", .array(acl.writers.map(JSONValue.string)))
        }
        let fields = row.fields.sorted { $0.key < $1.key }
        object.append("fields", .object(JSONObject(fields.map { .init(key: $0.key, value: $0.value.json) })))
        if !row.hidden.isEmpty {
            let hidden = row.hidden.sorted { $0.key < $1.key }
            object.append(
                "hidden",
                .object(JSONObject(hidden.map { .init(key: $0.key, value: hiddenJSON($0.value)) }))
            )
        }
        return object
    }

    /// Reads a row back, by the types of the schema.
    static func row(_ json: JSONValue, _ schema: ClassSchema) throws(ConfigurationError) -> StoredRow {
        guard let id = json["id"]?.stringValue, !id.isEmpty, let created = instant(json["created"]),
            let updated = instant(json["updated"]), let fields = json["fields"]?.objectValue
        else { throw malformed(schema, "") }
        var row = StoredRow(objectID: id, createdAt: created, updatedAt: updated)
        if json["read"] != nil || json["write"] != nil {
            row.acl = AccessControlList(readers: keys(json["read"]), writers: keys(json["write"]))
        }
        for member in fields {
            guard let type = schema.type(of: member.key), let value = value(member.value, type) else {
                throw malformed(schema, id)
            }
            row.fields[member.key] = value
        }
        for member in json["hidden"]?.objectValue ?? JSONObject() {
            guard HiddenField.names(of: schema.className).contains(member.key),
                let value = hidden(member.value)
            else { throw malformed(schema, id) }
            row.hidden[member.key] = value
        }
        return row
    }

    private static func value(_ json: JSONValue, _ type: FieldType) -> FieldValue? {
        switch (type, json) {
        case (_, .null): .null
        case (.string, .string(let text)): .string(text)
        case (.number, .number(let number)): .number(number)
        case (.boolean, .bool(let flag)): .bool(flag)
        case (.array, .array(let elements)): .array(elements)
        case (.object, .object(let object)): .object(object)
        case (.date, _): json["iso"]?.stringValue.flatMap { Timestamp(iso8601: $0) }.map(FieldValue.date)
        case (.pointer(let target), _):
            json["objectId"]?.stringValue.map { .pointer(className: target, objectID: $0) }
        case (.file, _): json["name"]?.stringValue.map(FieldValue.file)
        case (.bytes, _): json["base64"]?.stringValue.map(FieldValue.bytes)
        case (.geoPoint, _): point(json)
        case (.polygon, _): polygon(json)
        default: nil
        }
    }

    private static func point(_ json: JSONValue) -> FieldValue? {
        guard let latitude = json["latitude"]?.numberValue, let longitude = json["longitude"]?.numberValue
        else { return nil }
        return .geoPoint(latitude: latitude, longitude: longitude)
    }

    private static func polygon(_ json: JSONValue) -> FieldValue? {
        guard let points = json["coordinates"]?.arrayValue else { return nil }
        let pairs = points.map { ($0.arrayValue ?? []).compactMap(\.numberValue) }
        return pairs.allSatisfy { $0.count == 2 } ? .polygon(pairs) : nil
    }

    private static func instant(_ json: JSONValue?) -> Timestamp? {
        guard let number = json?.numberValue, number.rounded() == number, abs(number) < 9e15 else {
            return nil
        }
        return Timestamp(milliseconds: Int64(number))
    }

    private static func keys(_ json: JSONValue?) -> [String] {
        (json?.arrayValue ?? []).compactMap(\.stringValue)
    }

    private static func hiddenJSON(_ value: FieldValue) -> JSONValue {
        switch value {
        case .binary(let bytes): ["hex": .string(Hexadecimal.encode(bytes))]
        case .string(let text): .string(text)
        default: .null
        }
    }

    private static func hidden(_ json: JSONValue) -> FieldValue? {
        if let text = json.stringValue { return .string(text) }
        return json["hex"]?.stringValue.flatMap(Hexadecimal.decode).map(FieldValue.binary)
    }

    private static func malformed(_ schema: ClassSchema, _ id: String) -> ConfigurationError {
        ConfigurationError("an object of the class \(schema.className) is malformed: \(id)")
    }
}
