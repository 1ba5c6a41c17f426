import JSON
import ParseWire

/// The fields that `$project` and `$addFields` keep, leave out or compute.
struct AggregateProjection: Sendable {
    private let root: [String: Node]
    /// The names in the order in which they were written.
    private let order: [String]
    private let isExclusion: Bool
    private let keepsID: Bool

    /// How many fields a stage may name.
    static let fieldLimit = 200
    static let tooManyFields = ParseError.aggregate(
        "An aggregate stage names more than \(fieldLimit) fields."
    )

    private indirect enum Node: Sendable {
        case include
        case exclude
        case compute(AggregateExpression)
        case inner([String: Node], order: [String])
    }

    /// Reads `$project`.
    ///
    /// - Throws: ``ParseError`` 102 for a mixture of fields to keep and to leave out, and for malformed expressions.
    init(project json: JSONValue) throws(ParseError) {
        guard let object = json.objectValue, !object.isEmpty else {
            throw .aggregate("$project needs an object with fields.")
        }
        var tree = Tree()
        try tree.add(object, at: [], computesOnly: false, depth: 0)
        var nodes = tree.nodes
        if case .exclude = nodes[AggregateDocument.id] {
            keepsID = false
            nodes[AggregateDocument.id] = nil
        } else {
            keepsID = true
        }
        // `{_id: 0}` alone leaves out the id and nothing else.
        isExclusion = tree.excludes || (nodes.isEmpty && !keepsID)
        guard !(isExclusion && tree.includes) else {
            throw .aggregate("$project cannot both keep fields and leave fields out.")
        }
        root = nodes
        order = tree.order.filter { nodes[$0] != nil }
    }

    /// Reads `$addFields`.
    init(addFields json: JSONValue) throws(ParseError) {
        guard let object = json.objectValue, !object.isEmpty else {
            throw .aggregate("$addFields needs an object with fields.")
        }
        var tree = Tree()
        try tree.add(object, at: [], computesOnly: true, depth: 0)
        (root, order, isExclusion, keepsID) = (tree.nodes, tree.order, false, true)
    }

    /// How many levels deeper its documents are than those it takes in, at most.
    var nesting: Int {
        Self.nesting(root)
    }

    private static func nesting(_ nodes: [String: Node]) -> Int {
        nodes.values.map { node in
            switch node {
            case .include, .exclude: 0
            case .compute(let expression): expression.nesting
            case .inner(let inner, _): 1 + nesting(inner)
            }
        }.max() ?? 0
    }

    /// What `$project` leaves of a document.
    func projected(_ document: JSONObject) throws(ParseError) -> JSONObject {
        guard !isExclusion else {
            var rest = Self.without(root, document)
            if !keepsID { rest[AggregateDocument.id] = nil }
            return rest
        }
        var result = try Self.kept(root, order, document, document)
        if keepsID, root[AggregateDocument.id] == nil, let id = document[AggregateDocument.id] {
            result[AggregateDocument.id] = id
        }
        return result
    }

    /// The document with the computed fields.
    func adding(to document: JSONObject) throws(ParseError) -> JSONObject {
        try Self.added(root, order, document, document)
    }

    private static func without(_ nodes: [String: Node], _ object: JSONObject) -> JSONObject {
        var rest = object
        for (name, node) in nodes {
            switch node {
            case .inner(let inner, _):
                rest[name] = object[name].map { each($0) { .object(without(inner, $0)) } }
            case .exclude: rest[name] = nil
            case .include, .compute: break
            }
        }
        return rest
    }

    private static func each(_ json: JSONValue, _ change: (JSONObject) -> JSONValue) -> JSONValue {
        switch json {
        case .object(let object): change(object)
        case .array(let elements): .array(elements.map { each($0, change) })
        default: json
        }
    }

    private static func kept(
        _ nodes: [String: Node],
        _ order: [String],
        _ object: JSONObject,
        _ document: JSONObject
    ) throws(ParseError) -> JSONObject {
        var result = JSONObject()
        for name in order {
            switch nodes[name] {
            case .include: result[name] = object[name]
            case .compute(let expression): result[name] = try expression.value(in: document)
            case .inner(let inner, let innerOrder):
                result[name] = try kept(inner, innerOrder, object[name], document)
            case .exclude, nil: break
            }
        }
        return result
    }

    private static func kept(
        _ nodes: [String: Node],
        _ order: [String],
        _ json: JSONValue?,
        _ document: JSONObject
    ) throws(ParseError) -> JSONValue? {
        switch json {
        case .object(let object): return .object(try kept(nodes, order, object, document))
        case .array(let elements):
            var results: [JSONValue] = []
            for element in elements {
                if let kept = try kept(nodes, order, element, document) { results.append(kept) }
            }
            return .array(results)
        default:
            let computed = try kept(nodes, order, JSONObject(), document)
            return computed.isEmpty ? nil : .object(computed)
        }
    }

    private static func added(
        _ nodes: [String: Node],
        _ order: [String],
        _ object: JSONObject,
        _ document: JSONObject
    ) throws(ParseError) -> JSONObject {
        var result = object
        for name in order {
            switch nodes[name] {
            case .compute(let expression):
                if let value = try expression.value(in: document) { result[name] = value }
            case .inner(let inner, let innerOrder):
                let old = object[name]?.objectValue ?? [:]
                result[name] = .object(try added(inner, innerOrder, old, document))
            case .include, .exclude, nil: break
            }
        }
        return result
    }

    /// The nodes in the making.
    private struct Tree {
        var nodes: [String: Node] = [:]
        var order: [String] = []
        var includes = false
        var excludes = false
        private var count = 0

        mutating func add(
            _ object: JSONObject,
            at prefix: [String],
            computesOnly: Bool,
            depth: Int
        ) throws(ParseError) {
            guard depth <= 16 else { throw .aggregate("$project is nested more than 16 levels deep.") }
            for member in object {
                count += 1
                guard count <= AggregateProjection.fieldLimit else { throw AggregateProjection.tooManyFields }
                guard let path = AggregatePath((prefix + [member.key]).joined(separator: ".")) else {
                    throw .aggregate("\(member.key) cannot be the name of a field.")
                }
                if let inner = member.value.objectValue, Self.isInner(inner) {
                    try add(inner, at: prefix + [member.key], computesOnly: computesOnly, depth: depth + 1)
                } else {
                    let node = try node(member.value, computesOnly: computesOnly, isID: path.parts == ["_id"])
                    Self.insert(node, path.parts[...], &nodes, &order)
                }
            }
        }

        private static func isInner(_ object: JSONObject) -> Bool {
            object["__type"] == nil && !object.isEmpty && !object.keys.contains { $0.hasPrefix("$") }
        }

        private mutating func node(_ json: JSONValue, computesOnly: Bool, isID: Bool) throws(ParseError)
            -> Node
        {
            switch json {
            case .bool, .number:
                if computesOnly { return .compute(.literal(json)) }
                if json.isTruthy {
                    if !isID { includes = true }
                    return .include
                }
                if !isID { excludes = true }
                return .exclude
            default:
                includes = true
                return .compute(try AggregateExpression(json))
            }
        }

        private static func insert(
            _ node: Node,
            _ path: ArraySlice<String>,
            _ nodes: inout [String: Node],
            _ order: inout [String]
        ) {
            guard let name = path.first else { return }
            if nodes[name] == nil { order.append(name) }
            guard path.count > 1 else {
                nodes[name] = node
                return
            }
            var (inner, innerOrder): ([String: Node], [String]) = ([:], [])
            if case .inner(let present, let presentOrder) = nodes[name] {
                (inner, innerOrder) = (present, presentOrder)
            }
            insert(node, path.dropFirst(), &inner, &innerOrder)
            nodes[name] = .inner(inner, order: innerOrder)
        }
    }
}
