package import JSON

/// Who may do what with the objects of a class (Parse REST guide, "Class-Level Permissions").
///
/// Immutable and shared, as every request has it in its hands.
package final class ClassPermissions: Hashable, Sendable {
    package enum Operation: String, CaseIterable, Sendable {
        case find, count, get, create, update, delete, addField

        /// Whether `readUserFields` counts for it, rather than `writeUserFields`.
        var isRead: Bool {
            switch self {
            case .find, .count, .get: true
            case .create, .update, .delete, .addField: false
            }
        }
    }

    /// Whom an operation is open to.
    package struct Rule: Hashable, Sendable {
        /// `*`, ids of users, and `role:` with a name.
        package var keys: Set<String> = []
        package var requiresAuthentication = false
        /// Users that a row points to from one of these fields.
        package var pointerFields: [String] = []

        init(_ object: JSONObject) {
            for member in object {
                switch member.key {
                case "pointerFields":
                    pointerFields = (member.value.arrayValue ?? []).compactMap(\.stringValue)
                case "requiresAuthentication": requiresAuthentication = member.value == true
                default: if member.value == true { keys.insert(member.key) }
                }
            }
        }
    }

    /// As it was set and is answered; what was not named is there as an empty object.
    package let json: JSONObject
    /// An operation that is missing here is open to everybody.
    package let rules: [Operation: Rule]
    package let readUserFields: [String]
    package let writeUserFields: [String]
    /// By group: `*`, `authenticated`, `role:` with a name, the id of a user, `userField:` with a field.
    package let protectedFields: [String: [String]]
    /// What a new object gets that brings no list of its own; `nil` for none.
    package let defaultACL: JSONObject?

    /// Reads what was checked before; what is malformed grants nothing.
    package init(_ json: JSONObject) {
        self.json = json
        var rules: [Operation: Rule] = [:]
        for operation in Operation.allCases {
            if let object = json[operation.rawValue]?.objectValue { rules[operation] = Rule(object) }
        }
        self.rules = rules
        readUserFields = (json["readUserFields"]?.arrayValue ?? []).compactMap(\.stringValue)
        writeUserFields = (json["writeUserFields"]?.arrayValue ?? []).compactMap(\.stringValue)
        var protected: [String: [String]] = [:]
        for member in json["protectedFields"]?.objectValue ?? JSONObject() {
            protected[member.key] = (member.value.arrayValue ?? []).compactMap(\.stringValue)
        }
        protectedFields = protected
        defaultACL = json["ACL"]?.objectValue
    }

    package static func == (left: ClassPermissions, right: ClassPermissions) -> Bool {
        left.json == right.json
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(json)
    }
}
