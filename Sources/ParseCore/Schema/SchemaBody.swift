package import JSON
import ParseWire

/// The body of a request that makes or changes a class, taken apart; nothing in it is checked against a class yet.
package struct SchemaBody: Sendable {
    /// What is to become of one field.
    package struct FieldEdit: Sendable {
        package let name: String
        package let json: JSONObject

        package var isRemoval: Bool {
            json["__op"] == "Delete"
        }
    }

    package let fields: [FieldEdit]
    /// `nil` leaves the permissions as they are, null takes them back to what they were before they were ever set.
    package let permissions: JSONValue?
    package let indexes: JSONObject

    /// - Throws: ``ParseError`` 107 for a part that is no object.
    package init(_ body: JSONObject) throws(ParseError) {
        var fields: [FieldEdit] = []
        for member in try Self.object(body["fields"]) {
            guard let json = member.value.objectValue else { throw .malformedSchema }
            fields.append(FieldEdit(name: member.key, json: json))
        }
        self.fields = fields
        permissions = body["classLevelPermissions"]
        indexes = try Self.object(body["indexes"])
    }

    private static func object(_ json: JSONValue?) throws(ParseError) -> JSONObject {
        guard let json, !json.isNull else { return JSONObject() }
        guard let object = json.objectValue else { throw .malformedSchema }
        return object
    }

    /// The class that the path and the body name.
    ///
    /// - Returns: `nil` when neither does.
    /// - Throws: ``ParseError`` 103 when they name different ones.
    package static func className(_ body: JSONObject, path: String?) throws(ParseError) -> String? {
        guard let sent = body["className"], sent.isTruthy else { return path }
        let text = sent.scriptText
        guard let path else { return text }
        guard sent == .string(path) else {
            throw ParseError(.invalidClassName, "Class name mismatch between \(text) and \(path).")
        }
        return path
    }
}
