import JSON

extension JSONValue {
    /// The value as JavaScript puts it into a text, which is how Parse's messages name what they refuse.
    var scriptText: String {
        switch self {
        case .string(let text): text
        case .array(let elements):
            elements.map { $0.isNull ? "" : $0.scriptText }.joined(separator: ",")
        case .object: "[object Object]"
        case .null, .bool, .number: serializedString()
        }
    }
}
