package import JSON
import ParseWire

/// The part `indexes` of a request to the schema API, checked against the class as it will be.
package struct IndexEdits: Sendable {
    /// The name under which the index of the ids is shown.
    package static let primaryName = "_id_"
    /// How many indexes clients may make on one class.
    package static let countLimit = 63
    /// How many fields one index may have.
    private static let keyLimit = 32
    private static let nameLimit = 255

    package private(set) var removed: [String] = []
    package private(set) var added: [(name: String, definition: IndexDefinition)] = []

    /// - Throws: ``ParseError`` 102 for an index that is there already, one that is not there and is to go, a field
    ///   that is not there or cannot have an index, and a kind that does not fit; 140 for one too many.
    package init(_ json: JSONObject, of schema: ClassSchema) throws(ParseError) {
        for member in json {
            guard let object = member.value.objectValue else { throw .malformedSchema }
            let exists = member.key == Self.primaryName || schema.indexes[member.key] != nil
            if object["__op"] == "Delete" {
                guard exists else {
                    throw Self.refusal("Index \(member.key) does not exist, cannot delete.")
                }
                guard member.key != Self.primaryName else {
                    throw Self.refusal("Index \(member.key) cannot be deleted.")
                }
                removed.append(member.key)
            } else {
                guard !exists else { throw Self.refusal("Index \(member.key) exists, cannot update.") }
                added.append((member.key, try Self.definition(member.key, object, schema)))
            }
        }
        guard schema.indexes.count + added.count - removed.count <= Self.countLimit else {
            throw ParseError(
                .exceededQuota,
                "The class \(schema.className) cannot have more than \(Self.countLimit) indexes."
            )
        }
    }

    private static func definition(
        _ name: String,
        _ object: JSONObject,
        _ schema: ClassSchema
    ) throws(ParseError) -> IndexDefinition {
        guard !name.isEmpty, name.utf8.count <= nameLimit, name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw refusal("Index names have from 1 to \(nameLimit) bytes and no control characters.") }
        guard !object.isEmpty, object.count <= keyLimit else {
            throw refusal("Index \(name) must have from 1 to \(keyLimit) fields.")
        }
        var keys = JSONObject()
        for member in object {
            let field = fieldName(member.key, schema)
            guard let type = schema.type(of: field), isIndexable(field, type, schema) else {
                throw refusal("Field \(member.key) does not exist, cannot add index.")
            }
            guard isKind(member.value, of: type) else {
                throw refusal("Index \(name) cannot be \(member.value.scriptText) on \(member.key).")
            }
            guard keys[field] == nil else { throw refusal("Index \(name) has the field \(field) twice.") }
            keys.append(field, member.value)
        }
        return IndexDefinition(keys: keys)
    }

    /// A pointer may be named by the column that MongoDB has it in.
    private static func fieldName(_ key: String, _ schema: ClassSchema) -> String {
        let prefix = "_p_"
        guard key.hasPrefix(prefix) else { return key }
        let field = String(key.dropFirst(prefix.count))
        if case .pointer = schema.type(of: field) { return field }
        return key
    }

    /// The links of a relation, the list of an object and what is stored in another form have no column to index.
    private static func isIndexable(_ field: String, _ type: FieldType, _ schema: ClassSchema) -> Bool {
        if case .relation = type { return false }
        return type != .acl && !SystemClasses.isVirtual(field, of: schema.className)
    }

    private static func isKind(_ kind: JSONValue, of type: FieldType) -> Bool {
        switch kind {
        case 1, -1: true
        case "text": type == .string
        case "2d", "2dsphere": type == .geoPoint || type == .polygon
        default: false
        }
    }

    private static func refusal(_ text: String) -> ParseError {
        ParseError(.invalidQuery, text)
    }
}
