import JSON
import ParseWire

/// Puts the objects behind pointers into the objects that point to them (Parse REST guide, "Relational Queries").
///
/// Each is read as a get with the caller's rights. One that is missing or may not be read is left out of the object that
/// points to it.
struct IncludeLoader {
    private let context: RequestContext
    /// What all included objects may come to, in bytes; each counts as often as it is put in.
    private static let byteLimit = 32 << 20
    private static let chunk = 1000

    init(in context: RequestContext) {
        self.context = context
    }

    func load(
        into objects: inout [JSONObject],
        _ schema: ClassSchema?,
        _ selection: Selection
    ) async throws {
        guard !selection.isPlain, !objects.isEmpty else { return }
        var budget = Self.byteLimit
        try await load(into: &objects, schema, selection, &budget)
    }

    private func load(
        into objects: inout [JSONObject],
        _ schema: ClassSchema?,
        _ selection: Selection,
        _ budget: inout Int
    ) async throws {
        for (field, inner) in Self.includes(of: selection, schema) {
            var wanted = Wanted()
            for object in objects {
                if let value = object[field] { wanted.collect(value, inner) }
            }
            let found = try await self.found(wanted, inner, &budget)
            var replacement = Replacement(found: found, budget: budget)
            for index in objects.indices {
                guard let value = objects[index][field] else { continue }
                objects[index][field] = try replacement.replaced(value, inner)
            }
            budget = replacement.budget
        }
    }

    private static func includes(of selection: Selection, _ schema: ClassSchema?) -> [(String, Selection)] {
        var includes = selection.includes
        if selection.includesAll, let schema {
            for name in schema.fieldNames where includes[name] == nil {
                switch schema.type(of: name) {
                case .pointer, .array: includes[name] = Selection()
                default: break
                }
            }
        }
        return includes.sorted { $0.key < $1.key }
    }

    /// The objects that are wanted and may be read, by class and id, with what is included in them.
    private func found(
        _ wanted: Wanted,
        _ selection: Selection,
        _ budget: inout Int
    ) async throws -> [ObjectKey: JSONObject] {
        var found: [ObjectKey: JSONObject] = [:]
        for (className, ids) in wanted.byClass.sorted(by: { $0.key < $1.key }) {
            let reader = ObjectReader(className, in: context)
            let filter = try reader.filter(for: .get)
            var objects: [JSONObject] = []
            let ids = ids.sorted()
            for start in stride(from: 0, to: ids.count, by: Self.chunk) {
                let part = ids[start..<min(start + Self.chunk, ids.count)].map(FieldValue.string)
                let query = RowQuery(
                    className: className,
                    predicate: Predicate.among("objectId", part).and(filter),
                    access: reader.rowAccess,
                    limit: part.count
                )
                for row in try await context.app.rows(query) {
                    var object = reader.object(row, selection.projection)
                    object.append("__type", "Object")
                    object.append("className", .string(className))
                    objects.append(object)
                }
            }
            try await load(into: &objects, reader.access.schema, selection, &budget)
            for object in objects {
                found[ObjectKey(className, object["objectId"]?.stringValue ?? "")] = object
            }
        }
        return found
    }
}

private struct ObjectKey: Hashable {
    let className: String
    let objectID: String

    init(_ className: String, _ objectID: String) {
        self.className = className
        self.objectID = objectID
    }

    /// `nil` for what is no pointer.
    init?(_ json: JSONObject) {
        guard json["__type"] == "Pointer", let className = json["className"]?.stringValue,
            let objectID = json["objectId"]?.stringValue
        else { return nil }
        self.init(className, objectID)
    }
}

/// The objects that pointers lead to.
private struct Wanted {
    private(set) var byClass: [String: Set<String>] = [:]

    mutating func collect(_ value: JSONValue, _ selection: Selection) {
        switch value {
        case .array(let elements): for element in elements { collect(element, selection) }
        case .object(let object):
            if let key = ObjectKey(object) {
                byClass[key.className, default: []].insert(key.objectID)
            } else if object["__type"] == nil {
                // A path leads through plain objects too.
                for (field, inner) in selection.includes {
                    if let value = object[field] { collect(value, inner) }
                }
            }
        default: break
        }
    }
}

/// Puts objects where pointers to them are.
private struct Replacement {
    let found: [ObjectKey: JSONObject]
    var budget: Int
    private var sizes: [ObjectKey: Int] = [:]

    init(found: [ObjectKey: JSONObject], budget: Int) {
        self.found = found
        self.budget = budget
    }

    /// The value with objects in the place of pointers; `nil` for a pointer that leads nowhere.
    mutating func replaced(_ value: JSONValue, _ selection: Selection) throws(ParseError) -> JSONValue? {
        switch value {
        case .array(let elements):
            var replaced: [JSONValue] = []
            for element in elements {
                if let element = try self.replaced(element, selection) { replaced.append(element) }
            }
            return .array(replaced)
        case .object(var object):
            if let key = ObjectKey(object) {
                guard let target = found[key] else { return nil }
                try spend(key, target)
                return .object(target)
            }
            guard object["__type"] == nil else { return value }
            for (field, inner) in selection.includes {
                if let value = object[field] { object[field] = try replaced(value, inner) }
            }
            return .object(object)
        default: return value
        }
    }

    private mutating func spend(_ key: ObjectKey, _ object: JSONObject) throws(ParseError) {
        let size = sizes[key] ?? ObjectSize.bytes(of: .object(object))
        sizes[key] = size
        budget -= size
        guard budget >= 0 else {
            throw ParseError(
                .objectTooLarge,
                "The included objects are too large: ask for fewer at once."
            )
        }
    }
}
