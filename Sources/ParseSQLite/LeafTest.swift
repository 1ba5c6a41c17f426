import ParseCore
import ParseWire
import SQLite

/// A condition on one field that core decides, on its way to the function ``SQLFunctions/test``.
final class LeafTest: Sendable {
    private let type: FieldType
    private let test: ValueTest

    init(_ test: ValueTest, on type: FieldType) {
        self.test = test
        self.type = type
    }

    /// The arguments are this object and the columns of the field.
    func matches(_ arguments: borrowing SQLiteArguments) throws -> Bool {
        try test.matches(type.value(arguments, from: 1))
    }

    /// How well the text of the field matches a text search.
    func score(_ arguments: borrowing SQLiteArguments) -> Double {
        test.score(of: type.value(arguments, from: 1))
    }
}

extension FieldType {
    /// What the columns of a field of this type hold, which are arguments from that position on.
    func value(_ arguments: borrowing SQLiteArguments, from index: Int) -> FieldValue? {
        guard !arguments.isNull(index) else { return nil }
        switch self {
        case .number: return .number(arguments.double(index))
        case .boolean: return .bool(arguments.int64(index) != 0)
        case .date: return .date(Timestamp(milliseconds: arguments.int64(index)))
        case .geoPoint:
            return .geoPoint(latitude: arguments.double(index), longitude: arguments.double(index + 1))
        case .string: return arguments.text(index).map(FieldValue.string)
        case .file: return arguments.text(index).map(FieldValue.file)
        case .bytes: return arguments.text(index).map(FieldValue.bytes)
        case .pointer(let target):
            return arguments.text(index).map { .pointer(className: target, objectID: $0) }
        case .object, .array, .polygon:
            return arguments.withText(index) { structured(UnsafeRawBufferPointer($0)) } ?? nil
        case .relation, .acl: return nil
        }
    }
}

extension SQLiteArguments {
    fileprivate func text(_ index: Int) -> String? {
        withText(index) { String(decoding: $0, as: UTF8.self) }
    }
}
