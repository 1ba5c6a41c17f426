package import JSON

/// A class as the schema API shows it (Parse REST guide, "Schema").
package enum SchemaView {
    /// What holds for a class whose permissions were never set.
    package static let openPermissions: JSONObject = [
        "ACL": ["*": ["read": true, "write": true]], "find": ["*": true], "count": ["*": true],
        "get": ["*": true],
        "create": ["*": true], "update": ["*": true], "delete": ["*": true], "addField": ["*": true],
        "protectedFields": ["*": []],
    ]
    /// The index that every class has, shown beside others.
    private static let primaryIndex: JSONObject = ["_id": 1]

    package static func object(of schema: ClassSchema) -> JSONObject {
        var fields = JSONObject()
        fields.reserveCapacity(schema.fieldNames.count)
        for name in schema.fieldNames {
            guard let type = schema.type(of: name) else { continue }
            fields.append(name, .object(field(type, schema.fieldOptions[name])))
        }
        var object: JSONObject = [
            "className": .string(schema.className), "fields": .object(fields),
            "classLevelPermissions": .object(schema.permissions?.json ?? openPermissions),
        ]
        if !schema.indexes.isEmpty { object.append("indexes", .object(indexes(schema.indexes))) }
        return object
    }

    private static func field(_ type: FieldType, _ options: FieldOptions?) -> JSONObject {
        var object: JSONObject = ["type": .string(type.wireName)]
        if let target = type.targetClass { object.append("targetClass", .string(target)) }
        if options?.isRequired == true { object.append("required", true) }
        if let value = options?.defaultValue { object.append("defaultValue", value) }
        return object
    }

    private static func indexes(_ indexes: [String: IndexDefinition]) -> JSONObject {
        var object = JSONObject()
        object.append(IndexEdits.primaryName, .object(primaryIndex))
        for (name, index) in indexes.sorted(by: { $0.key < $1.key }) {
            object[name] = .object(index.keys)
        }
        return object
    }
}
