import JSON
import ParseCore

/// A class of a schema as a line of an export holds it.
enum SchemaCoding {
    static func json(_ schema: ClassSchema) -> JSONObject {
        var fields: [JSONValue] = []
        for name in schema.fieldNames {
            guard let type = schema.type(of: name), !common.contains(name) else { continue }
            var field: JSONObject = ["name": .string(name), "type": .string(type.wireName)]
            if let target = type.targetClass { field.append("targetClass", .string(target)) }
            if let options = schema.fieldOptions[name] {
                if options.isRequired { field.append("required", true) }
                if let value = options.defaultValue { field.append("defaultValue", value) }
            }
            fields.append(.object(field))
        }
        var object: JSONObject = ["name": .string(schema.className), "fields": .array(fields)]
        if let permissions = schema.permissions { object.append("permissions", .object(permissions.json)) }
        if !schema.indexes.isEmpty {
            let indexes = schema.indexes.sorted { $0.key < $1.key }.map {
                JSONObject.Member(key: $0.key, value: .object($0.value.keys))
            }
            object.append("indexes", .object(JSONObject(indexes)))
        }
        return object
    }

    /// What makes such a class, in a database where it is not.
    static func changes(_ json: JSONValue) throws(ConfigurationError) -> (String, [SchemaChange]) {
        guard let name = json["name"]?.stringValue, ClassName.isValid(name),
            let fields = json["fields"]?.arrayValue
        else { throw ConfigurationError("a class is malformed") }
        var changes: [SchemaChange] = [.addClass(name)]
        for field in fields { changes += try fieldChanges(field, of: name) }
        if let permissions = json["permissions"]?.objectValue {
            changes.append(.setPermissions(className: name, ClassPermissions(permissions)))
        }
        for index in json["indexes"]?.objectValue ?? JSONObject() {
            guard let keys = index.value.objectValue else {
                throw ConfigurationError("an index of the class \(name) is malformed")
            }
            changes.append(.addIndex(className: name, name: index.key, IndexDefinition(keys: keys)))
        }
        return (name, changes)
    }

    private static let common = Set(SystemClasses.commonFields.map(\.0))

    private static func fieldChanges(
        _ json: JSONValue,
        of className: String
    ) throws(ConfigurationError) -> [SchemaChange] {
        guard let name = json["name"]?.stringValue, FieldName.isValid(name),
            let typeName = json["type"]?.stringValue,
            let type = FieldType(wireName: typeName, targetClass: json["targetClass"]?.stringValue)
        else { throw ConfigurationError("a field of the class \(className) is malformed") }
        var changes: [SchemaChange] = [.addField(className: className, field: name, type: type)]
        let options = FieldOptions(
            isRequired: json["required"] == true,
            defaultValue: json["defaultValue"]
        )
        if options != FieldOptions() {
            changes.append(.setOptions(className: className, field: name, options))
        }
        return changes
    }
}
