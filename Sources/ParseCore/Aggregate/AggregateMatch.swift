import JSON
import ParseWire

/// A `$match`: a filter as a `where` has it, and perhaps an expression that must be true (`$expr`).
struct AggregateMatch: Sendable {
    /// On rows of the class, by Parse's names.
    let predicate: Predicate
    let expressions: [AggregateExpression]
    private let root: Node

    private indirect enum Node: Sendable {
        case constant(Bool)
        case all([Node])
        case any([Node])
        case none([Node])
        case test(ValueTest)
    }

    /// Reads the stage.
    ///
    /// - Throws: ``ParseError`` of ``WhereDecoder/meaning(of:)``, and 102 for what is no object.
    init(_ json: JSONValue, schema: ClassSchema?, now: Timestamp) throws(ParseError) {
        guard var filter = json.objectValue else { throw .aggregate("$match needs an object.") }
        var expressions: [AggregateExpression] = []
        if let expression = filter["$expr"] {
            expressions.append(try AggregateExpression(expression))
            filter["$expr"] = nil
        }
        self.expressions = expressions
        let translated = try Self.translated(filter, depth: 0)
        predicate = try WhereDecoder(schema: schema, isMaster: true, now: now).predicate(translated)
        root = try Self.node(predicate)
    }

    /// Whether the rows of a class can be asked for it, so that no document need be.
    var isForRows: Bool {
        expressions.isEmpty
    }

    func matches(_ document: JSONObject) throws(ParseError) -> Bool {
        guard try Self.matches(root, document) else { return false }
        for expression in expressions where !AggregateExpression.isTrue(try expression.value(in: document)) {
            return false
        }
        return true
    }

    /// The filter by Parse's names, with MongoDB's form of dates as Parse's.
    private static func translated(_ filter: JSONObject, depth: Int) throws(ParseError) -> JSONObject {
        guard depth <= WhereDecoder.depthLimit else { return filter }
        var result = JSONObject()
        for member in filter {
            if WhereDecoder.groups.contains(member.key), let parts = member.value.arrayValue {
                var groups: [JSONValue] = []
                for part in parts {
                    groups.append(.object(try translated(part.objectValue ?? [:], depth: depth + 1)))
                }
                result[member.key] = .array(groups)
            } else if member.key.hasPrefix("$") {
                throw .unsupportedExpression(member.key)
            } else {
                result[parseName(member.key)] = translated(member.value, depth: 0)
            }
        }
        return result
    }

    private static func parseName(_ name: String) -> String {
        guard var parts = AggregatePath(name)?.parts else { return name }
        if parts[0] == AggregateDocument.id { parts[0] = "objectId" }
        return parts.joined(separator: ".")
    }

    private static func translated(_ json: JSONValue, depth: Int) -> JSONValue {
        guard depth < 8 else { return json }
        switch json {
        case .array(let elements): return .array(elements.map { translated($0, depth: depth + 1) })
        case .object(let object):
            if object.count == 1, let text = object["$date"]?.stringValue {
                return ["__type": "Date", "iso": .string(text)]
            }
            return .object(
                JSONObject(
                    object.map {
                        JSONObject.Member(key: $0.key, value: translated($0.value, depth: depth + 1))
                    }
                )
            )
        default: return json
        }
    }

    private static func node(_ predicate: Predicate) throws(ParseError) -> Node {
        switch predicate {
        case .everything: return .constant(true)
        case .all(let parts): return .all(try nodes(parts))
        case .any(let parts): return .any(try nodes(parts))
        case .none(let parts): return .none(try nodes(parts))
        default: return try ValueTest(predicate).map(Node.test) ?? .constant(false)
        }
    }

    private static func nodes(_ predicates: [Predicate]) throws(ParseError) -> [Node] {
        var nodes: [Node] = []
        for predicate in predicates { nodes.append(try node(predicate)) }
        return nodes
    }

    private static func matches(_ node: Node, _ document: JSONObject) throws(ParseError) -> Bool {
        switch node {
        case .constant(let flag): return flag
        case .all(let parts):
            for part in parts where try !matches(part, document) { return false }
            return true
        case .any(let parts): return try matchesAny(parts, document)
        case .none(let parts): return try !matchesAny(parts, document)
        case .test(let test):
            let name = test.field == "objectId" ? AggregateDocument.id : test.field
            return try test.matches(stored: document[name])
        }
    }

    private static func matchesAny(_ parts: [Node], _ document: JSONObject) throws(ParseError) -> Bool {
        for part in parts where try matches(part, document) { return true }
        return false
    }
}
