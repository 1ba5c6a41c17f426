import JSON
import ParseCore
import ParseWire
import SQLite

/// The columns of a select of whole rows, in order, and how a row is read from them.
struct RowSelection: Sendable {
    /// The list between `SELECT` and `FROM`.
    let list: String
    private let fields: [Field]
    private let hidden: [String]
    /// All fields with null: a copy of it costs less than putting them into a dictionary one by one.
    private let template: [String: FieldValue]
    /// Where each field stands in a copy of the template.
    private let places: [[String: FieldValue].Index]

    private struct Field: Sendable {
        let column: TableLayout.Column
        let type: FieldType
        /// The position of its first column in the list.
        let index: Int
    }

    private static let common = [
        CommonColumn.objectID, CommonColumn.createdAt, CommonColumn.updatedAt, CommonColumn.readers,
        CommonColumn.writers, CommonColumn.nulls,
    ]

    init(table: String, columns: [TableLayout.Column], hidden: [String]) {
        self.hidden = hidden
        let template = Dictionary(
            columns.map { ($0.field, FieldValue.null) },
            uniquingKeysWith: { first, _ in first }
        )
        var index = Self.common.count + hidden.count
        var fields: [Field] = []
        for column in columns {
            fields.append(Field(column: column, type: column.type, index: index))
            index += column.names.count
        }
        self.fields = fields
        self.template = template
        places = columns.compactMap { template.index(forKey: $0.field) }
        precondition(places.count == fields.count, "a field is in the template once")
        let own = (Self.common + hidden).map { "\(table).\(SQLiteIdentifier.quoted($0))" }
        list = (own + columns.flatMap(\.names)).joined(separator: ",")
    }

    /// The same for some of the fields; what rows always have is always read.
    func limited(to names: Set<String>, table: String) -> RowSelection {
        RowSelection(
            table: table,
            columns: fields.lazy.map(\.column).filter { names.contains($0.field) },
            hidden: hidden
        )
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
        result.hidden = hiddenValues(row)
        result.fields = values(row)
        return result
    }

    private func hiddenValues(_ row: borrowing SQLiteRow) -> [String: FieldValue] {
        var values: [String: FieldValue] = [:]
        for (offset, name) in hidden.enumerated() {
            switch row.value(Self.common.count + offset) {
            case .text(let text): values[name] = .string(text)
            case .blob(let bytes): values[name] = .binary(bytes)
            case .null, .integer, .real, .object: break
            }
        }
        return values
    }

    private func values(_ row: borrowing SQLiteRow) -> [String: FieldValue] {
        var values = template
        var missing: [Int] = []
        for position in fields.indices {
            let index = fields[position].index
            if !row.isNull(index), let value = fields[position].type.value(row, index) {
                values.values[places[position]] = value
            } else {
                missing.append(position)
            }
        }
        if !missing.isEmpty { remove(missing, from: &values, row.text(5).map(KeyList.decode) ?? []) }
        return values
    }

    /// Takes out what is absent; what is null stays, as the template has it.
    private func remove(_ missing: [Int], from values: inout [String: FieldValue], _ nulls: [String]) {
        guard missing.count < fields.count || !nulls.isEmpty else {
            values = [:]
            return
        }
        let nulls = Set(nulls)
        for position in missing where !nulls.contains(fields[position].column.field) {
            values[fields[position].column.field] = nil
        }
    }
}

extension FieldType {
    /// What the columns of a field of this type hold, of which the first is not NULL; `nil` when it is malformed.
    func value(_ row: borrowing SQLiteRow, _ index: Int) -> FieldValue? {
        switch self {
        case .string: row.text(index).map(FieldValue.string)
        case .number: .number(row.double(index))
        case .boolean: .bool(row.int64(index) != 0)
        case .date: .date(Timestamp(milliseconds: row.int64(index)))
        case .pointer(let className): row.text(index).map { .pointer(className: className, objectID: $0) }
        case .file: row.text(index).map(FieldValue.file)
        case .bytes: row.text(index).map(FieldValue.bytes)
        case .geoPoint: .geoPoint(latitude: row.double(index), longitude: row.double(index + 1))
        case .object, .array, .polygon: row.withText(index) { structured(UnsafeRawBufferPointer($0)) } ?? nil
        case .relation, .acl: nil
        }
    }

    /// What the text of a column of this type holds, which is none of several.
    func structured(_ text: UnsafeRawBufferPointer) -> FieldValue? {
        // What was stored was parsed before; limits held then.
        let limits = JSONLimits(bytes: .max, depth: 256, values: .max)
        guard let json = try? JSONValue.parse(text, limits: limits) else { return nil }
        switch self {
        case .object: return json.objectValue.map(FieldValue.object)
        case .array: return json.arrayValue.map(FieldValue.array)
        case .polygon:
            return json.arrayValue.map { points in
                .polygon(points.map { ($0.arrayValue ?? []).compactMap(\.numberValue) })
            }
        default: return nil
        }
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
