/// The fields of one class.
package struct ClassSchema: Hashable, Sendable {
    package let className: String
    /// In the order in which they were added.
    package private(set) var fieldNames: [String]
    private var types: [String: FieldType]

    package init(className: String, fields: [(String, FieldType)]) {
        self.className = className
        fieldNames = fields.map(\.0)
        types = Dictionary(fields, uniquingKeysWith: { _, new in new })
    }

    package func type(of field: String) -> FieldType? {
        types[field]
    }

    /// The same class with one field more; unchanged when it has the field.
    package func adding(_ field: String, _ type: FieldType) -> ClassSchema {
        guard types[field] == nil else { return self }
        var copy = self
        copy.fieldNames.append(field)
        copy.types[field] = type
        return copy
    }
}

/// All classes of one app at one moment.
package struct SchemaSnapshot: Sendable {
    /// Grows by one with every change, so that two snapshots can be told apart by number.
    package let version: Int64
    private let classes: [String: ClassSchema]

    package init(version: Int64, classes: [ClassSchema]) {
        self.version = version
        self.classes = Dictionary(classes.map { ($0.className, $0) }, uniquingKeysWith: { _, new in new })
    }

    package subscript(className: String) -> ClassSchema? {
        classes[className]
    }

    package var classNames: [String] {
        classes.keys.sorted()
    }
}

/// A change of the schema that a write brings with it.
///
/// Applied in the transaction of that write; a change that is there already is no error, the same field with
/// another type is ``StorageError/schemaConflict(_:)``.
package enum SchemaChange: Hashable, Sendable {
    case addClass(String)
    case addField(className: String, field: String, type: FieldType)
}
