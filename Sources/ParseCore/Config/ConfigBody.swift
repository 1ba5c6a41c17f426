package import JSON
import ParseWire

/// The body of `PUT /config`, as changes of the row that holds the parameters.
package struct ConfigBody: Sendable {
    /// How many operations other than setting and deleting one body may hold; each copies what it is inside of.
    private static let operationLimit = 1000
    private static let nameLimit = 255

    package private(set) var changes: [(field: String, change: FieldChange)] = []

    /// - Throws: ``ParseError``: 107 for parts that are no objects and flags that are no truth values, 121 for `$` or
    ///   `.` in a name, 105 for a name that is empty or too long and for a prohibited keyword, and as
    ///   ``FieldInput/init(_:)`` for a malformed value.
    package init(_ body: JSONObject, _ denylist: KeywordDenylist) throws(ParseError) {
        guard let params = body["params"]?.objectValue else {
            throw ParseError(.invalidJSON, "params must be an object")
        }
        let flags = try Self.flags(body["masterKeyOnly"])
        try denylist.check(params)
        var values: [String: JSONValue?] = [:]
        var marks: [String: JSONValue?] = [:]
        var operations: [(field: String, change: FieldChange)] = []
        for member in params {
            try Self.checkName(member.key)
            marks[member.key] = .some(.bool(flags[member.key] ?? false))
            switch try FieldInput(member.value).change {
            case .set(let value): values[member.key] = .some(value.json)
            case .unset: values[member.key] = .some(nil)
            case .relate:
                throw ParseError(.incorrectType, "A parameter cannot be a relation.")
            case let change: operations.append(("params", .path([member.key], change)))
            }
        }
        guard operations.count <= Self.operationLimit else {
            throw ParseError(
                .exceededQuota,
                "A change of the config cannot have more than \(Self.operationLimit) operations."
            )
        }
        if !values.isEmpty { changes.append(("params", .merge(values))) }
        changes += operations
        if !marks.isEmpty { changes.append(("masterKeyOnly", .merge(marks))) }
    }

    /// The values of a row that is not there yet.
    package func initialValues() throws(ParseError) -> [String: FieldValue] {
        var values: [String: FieldValue] = [:]
        for (field, change) in changes { values[field] = try change.applied(to: values[field]) }
        return values
    }

    private static func flags(_ json: JSONValue?) throws(ParseError) -> [String: Bool] {
        guard let json, !json.isNull else { return [:] }
        guard let object = json.objectValue else {
            throw ParseError(.invalidJSON, "masterKeyOnly must be an object")
        }
        var flags: [String: Bool] = [:]
        for member in object where !member.value.isNull {
            // A text such as "false" would be one thing to one reader and another to the next.
            guard let flag = member.value.boolValue else {
                throw ParseError(.invalidJSON, "masterKeyOnly.\(member.key) must be true or false")
            }
            flags[member.key] = flag
        }
        return flags
    }

    private static func checkName(_ name: String) throws(ParseError) {
        guard !name.utf8.contains(where: { $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: ".") }) else {
            throw ParseError(
                .invalidNestedKey,
                "Nested keys should not contain the '$' or '.' characters"
            )
        }
        guard !name.isEmpty, name.utf8.count <= nameLimit, !name.utf8.contains(0) else {
            throw .invalidKeyName(name)
        }
    }
}
