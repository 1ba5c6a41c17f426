package import JSON
import ParseWire

/// What a client sees of a row.
package enum ObjectView {
    /// Fields that stand in every answer, whatever `keys` and `excludeKeys` say.
    private static let always: Set<String> = ["objectId", "createdAt", "updatedAt", "ACL"]

    /// The row with its common fields, those of the class in the order of the schema.
    ///
    /// - Parameters:
    ///   - row: What the database holds.
    ///   - schema: Its class.
    ///   - hidden: Fields that are left out.
    ///   - files: Gives files their addresses; `nil` where there are none, or nobody to download them.
    /// - Returns: What the API answers.
    package static func object(
        of row: StoredRow,
        _ schema: ClassSchema?,
        hiding hidden: Set<String> = [],
        files: FileAddresses? = nil
    ) -> JSONObject {
        var object = JSONObject()
        object.append("objectId", .string(row.objectID))
        object.append("createdAt", .string(row.createdAt.iso8601))
        object.append("updatedAt", .string(row.updatedAt.iso8601))
        for name in schema?.fieldNames ?? [] where !hidden.contains(name) {
            if let value = row.fields[name] {
                object.append(name, files?.json(of: value) ?? value.json)
            } else if case .relation(let target) = schema?.type(of: name) {
                object.append(name, ["__type": "Relation", "className": .string(target)])
            }
        }
        if let acl = row.acl { object.append("ACL", acl.json) }
        return object
    }

    /// Leaves out what was not asked for; relations are left in whatever `keys` says.
    package static func projected(
        _ object: JSONObject,
        _ projection: Projection,
        _ schema: ClassSchema? = nil
    ) -> JSONObject {
        guard !projection.isEverything else { return object }
        return JSONObject(
            object.filter { member in
                if always.contains(member.key) || projection.includes(member.key) { return true }
                if case .relation = schema?.type(of: member.key) {
                    return !projection.excluded.contains(member.key)
                }
                return false
            }
        )
    }
}

/// The parameters `keys` and `excludeKeys` of a read.
package struct Projection: Sendable, Hashable {
    package var keys: Set<String>?
    package var excluded: Set<String>

    package init(keys: Set<String>? = nil, excluded: Set<String> = []) {
        self.keys = keys
        self.excluded = excluded
    }

    var isEverything: Bool {
        keys == nil && excluded.isEmpty
    }

    func includes(_ field: String) -> Bool {
        (keys?.contains(field) ?? true) && !excluded.contains(field)
    }
}
