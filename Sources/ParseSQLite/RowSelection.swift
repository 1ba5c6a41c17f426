import JSON
import ParseCore
import ParseWire
import SQLite

/// The columns of a select of whole rows, in order, and how a row is read from them.
struct RowSelection: Sendable {
    /// The list between `SELECT` and `FROM`.
    let list: String
    private let columns: [TableLayout.Column]
    private let hidden: [String]

    private static let common = [
        CommonColumn.objectID, CommonColumn.createdAt, CommonColumn.updatedAt, CommonColumn.readers,
        CommonColumn.writers, CommonColumn.nulls,
    ]

    init(columns: [TableLayout.Column], hidden: [String]) {
        self.columns = columns
        self.hidden = hidden
        let own = (Self.common + hidden).map(SQLiteIdentifier.quoted)
        list = (own + columns.flatMap(\.names)).joined(separator: ",")
    }

    func row(from row: borrowing SQLiteRow) -> StoredRow {
        var result = StoredRow(
            objectID: row.text(0) ?? "",
            createdAt: Timestamp(milliseconds: row.int64(1)),
            updatedAt: Timestamp(milliseconds: row.int64(2))
        )
        if let readers = row.text(3) {
            result.acl = AccessControlList(
                readers: KeyList.decode(readers),
                writers: KeyList.decode(row.text(4) ?? "")
            )
        }
        for field in KeyList.decode(row.text(5) ?? "") { result.fields[field] = .null }
        var index = Self.common.count
        for name in hidden {
            switch row.value(index) {
            case .text(let text): result.hidden[name] = .string(text)
            case .blob(let bytes): result.hidden[name] = .binary(bytes)
            case .null, .integer, .real: break
            }
            index += 1
        }
        for column in columns {
            if !row.isNull(index) { result.fields[column.field] = Self.value(column.type, row, index) }
            index += column.names.count
        }
        return result
    }

    private static func value(_ type: FieldType, _ row: borrowing SQLiteRow, _ index: Int) -> FieldValue? {
        switch type {
        case .string: row.text(index).map(FieldValue.string)
        case .number: .number(row.double(index))
        case .boolean: .bool(row.int64(index) != 0)
        case .date: .date(Timestamp(milliseconds: row.int64(index)))
        case .pointer(let className): row.text(index).map { .pointer(className: className, objectID: $0) }
        case .file: row.text(index).map(FieldValue.file)
        case .bytes: row.text(index).map(FieldValue.bytes)
        case .geoPoint: .geoPoint(latitude: row.double(index), longitude: row.double(index + 1))
        case .object: json(row, index)?.objectValue.map(FieldValue.object)
        case .array: json(row, index)?.arrayValue.map(FieldValue.array)
        case .polygon: json(row, index)?.arrayValue.map { FieldValue.polygon($0.map(Self.point)) }
        case .relation, .acl: nil
        }
    }

    private static func json(_ row: borrowing SQLiteRow, _ index: Int) -> JSONValue? {
        // What was stored was parsed before; limits held then.
        row.text(index).flatMap {
            try? JSONValue.parse($0, limits: JSONLimits(bytes: .max, depth: 256, values: .max))
        }
    }

    private static func point(_ json: JSONValue) -> [Double] {
        (json.arrayValue ?? []).compactMap(\.numberValue)
    }
}

extension FieldValue {
    /// What the columns of a field of this type hold for the value; `nil` when the value is of another type.
    func columns(of type: FieldType) -> [SQLiteValue]? {
        switch (type, self) {
        case (.geoPoint, .null): [.null, .null]
        case (_, .null): [.null]
        case (.string, .string(let text)): [.text(text)]
        case (.number, .number(let number)): [.real(number)]
        case (.boolean, .bool(let flag)): [.integer(flag ? 1 : 0)]
        case (.date, .date(let instant)): [.integer(instant.milliseconds)]
        case (.pointer(let target), .pointer(let className, let id)) where target == className: [.text(id)]
        case (.file, .file(let name)): [.text(name)]
        case (.bytes, .bytes(let base64)): [.text(base64)]
        case (.geoPoint, .geoPoint(let latitude, let longitude)): [.real(latitude), .real(longitude)]
        case (.object, .object(let object)): [.text(JSONValue.object(object).serializedString())]
        case (.array, .array(let elements)): [.text(JSONValue.array(elements).serializedString())]
        case (.polygon, .polygon(let points)):
            [.text(JSONValue.array(points.map { .array($0.map(JSONValue.number)) }).serializedString())]
        default: nil
        }
    }

    /// What a hidden column holds.
    var hiddenColumn: SQLiteValue {
        switch self {
        case .string(let text): .text(text)
        case .binary(let bytes): .blob(bytes)
        default: .null
        }
    }
}
