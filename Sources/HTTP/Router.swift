/// Finds the endpoint of a method and path in a trie of path segments.
///
/// A literal segment wins over a parameter, `/users/me` over `/users/:objectId`, whatever the order of adding;
/// when the literal branch leads nowhere the parameter is tried.
package struct Router<Endpoint: Sendable>: Sendable {
    /// What a path matched.
    package struct Match: Sendable {
        package let endpoint: Endpoint
        package let parameters: PathParameters
    }

    private struct Node: Sendable {
        /// By segment as added, and in lower case.
        var literals: [String: Int] = [:]
        var foldedLiterals: [String: Int] = [:]
        var parameter: Int?
        /// Names of the parameters on the way here, in order, belong to the endpoint: two routes may name one
        /// place differently.
        var endpoints: [HTTPMethod: (endpoint: Endpoint, names: [String])] = [:]
    }

    private var nodes = [Node()]
    /// Routes without parameters by their whole path: most requests are for one of these, as it is written.
    private var exact: [String: [HTTPMethod: Endpoint]] = [:]

    package init() {}

    /// Adds an endpoint.
    ///
    /// The pattern begins with `/`; a segment `:name` in it matches any one segment that is not empty.
    package mutating func add(_ method: HTTPMethod, _ pattern: String, _ endpoint: Endpoint) {
        precondition(pattern.hasPrefix("/"), "the route \(pattern) begins with a slash")
        var names: [String] = []
        var position = 0
        for segment in pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        where !(segment.isEmpty && pattern == "/") {
            precondition(!segment.isEmpty, "the route \(pattern) has no empty segment")
            if segment.hasPrefix(":") {
                names.append(String(segment.dropFirst()))
                position = nodes[position].parameter ?? makeNode { $0[position].parameter = $1 }
            } else {
                let literal = String(segment)
                position =
                    nodes[position].literals[literal]
                    ?? makeNode {
                        $0[position].literals[literal] = $1
                        if $0[position].foldedLiterals[literal.lowercased()] == nil {
                            $0[position].foldedLiterals[literal.lowercased()] = $1
                        }
                    }
            }
        }
        precondition(nodes[position].endpoints[method] == nil, "\(method) \(pattern) is added once")
        nodes[position].endpoints[method] = (endpoint, names)
        if names.isEmpty { exact[pattern, default: [:]][method] = endpoint }
    }

    private mutating func makeNode(_ link: (inout [Node], Int) -> Void) -> Int {
        nodes.append(Node())
        link(&nodes, nodes.count - 1)
        return nodes.count - 1
    }

    /// The endpoint for a method and path, or `nil`.
    ///
    /// - Parameters:
    ///   - method: Exactly as sent.
    ///   - path: Still percent-encoded. Literals are compared decoded; a path with a malformed escape matches
    ///     nothing that would have to decode it.
    ///   - caseInsensitive: Also lets one trailing slash and a doubled leading one pass, as Express does.
    ///     Without it only the exact path matches.
    /// - Returns: The endpoint and the parameters' values.
    package func match(method: HTTPMethod, path: String, caseInsensitive: Bool = true) -> Match? {
        if let endpoint = exact[path]?[method] {
            return Match(endpoint: endpoint, parameters: PathParameters([]))
        }
        guard let segments = Self.segments(of: path, lenient: caseInsensitive) else { return nil }
        var values: [String] = []
        guard
            let found = find(
                segments[...],
                from: 0,
                caseInsensitive: caseInsensitive,
                values: &values,
                accepts: {
                    $0[method] != nil
                }
            ), let entry = nodes[found].endpoints[method]
        else { return nil }
        return Match(endpoint: entry.endpoint, parameters: PathParameters(zip(entry.names, values)))
    }

    /// The methods that a path has endpoints for, in no order.
    package func methods(path: String, caseInsensitive: Bool = true) -> [HTTPMethod] {
        guard let segments = Self.segments(of: path, lenient: caseInsensitive) else { return [] }
        var values: [String] = []
        let found = find(
            segments[...],
            from: 0,
            caseInsensitive: caseInsensitive,
            values: &values,
            accepts: { !$0.isEmpty }
        )
        return found.map { Array(nodes[$0].endpoints.keys) } ?? []
    }

    /// Depth is bounded by the longest route, not by the path.
    private func find(
        _ segments: ArraySlice<Substring>,
        from position: Int,
        caseInsensitive: Bool,
        values: inout [String],
        accepts: ([HTTPMethod: (endpoint: Endpoint, names: [String])]) -> Bool
    ) -> Int? {
        guard let segment = segments.first else {
            return accepts(nodes[position].endpoints) ? position : nil
        }
        guard !segment.isEmpty, let decoded = PercentEncoding.decode(segment) else { return nil }
        let node = nodes[position]
        let literal =
            node.literals[decoded] ?? (caseInsensitive ? node.foldedLiterals[decoded.lowercased()] : nil)
        if let literal,
            let found = find(
                segments.dropFirst(),
                from: literal,
                caseInsensitive: caseInsensitive,
                values: &values,
                accepts: accepts
            )
        {
            return found
        }
        guard let parameter = node.parameter else { return nil }
        values.append(decoded)
        if let found = find(
            segments.dropFirst(),
            from: parameter,
            caseInsensitive: caseInsensitive,
            values: &values,
            accepts: accepts
        ) {
            return found
        }
        values.removeLast()
        return nil
    }

    private static func segments(of path: String, lenient: Bool) -> [Substring]? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        var rest = path.dropFirst()
        if lenient {
            if rest.hasPrefix("/") { rest = rest.dropFirst() }
            if rest.hasSuffix("/") { rest = rest.dropLast() }
        }
        return rest.isEmpty ? [] : rest.split(separator: "/", omittingEmptySubsequences: false)
    }
}

/// The values of a route's parameters, percent-decoded, in the order of the path.
package struct PathParameters: Sendable, RandomAccessCollection {
    private let pairs: [(name: String, value: String)]

    package init(_ pairs: some Sequence<(String, String)>) {
        self.pairs = pairs.map { (name: $0.0, value: $0.1) }
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { pairs.count }
    package subscript(position: Int) -> (name: String, value: String) { pairs[position] }
    package subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }
}
