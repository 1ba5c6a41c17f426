package import JSON
import ParseWire

/// What a save does to one field (Parse REST guide, "Updating Objects").
package enum FieldChange: Hashable, Sendable {
    case set(FieldValue)
    case unset
    case increment(Double)
    case add([JSONValue])
    case addUnique([JSONValue])
    case remove([JSONValue])
    /// Sets or removes (`nil`) single members of an object field and leaves its others alone.
    case merge([String: JSONValue?])
    /// Links of a relation field, which live beside the row; the field itself stays as it is.
    case relate([RelationOperation])
    /// A change inside an object or array field, at these keys or indexes.
    indirect case path([String], FieldChange)

    /// Whether the reply of the save shows the resulting value: it does where the client cannot know it.
    package var resultIsReturned: Bool {
        switch self {
        case .increment, .add, .addUnique, .remove: true
        case .path(_, let inner): inner.resultIsReturned
        case .set, .unset, .merge, .relate: false
        }
    }

    /// The field's value after the change; `nil` when the field is then absent.
    ///
    /// - Throws: ``ParseError`` when the present value is not of a type that the change can work on. Types
    ///   are checked against the schema before; this is for what only the row can tell, such as paths.
    package func applied(to current: FieldValue?) throws(ParseError) -> FieldValue? {
        switch self {
        case .set(let value): return value
        case .unset: return nil
        case .increment(let amount):
            switch current {
            case nil, .null: return .number(amount)
            case .number(let number):
                let sum = number + amount
                // JSON has no infinity.
                guard sum.isFinite else {
                    throw ParseError(.incorrectType, "the sum is too large for a number")
                }
                return .number(sum)
            default: throw Self.wrongTarget("Number")
            }
        case .add(let objects): return .array(try Self.elements(of: current) + objects)
        case .addUnique(let objects):
            guard current != nil, current != .null else { return .array(objects) }
            var elements = try Self.elements(of: current)
            var present = Set(elements)
            for object in objects where present.insert(object).inserted { elements.append(object) }
            return .array(elements)
        case .remove(let objects):
            let unwanted = Set(objects)
            return .array(try Self.elements(of: current).filter { !unwanted.contains($0) })
        case .merge(let members): return Self.merged(members, into: current)
        case .relate: return current
        case .path(let keys, let change):
            let json = try change.applied(at: keys[...], in: current?.json)
            switch json {
            case .object(let object): return .object(object)
            case .array(let array): return .array(array)
            default: return nil
            }
        }
    }

    private static func merged(_ members: [String: JSONValue?], into current: FieldValue?) -> FieldValue? {
        var object = current?.objectValue ?? JSONObject()
        for (key, value) in members.sorted(by: { $0.key < $1.key }) { object[key] = value }
        return object.isEmpty ? nil : .object(object)
    }

    private static func elements(of value: FieldValue?) throws(ParseError) -> [JSONValue] {
        switch value {
        case nil, .null: return []
        case .array(let elements): return elements
        default: throw wrongTarget("Array")
        }
    }

    private static func wrongTarget(_ type: String) -> ParseError {
        ParseError(.incorrectType, "the value to change is not of type \(type)")
    }
}

/// Objects that a relation field is to lead to, or not to.
package struct RelationOperation: Hashable, Sendable {
    package var objectIDs: [String]
    package var isRemoval: Bool

    package init(objectIDs: [String], isRemoval: Bool) {
        self.objectIDs = objectIDs
        self.isRemoval = isRemoval
    }
}

extension FieldChange {
    /// Follows the path down, makes objects that are missing, and changes what is at its end.
    private func applied(at keys: ArraySlice<String>, in json: JSONValue?) throws(ParseError) -> JSONValue? {
        guard let key = keys.first else {
            return try applied(to: json.map(Self.fieldValue))?.json
        }
        switch json {
        case .array(var elements):
            guard key.utf8.first != UInt8(ascii: "+"), let index = Int(key), elements.indices.contains(index)
            else {
                throw ParseError(.invalidNestedKey, "There is no element \(key) in the array.")
            }
            elements[index] = try applied(at: keys.dropFirst(), in: elements[index]) ?? .null
            return .array(elements)
        case .object(var object):
            object[key] = try applied(at: keys.dropFirst(), in: object[key])
            return .object(object)
        case nil, .null:
            guard let value = try applied(at: keys.dropFirst(), in: nil) else { return json }
            return .object([key: value])
        default:
            throw ParseError(.incorrectType, "Cannot change \(key) inside a value that is no object.")
        }
    }

    private static func fieldValue(_ json: JSONValue) -> FieldValue {
        switch json {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .number(let number): .number(number)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements)
        case .object(let object): .object(object)
        }
    }
}
