package import JSON
package import ParseWire

/// The body of a save, checked against the schema.
package struct ObjectBody: Sendable {
    /// What happens to each field, in the order of the body; never the common fields.
    package private(set) var changes: [(field: String, change: FieldChange)] = []
    /// What the schema must learn first.
    package private(set) var schemaChanges: [SchemaChange] = []
    /// `nil` when the body has none that counts; `{"__op":"Delete"}` is an empty one.
    package private(set) var acl: AccessControlList?
    /// Links of relation fields that come or go.
    package private(set) var relations: [(field: String, operations: [RelationOperation])] = []
    /// Whether fields are new to a class that was there before.
    package private(set) var addsFields = false
    /// Whether the body takes the access control list off.
    package private(set) var removesACL = false
    /// Sent dates, which only the maintenance key may set.
    package private(set) var createdAt: Timestamp?
    package private(set) var updatedAt: Timestamp?
    private var pathCount = 0

    package enum Kind: Sendable {
        case create, update
    }

    /// Reads a body.
    ///
    /// - Parameters:
    ///   - body: The members that are fields; those with a meaning of their own to the class are taken out.
    ///   - className: The class the object is of.
    ///   - kind: Whether the object is new; only a change knows dotted paths.
    ///   - app: Whose schema and options hold.
    ///   - isMaster: Whether the caller may make a class whatever `allowClientClassCreation` says.
    /// - Throws: ``ParseError``: 119 for a class that does not exist and that the caller may not make, 105 for a name that cannot be a field, 111 for a value of another type than
    ///   the field has, 107, 108 or 121 for a malformed value, 123 for a malformed ACL, 140 for more fields
    ///   than a class may have.
    package init(
        _ body: JSONObject,
        className: String,
        kind: Kind,
        in app: App,
        isMaster: Bool = false
    ) throws(ParseError) {
        let existing = app.storage.schema[className]
        guard
            existing != nil || isMaster || app.options.allowClientClassCreation
                || SystemClasses.isSystem(className)
        else {
            throw ParseError(
                .operationForbidden,
                "This user is not allowed to access non-existent class: \(className)"
            )
        }
        guard existing != nil || ClassName.isValid(className) else {
            throw ParseError(.invalidJSON, "schema class name does not revalidate")
        }
        let schema = existing ?? SystemClasses.schema(of: className)
        if existing == nil { schemaChanges.append(.addClass(className)) }
        var grown = schema
        for member in body {
            if try readCommonField(member, className) { continue }
            try readField(member, kind, schema: &grown)
        }
        try app.options.requestKeywordDenylist.check(body)
        addsFields = existing != nil && grown.fieldNames.count > schema.fieldNames.count
        for name in grown.fieldNames.dropFirst(schema.fieldNames.count) {
            guard let type = grown.type(of: name) else { continue }
            schemaChanges.append(.addField(className: className, field: name, type: type))
        }
    }

    /// How many fields a class may have; a row of a database has a bounded number of columns.
    package static let fieldLimit = 1000
    /// How many parts a path may have, so that values cannot be nested without end by one change after another.
    private static let pathLimit = 32
    /// How many changes inside fields one save may make; each copies what it is inside of.
    private static let pathCountLimit = 1000
    /// The longest field name, in bytes.
    private static let nameLimit = 255

    /// The value the body gives a field, for a row that does not exist yet.
    package func initialValues() throws(ParseError) -> [String: FieldValue] {
        var values: [String: FieldValue] = [:]
        for (field, change) in changes { values[field] = try change.applied(to: values[field]) }
        return values
    }

    /// Adds the steps that make and remove links.
    func addRelations(of ownerID: String, in className: String, to transaction: inout Transaction) {
        for (field, operations) in relations {
            for operation in operations {
                transaction.add(
                    .relate(
                        RelationChange(
                            className: className,
                            field: field,
                            ownerID: ownerID,
                            relatedIDs: operation.objectIDs,
                            isRemoval: operation.isRemoval
                        )
                    )
                )
            }
        }
    }

    /// The fields whose result the client cannot know, as the row now has them.
    package func resultFields(of values: [String: FieldValue]) -> JSONObject {
        var object = JSONObject()
        for (field, change) in changes where change.resultIsReturned {
            guard let value = values[field] else { continue }
            if case .path(let keys, _) = change {
                object[field] = Self.part(value.json, at: keys[...], beside: object[field])
            } else {
                object[field] = value.json
            }
        }
        return object
    }

    /// What a value holds at a path, in objects as on the way there; of an array all of it.
    private static func part(
        _ value: JSONValue,
        at keys: ArraySlice<String>,
        beside other: JSONValue?
    ) -> JSONValue {
        guard let key = keys.first, let object = value.objectValue, let inner = object[key] else {
            return value
        }
        var result = other?.objectValue ?? JSONObject()
        result[key] = part(inner, at: keys.dropFirst(), beside: result[key])
        return .object(result)
    }

    private mutating func readCommonField(
        _ member: JSONObject.Member,
        _ className: String
    ) throws(ParseError) -> Bool {
        switch member.key {
        case "objectId": return true
        case "createdAt", "updatedAt":
            let input = try FieldInput(member.value)
            if let type = input.type, type != .date {
                throw .schemaMismatch(className, member.key, expected: .date, got: type)
            }
            if case .set(.date(let instant)) = input.change {
                if member.key == "createdAt" { createdAt = instant } else { updatedAt = instant }
            }
            return true
        case "ACL":
            switch member.value {
            case .null: return true
            case .object(let object) where object["__op"] == "Delete":
                acl = AccessControlList()
                removesACL = true
            case .object(let object): acl = try AccessControlList(object)
            default:
                let type = try FieldInput(member.value).type ?? .object
                throw .schemaMismatch(className, "ACL", expected: .acl, got: type)
            }
            return true
        default: return false
        }
    }

    private mutating func readField(
        _ member: JSONObject.Member,
        _ kind: Kind,
        schema: inout ClassSchema
    ) throws(ParseError) {
        let name = member.key
        if kind == .update, name.utf8.contains(UInt8(ascii: ".")) {
            return try readPath(member, schema: &schema)
        }
        guard FieldName.isValid(name), name.utf8.count <= Self.nameLimit else {
            throw .invalidFieldName(name)
        }
        let input = try FieldInput(member.value)
        try admit(name, input.type, into: &schema)
        if case .relate(let operations) = input.change {
            if !operations.isEmpty { relations.append((name, operations)) }
        } else if case .relation = schema.type(of: name) {
            throw ParseError(
                .incorrectType,
                "The relation \(name) is changed by AddRelation and RemoveRelation."
            )
        } else if schema.type(of: name) != nil {
            changes.append((name, input.change))
        }
    }

    private mutating func readPath(
        _ member: JSONObject.Member,
        schema: inout ClassSchema
    ) throws(ParseError) {
        guard let path = FieldName.path(member.key), FieldName.isValid(path[0]), path[0] != "authData",
            path.count > 1, path.count <= Self.pathLimit,
            !path.dropFirst().contains(where: { $0.contains("$") })
        else {
            throw ParseError(.invalidKeyName, "Invalid field name for update: \(member.key)")
        }
        try FieldInput.refuseNUL(in: .string(member.key))
        let isIndex = path[1].utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let rootType: FieldType = isIndex && schema.type(of: path[0]) == .array ? .array : .object
        try admit(path[0], rootType, into: &schema)
        let input = try FieldInput(member.value)
        pathCount += 1
        guard pathCount <= Self.pathCountLimit else {
            throw ParseError(
                .exceededQuota,
                "A save cannot change more than \(Self.pathCountLimit) parts of fields."
            )
        }
        changes.append((path[0], .path(Array(path.dropFirst()), input.change)))
    }

    /// A field that the class does not have yet is added; `nil` fits every type and adds none.
    private func admit(
        _ name: String,
        _ type: FieldType?,
        into schema: inout ClassSchema
    ) throws(ParseError) {
        guard let type else { return }
        guard let existing = schema.type(of: name) else {
            // Counted here and not at the end, so that a body of a million names costs no more than one too many.
            guard schema.fieldNames.count < Self.fieldLimit else {
                throw ParseError(
                    .exceededQuota,
                    "The class \(schema.className) cannot have more than \(Self.fieldLimit) fields."
                )
            }
            if type == .geoPoint, schema.fieldNames.contains(where: { schema.type(of: $0) == .geoPoint }) {
                throw ParseError(.incorrectType, "there can only be one geopoint field in a class")
            }
            schema = schema.adding(name, type)
            return
        }
        guard existing == type else {
            throw .schemaMismatch(schema.className, name, expected: existing, got: type)
        }
    }
}
