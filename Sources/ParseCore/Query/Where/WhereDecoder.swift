package import JSON
package import ParseWire

/// Turns the JSON of `where` into a ``Predicate`` (Parse REST guide, "Query Constraints").
package struct WhereDecoder: Sendable {
    let schema: ClassSchema?
    let isMaster: Bool
    /// What `$relativeTime` counts from; without it that operator is refused.
    let now: Timestamp?
    /// How deep `$or`, `$and` and `$nor` may stand in each other; SQLite's parser has a stack of 100 places.
    static let depthLimit = 16
    /// How many conditions one query may have.
    static let conditionLimit = 2000

    /// Decodes for one class.
    ///
    /// - Parameters:
    ///   - schema: The class; without one every field is unknown.
    ///   - isMaster: Chooses between some texts of errors, nothing else.
    ///   - now: What `$relativeTime` counts from.
    package init(schema: ClassSchema?, isMaster: Bool = false, now: Timestamp? = nil) {
        self.schema = schema
        self.isMaster = isMaster
        self.now = now
    }

    /// What a filter means.
    package struct Meaning: Sendable, Hashable {
        package var predicate: Predicate
        /// Set by a `$nearSphere` that all rows must fulfil: rows come nearest first where no other order is asked.
        package var nearest: RowQuery.Nearest?
        /// How many conditions it has, those of its subqueries not among them.
        var conditions = 0
    }

    /// What is counted and found on the way through one filter.
    struct Progress {
        var conditions = 0
        var nearest: RowQuery.Nearest?
        /// `nil` where subqueries cannot be asked for.
        let subqueries: [SubqueryRequest: Subquery]?
    }

    /// All paths that a filter names, those of its subqueries not among them.
    package static func fields(of filter: JSONObject) -> [String] {
        fields(of: filter, depth: 0)
    }

    private static func fields(of filter: JSONObject, depth: Int) -> [String] {
        guard depth <= depthLimit else { return [] }
        return filter.flatMap { member -> [String] in
            guard groups.contains(member.key) else { return member.key == relatedTo ? [] : [member.key] }
            return (member.value.arrayValue ?? []).flatMap { part in
                part.objectValue.map { fields(of: $0, depth: depth + 1) } ?? []
            }
        }
    }

    static let groups: Set<String> = ["$or", "$and", "$nor"]
    static let relatedTo = "$relatedTo"

    /// What a filter without subqueries means.
    ///
    /// - Throws: ``ParseError``: 102 for `ACL`, for a group that is no array and for a malformed subquery or too
    ///   large a query, 105 for a name that cannot be a field, 107 for an operator that does not exist or has a
    ///   malformed value, 111 for a malformed typed value, 1 for a place that is none on earth and for an invalid
    ///   regular expression; 108 for a subquery.
    package func meaning(of filter: JSONObject) throws(ParseError) -> Meaning {
        try meaning(of: filter, Progress(subqueries: nil))
    }

    /// As ``meaning(of:)``, where only the predicate matters.
    package func predicate(_ filter: JSONObject) throws(ParseError) -> Predicate {
        try meaning(of: filter).predicate
    }

    /// What a filter means, with the subqueries in it asked of `resolver`, each once.
    ///
    /// - Throws: ``ParseError`` as ``meaning(of:)``, and what the resolver throws.
    package func meaning(
        of filter: JSONObject,
        subqueries resolver: any SubqueryResolver
    ) async throws -> Meaning {
        let requests = try subqueryRequests(in: filter)
        var subqueries: [SubqueryRequest: Subquery] = [:]
        for request in requests where subqueries[request] == nil {
            subqueries[request] = try await resolver.subquery(for: request)
        }
        return try meaning(of: filter, Progress(subqueries: subqueries))
    }

    private func meaning(of filter: JSONObject, _ progress: Progress) throws(ParseError) -> Meaning {
        try FieldInput.refuseNUL(in: .object(filter))
        var progress = progress
        let predicate = try predicate(filter, depth: 0, &progress)
        return Meaning(
            predicate: predicate,
            nearest: progress.nearest,
            conditions: progress.conditions
        )
    }

    private func predicate(
        _ filter: JSONObject,
        depth: Int,
        _ progress: inout Progress
    ) throws(ParseError) -> Predicate {
        guard depth <= Self.depthLimit else {
            throw ParseError(.invalidQuery, "The query is nested more than \(Self.depthLimit) levels deep.")
        }
        var parts: [Predicate] = []
        for member in filter {
            try progress.count(1)
            switch member.key {
            case "$or": parts.append(.any(try group(member, depth, &progress)))
            case "$and":
                let group = try group(member, depth, &progress)
                parts.append(group.isEmpty ? .any([]) : .all(group))
            case "$nor":
                let group = try group(member, depth, &progress)
                guard !group.isEmpty else { throw Self.emptyNor }
                parts.append(.none(group))
            case Self.relatedTo: parts.append(try related(member.value))
            default: parts += try constraints(member, isForAllRows: depth == 0, &progress)
            }
        }
        return parts.count == 1 ? parts[0] : (parts.isEmpty ? .everything : .all(parts))
    }

    private static let emptyNor = ParseError(
        .invalidQuery,
        "Bad $nor format - use an array of at least 1 value."
    )

    private func group(
        _ member: JSONObject.Member,
        _ depth: Int,
        _ progress: inout Progress
    ) throws(ParseError) -> [Predicate] {
        guard let elements = member.value.arrayValue else { throw noArray(member.key) }
        var parts: [Predicate] = []
        for element in elements {
            guard let filter = element.objectValue else {
                throw ParseError(.invalidQuery, "\(member.key) must be an array of objects")
            }
            parts.append(try predicate(filter, depth: depth + 1, &progress))
        }
        return parts
    }

    private func noArray(_ group: String) -> ParseError {
        guard isMaster else { return ParseError(.invalidQuery, "\(group) must be an array") }
        if group == "$nor" { return Self.emptyNor }
        return ParseError(.invalidQuery, "Bad \(group) format - use an array value.")
    }

    private func related(_ json: JSONValue) throws(ParseError) -> Predicate {
        guard let object = json["object"]?.objectValue, let field = json["key"]?.stringValue,
            FieldName.isValid(field), case .pointer(let owner, let id) = FieldValue(stored: .object(object))
        else { throw ParseError(.invalidQuery, "improper usage of $relatedTo") }
        return .related(ownerClass: owner, ownerID: id, field: field)
    }
}

extension WhereDecoder.Progress {
    /// Counts so many conditions more.
    mutating func count(_ conditions: Int) throws(ParseError) {
        self.conditions += conditions
        guard self.conditions <= WhereDecoder.conditionLimit else {
            throw .tooManyConditions
        }
    }
}

extension FieldInput {
    /// PostgreSQL holds no text with NUL in it, so that none can be equal to one either.
    static func refuseNUL(in json: JSONValue) throws(ParseError) {
        switch json {
        case .string(let text):
            if text.utf8.contains(0) {
                throw ParseError(.invalidJSON, "Text cannot contain the character NUL.")
            }
        case .array(let elements):
            for element in elements { try refuseNUL(in: element) }
        case .object(let object):
            for member in object { try refuseNUL(in: member.value) }
        default: break
        }
    }
}
