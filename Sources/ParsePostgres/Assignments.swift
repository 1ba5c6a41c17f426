import ParseCore
import ParseWire
import Postgres

/// Columns and what they are set to, each once.
struct Assignments {
    /// Quoted.
    private(set) var columns: [String] = []
    private var expressions: [String] = []
    let parameters: Parameters

    init(_ parameters: Parameters) {
        self.parameters = parameters
    }

    var isEmpty: Bool { columns.isEmpty }

    /// What stands behind `SET`.
    var list: String {
        zip(columns, expressions).map { "\($0)=\($1)" }.joined(separator: ",")
    }

    /// What stands in the brackets of `VALUES`.
    var places: String {
        expressions.joined(separator: ",")
    }

    /// `column`: quoted.
    mutating func add(_ column: String, _ value: PostgresValue, cast: String = "") {
        add(column, expression: parameters.add(value) + cast)
    }

    mutating func add(_ column: String, expression: String) {
        columns.append(column)
        expressions.append(expression)
    }

    mutating func add(_ acl: AccessControlList) {
        add(CommonColumn.readers, .textArray(acl.readers), cast: "::text[]")
        add(CommonColumn.writers, .textArray(acl.writers), cast: "::text[]")
    }

    mutating func add(nulls fields: [String: FieldValue]) {
        let names = fields.filter { $0.value == .null }.keys.sorted()
        add(CommonColumn.nulls, names.isEmpty ? .null : .textArray(names), cast: "::text[]")
    }

    mutating func add(hidden values: [String: FieldValue?]) {
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            add(PostgresIdentifier.quoted(name), value?.hiddenColumn ?? .null)
        }
    }

    /// Sets the columns of fields, in the order of the schema, so that the same fields make the same statement.
    ///
    /// - Throws: ``StorageError/refused(_:)`` for a field that the class does not have, and for a value with NUL in it;
    ///   ``StorageError/failed(_:)`` for a value of another type.
    mutating func add(_ fields: [String: FieldValue], in layout: TableLayout) throws(StorageError) {
        var entries: [(column: TableLayout.Column, value: FieldValue)] = []
        for (field, value) in fields {
            guard let column = layout.column(field) else {
                // A relation has no column; nothing but null is ever in such a field.
                if value == .null, layout.relation(field) != nil { continue }
                throw .fieldRemoved(field, of: layout.schema.className)
            }
            guard !value.containsNUL else { throw .textWithNUL }
            entries.append((column, value))
        }
        entries.sort { $0.column.position < $1.column.position }
        for (column, value) in entries {
            guard let bound = value.columns(of: column.type) else {
                throw .failed("a value does not fit the type of its field")
            }
            for (name, part) in zip(column.names, bound) { add(name, part) }
            if let keyColumn = layout.keyColumn(of: column.field) {
                let text = value.stringValue.flatMap { $0.isEmpty ? nil : $0 }
                add(keyColumn, text.map { .text(UniqueKey.fold($0)) } ?? .null)
            }
        }
    }
}

extension StorageError {
    /// A field that the plan writes went after it was made.
    static func fieldRemoved(_ field: String, of className: String) -> StorageError {
        .refused(
            ParseError(.schemaOperation, "Field \(field) of class \(className) does not exist any more.")
        )
    }

    static let textWithNUL = StorageError.refused(
        ParseError(.incorrectType, "Text with the character U+0000 cannot be stored.")
    )
}
