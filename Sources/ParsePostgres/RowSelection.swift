import JSON
import ParseCore
import ParseWire
import Postgres

/// The columns of a select of whole rows, in order, and how a row is read from them.
struct RowSelection: Sendable {
    private let columns: [TableLayout.Column]
    private let hidden: [String]

    private static let common = [
        CommonColumn.objectID, CommonColumn.createdAt, CommonColumn.updatedAt, CommonColumn.readers,
        CommonColumn.writers, CommonColumn.nulls,
    ]

    init(columns: [TableLayout.Column], hidden: [String]) {
        self.columns = columns
        self.hidden = hidden
    }

    /// How many columns the list has.
    var count: Int {
        Self.common.count + hidden.count + columns.reduce(0) { $0 + $1.names.count }
    }

    /// The list between `SELECT` and `FROM`.
    func list(_ alias: String) -> String {
        names.map { "\(alias).\($0)" }.joined(separator: ",")
    }

    /// About how many bytes a row has beyond its numbers, as SQL on a table with these columns.
    func size(_ alias: String) -> String {
        let parts = columns.compactMap { column -> String? in
            switch column.type {
            case .string, .file, .bytes: "coalesce(octet_length(\(alias).\(column.names[0])),0)"
            case .array, .object, .polygon: "coalesce(octet_length(\(alias).\(column.names[0])::text),0)"
            default: nil
            }
        }
        return (["\(16 * count)"] + parts).joined(separator: "+")
    }

    private var names: [String] {
        Self.common + hidden.map(PostgresIdentifier.quoted) + columns.flatMap(\.names)
    }

    /// The same for some of the fields; what rows always have is always read.
    func limited(to fields: Set<String>) -> RowSelection {
        RowSelection(columns: columns.filter { fields.contains($0.field) }, hidden: hidden)
    }

    /// Reads a row of which the first column of the list stands at that position.
    func row(from row: PostgresRow, at start: Int = 0) throws(PostgresError) -> StoredRow {
        var result = StoredRow(
            objectID: try row.text(start) ?? "",
            createdAt: Timestamp(milliseconds: try row.integer(start + 1) ?? 0),
            updatedAt: Timestamp(milliseconds: try row.integer(start + 2) ?? 0)
        )
        if let readers = try row.textArray(start + 3) {
            result.acl = AccessControlList(readers: readers, writers: try row.textArray(start + 4) ?? [])
        }
        var index = start + Self.common.count
        for name in hidden {
            result.hidden[name] =
                HiddenColumn.isBinary(name)
                ? try row.bytes(index).map(FieldValue.binary) : try row.text(index).map(FieldValue.string)
            index += 1
        }
        result.fields.reserveCapacity(columns.count)
        for column in columns {
            result.fields[column.field] = try column.type.value(row, index)
            index += column.names.count
        }
        for name in try row.textArray(start + 5) ?? []
        where result.fields[name] == nil && columns.contains(where: { $0.field == name }) {
            result.fields[name] = .null
        }
        return result
    }
}

/// How the columns that no client sees are stored.
enum HiddenColumn {
    static func isBinary(_ name: String) -> Bool {
        name == HiddenField.tokenHash || name == HiddenField.legacyTokenHash
    }

    static func declaration(_ name: String) -> String {
        PostgresIdentifier.quoted(name) + (isBinary(name) ? " bytea" : " text COLLATE \"C\"")
    }
}

extension FieldType {
    /// What the columns of a field of this type hold; `nil` for NULL, and when it is malformed.
    func value(_ row: PostgresRow, _ index: Int) throws(PostgresError) -> FieldValue? {
        switch self {
        case .string: return try row.text(index).map(FieldValue.string)
        case .number: return try row.double(index).map(FieldValue.number)
        case .boolean: return try row.bool(index).map(FieldValue.bool)
        case .date: return try row.integer(index).map { .date(Timestamp(milliseconds: $0)) }
        case .pointer(let className):
            return try row.text(index).map { .pointer(className: className, objectID: $0) }
        case .file: return try row.text(index).map(FieldValue.file)
        case .bytes: return try row.text(index).map(FieldValue.bytes)
        case .geoPoint:
            guard let latitude = try row.double(index), let longitude = try row.double(index + 1) else {
                return nil
            }
            return .geoPoint(latitude: latitude, longitude: longitude)
        case .object, .array, .polygon: return try row.withText(index) { structured($0) } ?? nil
        case .relation, .acl: return nil
        }
    }

    /// What the text of a column of this type holds, which is one of three.
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
