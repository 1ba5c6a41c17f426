import JSON
import ParseWire

/// What a pipeline computes of a document (MongoDB manual, "Expression Operators").
indirect enum AggregateExpression: Sendable {
    case literal(JSONValue)
    case path(AggregatePath)
    /// The whole document.
    case root
    case object([Member])
    case array([AggregateExpression])
    case call(AggregateFunction, [AggregateExpression])

    struct Member: Sendable {
        let name: String
        let expression: AggregateExpression
    }

    private static let depthLimit = 32

    /// Reads an expression.
    ///
    /// - Throws: ``ParseError`` 102 for an operator that is unknown or has the wrong number of arguments, and for a
    ///   malformed path.
    init(_ json: JSONValue, depth: Int = 0) throws(ParseError) {
        guard depth <= Self.depthLimit else {
            throw .aggregate("An aggregate expression is nested more than \(Self.depthLimit) levels deep.")
        }
        switch json {
        case .string(let text) where text.hasPrefix("$"): self = try Self.reference(text)
        case .null, .bool, .number, .string: self = .literal(json)
        case .array(let elements):
            var parts: [AggregateExpression] = []
            for element in elements { parts.append(try Self(element, depth: depth + 1)) }
            self = .array(parts)
        case .object(let object): self = try Self.object(object, depth)
        }
    }

    private static func reference(_ text: String) throws(ParseError) -> AggregateExpression {
        if text == "$$ROOT" || text == "$$CURRENT" { return .root }
        guard let path = AggregatePath(String(text.dropFirst())) else { throw .unsupportedExpression(text) }
        return .path(path)
    }

    private static func object(_ object: JSONObject, _ depth: Int) throws(ParseError) -> AggregateExpression {
        if object["__type"] != nil { return .literal(.object(object)) }
        guard let first = object.members.first, first.key.hasPrefix("$") else {
            var members: [Member] = []
            for member in object {
                guard !member.key.hasPrefix("$"), !member.key.contains(".") else {
                    throw .unsupportedExpression(member.key)
                }
                let expression = try Self(member.value, depth: depth + 1)
                members.append(
                    Member(name: AggregatePath(member.key)?.parts[0] ?? member.key, expression: expression)
                )
            }
            return .object(members)
        }
        guard object.count == 1 else {
            throw .aggregate(
                "An aggregate expression has one operator, not \(object.keys.joined(separator: ", "))."
            )
        }
        switch first.key {
        case "$literal": return .literal(first.value)
        case "$date":
            guard let instant = first.value.stringValue.flatMap(Timestamp.init(iso8601:)) else {
                throw .aggregate("The value of $date must be a date as text.")
            }
            return .literal(FieldValue.dateJSON(instant))
        default: return try call(first.key, first.value, depth)
        }
    }

    private static func call(_ name: String, _ json: JSONValue, _ depth: Int) throws(ParseError)
        -> AggregateExpression
    {
        guard let function = AggregateFunction(rawValue: name) else { throw .unsupportedExpression(name) }
        var arguments: [AggregateExpression] = []
        for argument in try function.arguments(json) {
            arguments.append(try Self(argument, depth: depth + 1))
        }
        guard function.argumentCounts.contains(arguments.count) else {
            throw .aggregate("The aggregate expression \(name) has the wrong number of arguments.")
        }
        return .call(function, arguments)
    }

    /// The value for one document; `nil` where there is none.
    ///
    /// - Throws: ``ParseError`` 102 for values of a type that an operator cannot work with.
    func value(in document: JSONObject) throws(ParseError) -> JSONValue? {
        switch self {
        case .literal(let value): return value
        case .path(let path): return path.value(in: document)
        case .root: return .object(document)
        case .object(let members):
            var object = JSONObject()
            for member in members {
                if let value = try member.expression.value(in: document) { object[member.name] = value }
            }
            return .object(object)
        case .array(let parts):
            var elements: [JSONValue] = []
            for part in parts { elements.append(try part.value(in: document) ?? .null) }
            return .array(elements)
        case .call(let function, let arguments): return try function.value(of: arguments, in: document)
        }
    }
}

extension AggregateExpression {
    /// How many levels deeper its value is than what it takes it from, at most.
    var nesting: Int {
        switch self {
        case .literal(let json): Self.depth(of: json)
        case .path: 0
        case .root: 1
        case .object(let members): 1 + (members.map(\.expression.nesting).max() ?? 0)
        case .array(let parts): 1 + (parts.map(\.nesting).max() ?? 0)
        case .call(_, let arguments): arguments.map(\.nesting).max() ?? 0
        }
    }

    private static func depth(of json: JSONValue) -> Int {
        switch json {
        case .array(let elements): 1 + (elements.map(depth).max() ?? 0)
        case .object(let object): 1 + (object.map { depth(of: $0.value) }.max() ?? 0)
        default: 0
        }
    }

    /// What counts as true: everything but false, null, 0 and no value.
    static func isTrue(_ value: JSONValue?) -> Bool {
        switch value {
        case nil, .null, .bool(false), .number(0): false
        default: true
        }
    }
}
