import ParseCore
import SQLite

/// Columns and what they are set to, each once.
struct Assignments {
    /// Quoted.
    private(set) var columns: [String] = []
    private(set) var values: [SQLiteValue] = []
    private var expressions: [String] = []

    init(capacity: Int) {
        columns.reserveCapacity(capacity)
        values.reserveCapacity(capacity)
        expressions.reserveCapacity(capacity)
    }

    /// What stands behind `SET`.
    var list: String {
        var text = ""
        for (column, expression) in zip(columns, expressions) {
            if !text.isEmpty { text += "," }
            text += column
            text += "="
            text += expression
        }
        return text
    }

    /// What stands in the brackets of `VALUES`.
    var places: String {
        expressions.joined(separator: ",")
    }

    /// Sets a quoted column to an expression of one parameter.
    mutating func add(_ column: String, _ value: SQLiteValue, expression: String = "?") {
        columns.append(column)
        values.append(value)
        expressions.append(expression)
    }

    mutating func add(_ acl: AccessControlList) {
        add("\"_readers\"", .text(KeyList.encode(acl.readers)))
        add("\"_writers\"", .text(KeyList.encode(acl.writers)))
    }

    mutating func add(nulls fields: [String: FieldValue]) {
        let names = fields.filter { $0.value == .null }.keys.sorted()
        add("\"_nulls\"", names.isEmpty ? .null : .text(KeyList.encode(names)))
    }

    /// Sets the columns of fields, in the order of the schema, so that the same fields make the same statement.
    ///
    /// - Throws: ``StorageError/refused(_:)`` for a field that the class does not have,
    ///   ``StorageError/failed(_:)`` for a value of another type.
    mutating func add(_ fields: [String: FieldValue], in layout: TableLayout) throws {
        var entries: [(column: TableLayout.Column, value: FieldValue)] = []
        entries.reserveCapacity(fields.count)
        for (field, value) in fields {
            guard let column = layout.column(field) else {
                // A relation has no column; nothing but null is ever in such a field.
                if value == .null, layout.relation(field) != nil { continue }
                throw StorageError.fieldRemoved(field, of: layout.schema.className)
            }
            entries.append((column, value))
        }
        entries.sort { $0.column.position < $1.column.position }
        for (column, value) in entries {
            guard let bound = value.columns(of: column.type) else {
                throw StorageError.failed("a value does not fit the type of its field")
            }
            for (name, part) in zip(column.bareNames, bound) { add(name, part) }
            if let keyColumn = layout.keyColumn(of: column.field) {
                let text = value.stringValue.flatMap { $0.isEmpty ? nil : $0 }
                add(keyColumn, text.map { .text(UniqueKey.fold($0)) } ?? .null)
            }
        }
    }
}
