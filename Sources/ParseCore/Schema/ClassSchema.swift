package import JSON

/// The fields of one class, and what holds for it.
package struct ClassSchema: Hashable, Sendable {
    package let className: String
    /// In the order in which they were added.
    package private(set) var fieldNames: [String]
    private var types: [String: FieldType]
    /// Only of fields that have any.
    package var fieldOptions: [String: FieldOptions]
    /// The class-level permissions as they were set; `nil`: never, which is all public.
    package var permissions: ClassPermissions?
    /// Those that clients made, by name.
    package var indexes: [String: IndexDefinition]

    package init(
        className: String,
        fields: [(String, FieldType)],
        fieldOptions: [String: FieldOptions] = [:],
        permissions: ClassPermissions? = nil,
        indexes: [String: IndexDefinition] = [:]
    ) {
        self.className = className
        fieldNames = fields.map(\.0)
        types = Dictionary(fields, uniquingKeysWith: { _, new in new })
        self.fieldOptions = fieldOptions
        self.permissions = permissions
        self.indexes = indexes
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

    /// The same class without that field.
    package func removing(_ field: String) -> ClassSchema {
        var copy = self
        copy.fieldNames.removeAll { $0 == field }
        copy.types[field] = nil
        copy.fieldOptions[field] = nil
        return copy
    }
}

/// What a schema says of a field beside its type (Parse REST guide, "Schema").
package struct FieldOptions: Hashable, Sendable {
    package var isRequired: Bool
    /// In the form of a request; `nil` for none.
    package var defaultValue: JSONValue?

    package init(isRequired: Bool = false, defaultValue: JSONValue? = nil) {
        self.isRequired = isRequired
        self.defaultValue = defaultValue
    }
}

/// An index that a client asked for: the fields and for each its kind, as it was given (`1`, `-1`, `"text"`, …).
package struct IndexDefinition: Hashable, Sendable {
    package var keys: JSONObject

    package init(keys: JSONObject) {
        self.keys = keys
    }
}

/// All classes of one app at one moment.
package struct SchemaSnapshot: Sendable {
    /// Grows with every change, so that two snapshots can be told apart by number.
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
/// Applied in order in the transaction of that write, before its steps. Adding what is there already is no error;
/// the same field with another type is ``StorageError/schemaConflict(_:)``. Removing what is not there is no error.
package enum SchemaChange: Hashable, Sendable {
    case addClass(String)
    /// Adds the class too when it is not there.
    case addField(className: String, field: String, type: FieldType)
    case setOptions(className: String, field: String, FieldOptions)
    /// The field, its data and, of a relation, its links.
    case removeField(className: String, field: String)
    case setPermissions(className: String, ClassPermissions?)
    case addIndex(className: String, name: String, IndexDefinition)
    case removeIndex(className: String, name: String)
    /// Fails with ``StorageError/classNotEmpty(_:count:)`` while it has rows; the links of its relations go with it.
    case removeClass(String)
}
