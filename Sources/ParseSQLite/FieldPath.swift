import JSON
import ParseCore
import SQLite

/// A place inside a field, on its way to the functions that list or sort by what is there.
final class FieldPath: Sendable {
    private let type: FieldType
    private let path: [String]
    /// The class of the objects that ``pointers(_:)`` looks for.
    private let target: String

    init(_ path: [String], in type: FieldType, target: String = "") {
        self.type = type
        self.path = path
        self.target = target
    }

    /// The values of the path; the arguments are this object and the columns of the field.
    private func values(_ arguments: borrowing SQLiteArguments) -> [FieldValue] {
        PathValues.values(of: type.value(arguments, from: 1), at: path).compactMap { $0 }
    }

    /// Texts that are equal when the values are, elements of arrays one by one, as a JSON array; with the values that
    /// are arrays themselves where `whole` says so.
    func keys(_ arguments: borrowing SQLiteArguments, whole: Bool) -> String {
        var keys: [JSONValue] = []
        for value in values(arguments) {
            if case .array(let elements) = value {
                keys += elements.lazy.filter { !$0.isNull }
                    .map { FieldValue(stored: $0).comparisonKey }
                if !whole { continue }
            }
            if value != .null { keys.append(value.comparisonKey) }
        }
        return JSONValue.array(keys).serializedString()
    }

    /// The ids of the objects of the target class that pointers here lead to, as a JSON array.
    func pointers(_ arguments: borrowing SQLiteArguments) -> String {
        var ids: [JSONValue] = []
        func add(_ value: FieldValue) {
            // No object has an id with NUL in it, which SQLite's JSON could not hand on.
            guard case .pointer(let className, let id) = value, !id.utf8.contains(0),
                target.utf8.elementsEqual(className.utf8)
            else { return }
            ids.append(.string(id))
        }
        for value in values(arguments) {
            add(value)
            if case .array(let elements) = value { elements.forEach { add(FieldValue(stored: $0)) } }
        }
        return JSONValue.array(ids).serializedString()
    }

    /// What SQLite sorts as core sorts the values.
    func sortKey(_ arguments: borrowing SQLiteArguments, isDescending: Bool) -> SQLiteValue {
        let values = PathValues.values(of: type.value(arguments, from: 1), at: path)
        return SortValue(values, isDescending: isDescending).sqlite
    }

    /// The different values of rows, in the form of an answer.
    func collect(_ value: FieldValue?, into found: inout DistinctValues) {
        for value in PathValues.values(of: value, at: path).compactMap({ $0 }) {
            if case .array(let elements) = value {
                for element in elements { found.add(element) }
            } else {
                found.add(value.json)
            }
        }
    }
}

/// Values without repetition, in the order in which they came.
struct DistinctValues {
    private(set) var values: [JSONValue] = []
    private var present: Set<JSONValue> = []

    mutating func add(_ value: JSONValue) {
        guard !value.isNull, present.insert(value).inserted else { return }
        values.append(value)
    }
}

extension SortValue {
    /// NULL, numbers, texts and blobs are in this order in SQLite.
    fileprivate var sqlite: SQLiteValue {
        switch rank {
        case .null: return .null
        case .number: return .real(number)
        case .text: return .text(text)
        case .object: return .blob([0])
        case .bool: return .blob([1, number == 0 ? 0 : 1])
        case .date:
            let bits = UInt64(bitPattern: Int64(number)) ^ (1 << 63)
            return .blob([2] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) })
        }
    }
}

extension FieldValue {
    /// A text that is equal for equal values.
    fileprivate var comparisonKey: JSONValue {
        .string(comparisonForm.sortedByKeys.serializedString())
    }
}

extension JSONValue {
    /// The same with the members of each object in the order of their names' bytes.
    fileprivate var sortedByKeys: JSONValue {
        switch self {
        case .array(let elements): return .array(elements.map(\.sortedByKeys))
        case .object(let object):
            let members = object.map { JSONObject.Member(key: $0.key, value: $0.value.sortedByKeys) }
            return .object(
                JSONObject(members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
            )
        default: return self
        }
    }
}
