import JSON
import ParseWire

/// A request to the schema API as changes of one class, all of them checked.
///
/// The checks come in an order that can be seen from outside, through which of several mistakes is told.
package struct SchemaEdit: Sendable {
    package private(set) var changes: [SchemaChange] = []
    /// The class as it will be.
    package private(set) var result: ClassSchema
    private let existing: ClassSchema
    private let options: AppOptions

    /// Makes a class.
    ///
    /// - Throws: As ``init(_:of:_:)``.
    package init(_ body: SchemaBody, making className: String, _ options: AppOptions) throws(ParseError) {
        existing = SystemClasses.schema(of: className)
        result = existing
        self.options = options
        changes = SchemaChange.making(className)
        var added: [(String, FieldDefinition)] = []
        for edit in body.fields { added.append(try addition(edit)) }
        try add(added)
        if body.permissions?.isNull == false { try setPermissions(body) }
        try editIndexes(body)
    }

    /// Changes a class.
    ///
    /// - Throws: ``ParseError``: 255 for a field of another type and for one that is not there and is to go, 105 for a
    ///   name that cannot be a field, 136 for a field that Parse gives the class, 107, 111, 103 or 135 for a
    ///   malformed definition (``FieldDefinition``), 107 for permissions that cannot be, 102 for indexes that cannot,
    ///   140 for more fields or indexes than a class may have.
    package init(_ body: SchemaBody, of schema: ClassSchema, _ options: AppOptions) throws(ParseError) {
        existing = schema
        result = schema
        self.options = options
        for edit in body.fields { try checkExistence(edit) }
        var added: [(String, FieldDefinition)] = []
        for edit in body.fields where !edit.isRemoval && existing.type(of: edit.name) == nil {
            added.append(try addition(edit))
        }
        try remove(body.fields.filter(\.isRemoval).map(\.name))
        try add(added)
        for edit in body.fields where !edit.isRemoval && existing.type(of: edit.name) != nil {
            try redefine(edit)
        }
        if body.permissions != nil { try setPermissions(body) }
        try editIndexes(body)
    }

    private func checkExistence(_ edit: SchemaBody.FieldEdit) throws(ParseError) {
        let type = existing.type(of: edit.name)
        if edit.isRemoval {
            guard type != nil else {
                throw ParseError(.schemaOperation, "Field \(edit.name) does not exist, cannot delete.")
            }
        } else if let type, edit.json["type"] != .string(type.wireName) {
            throw ParseError(.schemaOperation, "Field \(edit.name) exists, cannot update.")
        }
    }

    private func addition(_ edit: SchemaBody.FieldEdit) throws(ParseError) -> (String, FieldDefinition) {
        guard FieldName.isValid(edit.name), edit.name.utf8.count <= FieldName.byteLimit else {
            throw ParseError(.invalidKeyName, "invalid field name: \(edit.name)")
        }
        guard !SystemClasses.isDefault(edit.name, of: existing.className) else {
            throw ParseError(.unchangeableField, "field \(edit.name) cannot be added")
        }
        return (edit.name, try FieldDefinition(.object(edit.json), field: edit.name, of: existing.className))
    }

    private mutating func remove(_ names: [String]) throws(ParseError) {
        for name in names {
            guard !SystemClasses.isDefault(name, of: existing.className) else {
                throw ParseError(.unchangeableField, "field \(name) cannot be changed")
            }
        }
        for name in names {
            // An index on what is not there any more would be one that no request can explain.
            for (index, definition) in result.indexes where definition.keys[name] != nil {
                changes.append(.removeIndex(className: existing.className, name: index))
                result.indexes[index] = nil
            }
            changes.append(.removeField(className: existing.className, field: name))
            result = result.removing(name)
        }
    }

    private mutating func add(_ fields: [(String, FieldDefinition)]) throws(ParseError) {
        for (name, definition) in fields {
            guard result.fieldNames.count < ObjectBody.fieldLimit else {
                throw ParseError(
                    .exceededQuota,
                    "The class \(result.className) cannot have more than \(ObjectBody.fieldLimit) fields."
                )
            }
            if definition.type == .geoPoint, let other = geoPointField {
                throw ParseError(
                    .incorrectType,
                    "currently, only one GeoPoint field may exist in an object. "
                        + "Adding \(name) when \(other) already exists."
                )
            }
            changes.append(.addField(className: result.className, field: name, type: definition.type))
            result = result.adding(name, definition.type)
            if definition.options != FieldOptions() { setOptions(definition.options, of: name) }
        }
    }

    private var geoPointField: String? {
        result.fieldNames.first { result.type(of: $0) == .geoPoint }
    }

    /// The same type again, perhaps with other options.
    private mutating func redefine(_ edit: SchemaBody.FieldEdit) throws(ParseError) {
        let name = edit.name
        // The list of an object has a type that no definition can name.
        guard name != "ACL" else { return }
        let definition = try FieldDefinition(.object(edit.json), field: name, of: existing.className)
        if let type = existing.type(of: name), type != definition.type {
            throw .schemaMismatch(existing.className, name, expected: type, got: definition.type)
        }
        guard definition.options != existing.fieldOptions[name] ?? FieldOptions() else { return }
        guard !SystemClasses.isDefault(name, of: existing.className) else {
            throw ParseError(.unchangeableField, "field \(name) cannot be changed")
        }
        setOptions(definition.options, of: name)
    }

    private mutating func setOptions(_ options: FieldOptions, of field: String) {
        changes.append(.setOptions(className: result.className, field: field, options))
        result.fieldOptions[field] = options == FieldOptions() ? nil : options
    }

    private mutating func setPermissions(_ body: SchemaBody) throws(ParseError) {
        guard let json = body.permissions, !json.isNull else {
            changes.append(.setPermissions(className: result.className, nil))
            result.permissions = nil
            return
        }
        guard let object = json.objectValue else { throw .malformedSchema }
        let decoder = ClassPermissionsDecoder(schema: result, allowsCustomIDs: options.allowCustomObjectId)
        let permissions = try decoder.permissions(object)
        changes.append(.setPermissions(className: result.className, permissions))
        result.permissions = permissions
    }

    private mutating func editIndexes(_ body: SchemaBody) throws(ParseError) {
        var before = result
        // What went with its field is there for whoever names it.
        before.indexes = existing.indexes
        let edits = try IndexEdits(body.indexes, of: before)
        for name in edits.removed where result.indexes[name] != nil {
            changes.append(.removeIndex(className: result.className, name: name))
            result.indexes[name] = nil
        }
        for (name, definition) in edits.added {
            changes.append(.addIndex(className: result.className, name: name, definition))
            result.indexes[name] = definition
        }
    }
}

extension SchemaChange {
    /// What makes a class that is not there: a system class comes with its fields.
    package static func making(_ className: String) -> [SchemaChange] {
        [.addClass(className)]
            + (SystemClasses.fields(of: className) ?? []).map { name, type in
                .addField(className: className, field: name, type: type)
            }
    }
}
