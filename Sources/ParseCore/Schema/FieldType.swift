/// The type of a field of a class (Parse REST guide, "Data Types").
package enum FieldType: Hashable, Sendable {
    case string, number, boolean, date, object, array, geoPoint, file, bytes, polygon, acl
    /// Points to an object of the named class.
    case pointer(String)
    /// Many objects of the named class.
    case relation(String)

    /// The word of the schema API, such as `String` or `Pointer`.
    package var wireName: String {
        switch self {
        case .string: "String"
        case .number: "Number"
        case .boolean: "Boolean"
        case .date: "Date"
        case .object: "Object"
        case .array: "Array"
        case .geoPoint: "GeoPoint"
        case .file: "File"
        case .bytes: "Bytes"
        case .polygon: "Polygon"
        case .acl: "ACL"
        case .pointer: "Pointer"
        case .relation: "Relation"
        }
    }

    /// The class that a pointer or relation leads to.
    package var targetClass: String? {
        switch self {
        case .pointer(let name), .relation(let name): name
        default: nil
        }
    }

    /// As error texts name it: `Number`, `Pointer<_User>`.
    package var description: String {
        targetClass.map { "\(wireName)<\($0)>" } ?? wireName
    }

    /// The type of that name; `nil` when there is none, or when a pointer or relation lacks its class.
    package init?(wireName: String, targetClass: String?) {
        switch (wireName, targetClass) {
        case ("String", _): self = .string
        case ("Number", _): self = .number
        case ("Boolean", _): self = .boolean
        case ("Date", _): self = .date
        case ("Object", _): self = .object
        case ("Array", _): self = .array
        case ("GeoPoint", _): self = .geoPoint
        case ("File", _): self = .file
        case ("Bytes", _): self = .bytes
        case ("Polygon", _): self = .polygon
        case ("ACL", _): self = .acl
        case ("Pointer", let target?): self = .pointer(target)
        case ("Relation", let target?): self = .relation(target)
        default: return nil
        }
    }
}
