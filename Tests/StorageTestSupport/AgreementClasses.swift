import ParseCore

/// Two classes with every type of field, that lead to each other.
///
/// Some names mean something to a database, or differ from another only by case.
enum AgreementClasses {
    static let first = "AgreeA"
    static let second = "AgreeB"

    static let fields: [String: [(name: String, type: FieldType)]] = [
        first: [
            ("s", .string), ("S", .string), ("rowid", .string), ("n", .number), ("b", .boolean), ("d", .date),
            ("p", .pointer(second)), ("q", .pointer(first)), ("a", .array), ("value", .array), ("o", .object),
            ("key", .object), ("g", .geoPoint), ("f", .file), ("y", .bytes), ("area", .polygon),
            ("r", .relation(second)), ("type", .relation(first)),
        ],
        second: [
            ("s", .string), ("n", .number), ("p", .pointer(first)), ("a", .array), ("o", .object),
            ("d", .date), ("r", .relation(first)), ("value", .string),
        ],
    ]

    static func other(_ className: String) -> String {
        className == first ? second : first
    }

    static func relations(of className: String) -> [(name: String, target: String)] {
        (fields[className] ?? []).compactMap { field in
            guard case .relation(let target) = field.type else { return nil }
            return (field.name, target)
        }
    }

    static var schemaChanges: [SchemaChange] {
        [first, second].flatMap { className in
            (fields[className] ?? []).map { .addField(className: className, field: $0.name, type: $0.type) }
        }
    }

    static func id(_ className: String, _ number: Int) -> String {
        (className == first ? "a" : "b") + String(number)
    }
}
