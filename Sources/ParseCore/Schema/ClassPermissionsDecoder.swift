package import JSON
import ParseWire

/// Reads class-level permissions and checks that each part of them can mean something.
package struct ClassPermissionsDecoder: Sendable {
    /// The class with the fields it will have.
    private let schema: ClassSchema
    /// Whether clients choose ids, so that any text may be a user's.
    private let allowsAnyID: Bool

    package init(schema: ClassSchema, allowsCustomIDs: Bool) {
        self.schema = schema
        allowsAnyID = allowsCustomIDs
    }

    /// What the permissions are once set: an operation that is not named is nobody's but the master key's.
    ///
    /// - Throws: ``ParseError`` 107 that names the first part that is wrong; 116 for more than an object may hold.
    package func permissions(_ json: JSONObject) throws(ParseError) -> ClassPermissions {
        for member in json { try check(member.key, member.value) }
        try ObjectSize.check(["classLevelPermissions": .object(json)])
        var complete = JSONObject()
        for operation in ClassPermissions.Operation.allCases {
            complete.append(operation.rawValue, json[operation.rawValue] ?? [:])
        }
        complete.append("protectedFields", json["protectedFields"] ?? [:])
        for member in json where complete[member.key] == nil { complete.append(member.key, member.value) }
        return ClassPermissions(complete)
    }

    private func check(_ name: String, _ json: JSONValue) throws(ParseError) {
        let isOperation = ClassPermissions.Operation(rawValue: name) != nil
        let others = ["ACL", "protectedFields", "readUserFields", "writeUserFields"]
        guard isOperation || others.contains(name) else {
            throw refusal("\(name) is not a valid operation for class level permissions")
        }
        if name == "readUserFields" || name == "writeUserFields" {
            guard let fields = json.arrayValue else { throw shape(name, json, "an array") }
            return try checkPointerFields(fields, name)
        }
        guard let object = json.objectValue else { throw shape(name, json, "an object") }
        for entry in object {
            switch name {
            case "ACL": try checkListEntry(entry)
            case "protectedFields": try checkProtected(entry)
            default: try checkPermission(name, entry)
            }
        }
    }

    private func checkPermission(_ operation: String, _ entry: JSONObject.Member) throws(ParseError) {
        guard entry.key != "pointerFields" else {
            guard let fields = entry.value.arrayValue else {
                throw refusal(
                    "'\(entry.value.scriptText)' is not a valid value for \(operation)[pointerFields] "
                        + "- expected an array."
                )
            }
            return try checkPointerFields(fields, operation)
        }
        guard entry.key == "requiresAuthentication" || isGroup(entry.key) else { throw key(entry.key) }
        guard entry.value == true else {
            throw refusal(
                "'\(entry.value.scriptText)' is not a valid value for class level permissions acl "
                    + "\(operation):\(entry.key)"
            )
        }
    }

    private func checkListEntry(_ entry: JSONObject.Member) throws(ParseError) {
        guard isGroup(entry.key), entry.key != "pointerFields" else { throw key(entry.key) }
        guard let rights = entry.value.objectValue else {
            throw refusal(
                "'\(entry.value.scriptText)' is not a valid value for class level permissions acl"
            )
        }
        let unknown = rights.keys.filter { $0 != "read" && $0 != "write" }
        guard unknown.isEmpty else {
            throw refusal(
                "'\(unknown.joined(separator: ","))' is not a valid key for class level permissions acl"
            )
        }
        let wrong = rights.filter { $0.value.boolValue == nil }.map(\.value)
        guard wrong.isEmpty else {
            throw refusal(
                "'\(JSONValue.array(wrong).scriptText)' is not a valid value for class level permissions acl"
            )
        }
    }

    private func checkProtected(_ entry: JSONObject.Member) throws(ParseError) {
        let isKnown = entry.key == "authenticated" || entry.key.hasPrefix("userField:")
        guard isKnown || isGroup(entry.key) else { throw key(entry.key) }
        guard let fields = entry.value.arrayValue else {
            throw refusal(
                "'\(entry.value.scriptText)' is not a valid value for protectedFields[\(entry.key)] "
                    + "- expected an array."
            )
        }
        let common = SystemClasses.commonFields.map(\.0)
        for field in fields {
            let name = field.scriptText
            guard !common.contains(name) else {
                throw refusal("Default field '\(name)' can not be protected")
            }
            guard field.stringValue != nil, schema.type(of: name) != nil else {
                throw refusal("Field '\(name)' in protectedFields:\(entry.key) does not exist")
            }
        }
    }

    private func checkPointerFields(_ fields: [JSONValue], _ operation: String) throws(ParseError) {
        for field in fields {
            switch field.stringValue.flatMap(schema.type) {
            case .pointer(SystemClasses.user), .array: continue
            default:
                throw refusal(
                    "'\(field.scriptText)' is not a valid column for class level pointer permissions "
                        + operation
                )
            }
        }
    }

    /// Everybody, a role, or a user's id.
    private func isGroup(_ key: String) -> Bool {
        if key == "*" || key.hasPrefix("role:") { return true }
        return !key.isEmpty && (allowsAnyID || key.utf8.allSatisfy(Self.isLetterOrDigit))
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    private func key(_ key: String) -> ParseError {
        refusal("'\(key)' is not a valid key for class level permissions")
    }

    private func shape(_ name: String, _ json: JSONValue, _ rule: String) -> ParseError {
        refusal(
            "'\(json.scriptText)' is not a valid value for class level permissions \(name) - must be \(rule)"
        )
    }

    private func refusal(_ text: String) -> ParseError {
        ParseError(.invalidJSON, text)
    }
}
