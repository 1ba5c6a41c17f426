import JSON
import ParseCore
import ParseWire
import Postgres

extension FieldValue {
    /// What the columns of a field of this type hold for the value; `nil` when the value is of another type.
    func columns(of type: FieldType) -> [PostgresValue]? {
        switch (type, self) {
        case (.geoPoint, .null): [.null, .null]
        case (_, .null): [.null]
        case (.string, .string(let text)): [.text(text)]
        case (.number, .number(let number)): [.double(number)]
        case (.boolean, .bool(let flag)): [.bool(flag)]
        case (.date, .date(let instant)): [.integer(instant.milliseconds)]
        case (.pointer(let target), .pointer(let className, let id))
        where target.utf8.elementsEqual(className.utf8):
            [.text(id)]
        case (.file, .file(let name)): [.text(name)]
        case (.bytes, .bytes(let base64)): [.text(base64)]
        case (.geoPoint, .geoPoint(let latitude, let longitude)): [.double(latitude), .double(longitude)]
        case (.object, .object(let object)): [.text(JSONValue.object(object).serializedString())]
        case (.array, .array(let elements)): [.text(JSONValue.array(elements).serializedString())]
        case (.polygon, .polygon(let points)):
            [.text(JSONValue.array(points.map { .array($0.map(JSONValue.number)) }).serializedString())]
        default: nil
        }
    }

    /// What a hidden column holds.
    var hiddenColumn: PostgresValue {
        switch self {
        case .string(let text): .text(text)
        case .binary(let bytes): .bytes(bytes)
        default: .null
        }
    }

    /// Whether there is a NUL in one of its texts, which PostgreSQL can neither store nor compare with.
    var containsNUL: Bool {
        switch self {
        case .string(let text), .file(let text), .bytes(let text): text.containsNUL
        case .pointer(let className, let id): className.containsNUL || id.containsNUL
        case .array(let elements): elements.contains(where: \.containsNUL)
        case .object(let object): JSONValue.object(object).containsNUL
        case .null, .number, .bool, .date, .geoPoint, .polygon, .binary: false
        }
    }

    /// The text of the JSON that the function `form` makes of an equal value.
    ///
    /// That is the form in which core compares, but with a date as a number, so that the function need not write
    /// dates as text.
    var form: String {
        if case .date(let instant) = self {
            return #"{"__type":"$Date","ms":\#(instant.milliseconds)}"#
        }
        return comparisonForm.serializedString()
    }
}

extension JSONValue {
    fileprivate var containsNUL: Bool {
        switch self {
        case .string(let text): text.containsNUL
        case .array(let elements): elements.contains(where: \.containsNUL)
        case .object(let object): object.contains { $0.key.containsNUL || $0.value.containsNUL }
        case .null, .bool, .number: false
        }
    }
}
