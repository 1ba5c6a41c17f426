import JSON
import ParseWire

extension WhereDecoder {
    /// How many subqueries one query may have, those inside of others among them.
    static let subqueryLimit = 50

    /// All subqueries of a filter, at any depth of its groups.
    func subqueryRequests(in filter: JSONObject) throws(ParseError) -> [SubqueryRequest] {
        var requests: [SubqueryRequest] = []
        try collect(filter, depth: 0, &requests)
        guard requests.count <= Self.subqueryLimit else {
            throw .tooManySubqueries
        }
        return requests
    }

    private func collect(
        _ filter: JSONObject,
        depth: Int,
        _ requests: inout [SubqueryRequest]
    ) throws(ParseError) {
        // What is deeper is refused when it is decoded.
        guard depth <= Self.depthLimit else { return }
        for member in filter {
            if Self.groups.contains(member.key) {
                for case .object(let part) in member.value.arrayValue ?? [] {
                    try collect(part, depth: depth + 1, &requests)
                }
            } else {
                for constraint in member.value.objectValue ?? [:] {
                    if let request = try Self.request(constraint) { requests.append(request) }
                }
            }
        }
    }

    /// What an operator asks; `nil` for one that asks nothing.
    private static func request(_ member: JSONObject.Member) throws(ParseError) -> SubqueryRequest? {
        switch member.key {
        case "$inQuery", "$notInQuery":
            guard let className = member.value["className"]?.stringValue, !className.isEmpty,
                let filter = member.value["where"], filter.isTruthy
            else { throw improper(member.key) }
            return SubqueryRequest(
                className: className,
                filter: try self.filter(filter),
                redirectKey: member.value["redirectClassNameForKey"]?.stringValue
            )
        case "$select", "$dontSelect":
            guard let object = member.value.objectValue, object.count == 2, let query = object["query"],
                let path = object["key"]?.stringValue, !path.isEmpty,
                let className = query["className"]?.stringValue, !className.isEmpty
            else { throw improper(member.key) }
            guard FieldName.isValidPath(path) else { throw .invalidKeyName(path) }
            return SubqueryRequest(
                className: className,
                filter: try self.filter(query["where"] ?? [:]),
                redirectKey: query["redirectClassNameForKey"]?.stringValue,
                path: path
            )
        default: return nil
        }
    }

    private static func improper(_ name: String) -> ParseError {
        ParseError(.invalidQuery, "improper usage of \(name)")
    }

    private static func filter(_ json: JSONValue) throws(ParseError) -> JSONObject {
        guard let filter = json.objectValue else {
            throw ParseError(.invalidJSON, "where parameter is not valid JSON")
        }
        return filter
    }

    /// `$in`, or what a subquery finds.
    func membership(
        _ field: String,
        _ member: JSONObject.Member,
        _ progress: Progress
    ) throws(ParseError) -> Predicate {
        guard let request = try Self.request(member) else {
            return .among(field, try list(field, member.value, "$in"))
        }
        guard let subquery = progress.subqueries?[request] else {
            throw ParseError(.commandUnavailable, "The \(member.key) operator is not supported here.")
        }
        guard let path = request.path else { return .amongObjects(field, subquery) }
        return .amongValues(field, subquery, path: path)
    }
}

extension ParseError {
    static let tooManySubqueries = ParseError(
        .invalidQuery,
        "The query has more than \(WhereDecoder.subqueryLimit) subqueries."
    )
    static let tooManyConditions = ParseError(
        .invalidQuery,
        "The query has more than \(WhereDecoder.conditionLimit) conditions."
    )
}
