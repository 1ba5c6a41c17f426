import JSON
import ParseWire

/// The documents that flow through a pipeline: JSON objects in Parse's stored form, with the id under `_id` and all
/// dates, `createdAt` and `updatedAt` too, as Date objects.
enum AggregateDocument {
    static let id = "_id"

    static func document(of row: StoredRow, _ schema: ClassSchema) -> JSONObject {
        var document = JSONObject()
        document.append(id, .string(row.objectID))
        document.append("createdAt", FieldValue.dateJSON(row.createdAt))
        document.append("updatedAt", FieldValue.dateJSON(row.updatedAt))
        for name in schema.fieldNames {
            if case .relation(let target) = schema.type(of: name) {
                document.append(name, ["__type": "Relation", "className": .string(target)])
            } else if let value = row.fields[name] {
                document.append(name, value.json)
            }
        }
        if let acl = row.acl { document.append("ACL", acl.json) }
        return document
    }

    /// What is answered of a document.
    ///
    /// The id is called `objectId`; an empty one is null, and a pointer as an id is the id it points to.
    static func answer(_ document: JSONObject) -> JSONObject {
        var answer = JSONObject()
        answer.reserveCapacity(document.count)
        for member in document where member.key != id {
            answer.append(member.key, isCommonDate(member.key) ? plainDate(member.value) : member.value)
        }
        if let id = document[id] { answer["objectId"] = answeredID(id) }
        return answer
    }

    private static func isCommonDate(_ name: String) -> Bool {
        name == "createdAt" || name == "updatedAt"
    }

    private static func plainDate(_ json: JSONValue) -> JSONValue {
        guard case .date(let instant) = FieldValue(stored: json) else { return json }
        return .string(instant.iso8601)
    }

    private static func answeredID(_ json: JSONValue) -> JSONValue {
        switch FieldValue(stored: json) {
        case .pointer(_, let id): .string(id)
        case .string(""), .array([]), .object([:]): .null
        default: json
        }
    }
}

/// A path to a field of a document, from the names that clients know fields by.
///
/// The names that MongoDB's documents have (`_created_at`, `_updated_at`, `_p_` and the name of a pointer) mean the
/// same as Parse's, and `objectId` is `_id`.
struct AggregatePath: Hashable, Sendable {
    let parts: [String]

    /// The path of that text; `nil` when a part of it is empty or starts with `$`.
    init?(_ text: String) {
        var parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 64, parts.allSatisfy({ !$0.isEmpty && !$0.hasPrefix("$") }) else { return nil }
        parts = parts.map { $0.hasPrefix("_p_") ? String($0.dropFirst(3)) : $0 }
        parts[0] = Self.rootNames[parts[0]] ?? parts[0]
        self.parts = parts
    }

    private static let rootNames = [
        "objectId": AggregateDocument.id, "_created_at": "createdAt", "_updated_at": "updatedAt",
    ]

    /// The value there; of an array on the way, the values in all its objects, as an array.
    func value(in document: JSONObject) -> JSONValue? {
        Self.value(.object(document), parts[...])
    }

    private static func value(_ json: JSONValue, _ path: ArraySlice<String>) -> JSONValue? {
        guard let key = path.first else { return json }
        switch json {
        case .object(let object): return object[key].flatMap { value($0, path.dropFirst()) }
        case .array(let elements): return .array(elements.compactMap { value($0, path) })
        default: return nil
        }
    }

    /// Sets the value there, making objects on the way; `nil` removes it.
    func set(_ value: JSONValue?, in document: inout JSONObject) {
        Self.set(value, in: &document, parts[...])
    }

    private static func set(_ value: JSONValue?, in object: inout JSONObject, _ path: ArraySlice<String>) {
        guard let key = path.first else { return }
        guard path.count > 1 else {
            object[key] = value
            return
        }
        guard var inner = object[key]?.objectValue ?? (value == nil ? nil : [:]) else { return }
        set(value, in: &inner, path.dropFirst())
        object[key] = .object(inner)
    }
}
