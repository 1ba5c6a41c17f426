package import JSON
import ParseWire

/// Turns the JSON of `where` into a ``Predicate`` (Parse REST guide, "Query Constraints").
package struct WhereDecoder: Sendable {
    private let schema: ClassSchema?
    /// How deep `$or`, `$and` and `$nor` may stand in each other; SQLite's parser has a stack of 100 places.
    private static let depthLimit = 16
    /// How many conditions one query may have.
    private static let conditionLimit = 2000

    package init(schema: ClassSchema?) {
        self.schema = schema
    }

    /// All paths that a filter names.
    package static func fields(of filter: JSONObject) -> [String] {
        fields(of: filter, depth: 0)
    }

    private static func fields(of filter: JSONObject, depth: Int) -> [String] {
        guard depth <= depthLimit else { return [] }
        return filter.flatMap { member -> [String] in
            guard ["$or", "$and", "$nor"].contains(member.key) else { return [member.key] }
            return (member.value.arrayValue ?? []).flatMap { part in
                part.objectValue.map { fields(of: $0, depth: depth + 1) } ?? []
            }
        }
    }

    /// - Throws: ``ParseError``: 102 for `ACL` and for a group that is no array, 105 for a name that cannot be
    ///   a field, 107 for an operator that does not exist or has a malformed value, 108 for one that does and
    ///   is not there yet.
    package func predicate(_ filter: JSONObject) throws(ParseError) -> Predicate {
        var conditions = 0
        return try predicate(filter, depth: 0, &conditions)
    }

    private func predicate(
        _ filter: JSONObject,
        depth: Int,
        _ conditions: inout Int
    ) throws(ParseError) -> Predicate {
        guard depth <= Self.depthLimit else {
            throw ParseError(.invalidQuery, "The query is nested more than \(Self.depthLimit) levels deep.")
        }
        var parts: [Predicate] = []
        for member in filter {
            conditions += 1
            guard conditions <= Self.conditionLimit else { throw Self.tooManyConditions }
            switch member.key {
            case "$or": parts.append(.any(try group(member, depth, &conditions)))
            case "$and":
                let group = try group(member, depth, &conditions)
                parts.append(group.isEmpty ? .any([]) : .all(group))
            case "$nor":
                let group = try group(member, depth, &conditions)
                guard !group.isEmpty else {
                    throw ParseError(
                        .invalidQuery,
                        "Bad $nor format - use an array of at least 1 value."
                    )
                }
                parts.append(.none(group))
            default: parts += try constraints(member, &conditions)
            }
        }
        return parts.count == 1 ? parts[0] : (parts.isEmpty ? .everything : .all(parts))
    }

    private func group(
        _ member: JSONObject.Member,
        _ depth: Int,
        _ conditions: inout Int
    ) throws(ParseError) -> [Predicate] {
        guard let elements = member.value.arrayValue else {
            throw ParseError(.invalidQuery, "\(member.key) must be an array")
        }
        var parts: [Predicate] = []
        for element in elements {
            guard let filter = element.objectValue else {
                throw ParseError(.invalidQuery, "\(member.key) must be an array of objects")
            }
            parts.append(try predicate(filter, depth: depth + 1, &conditions))
        }
        return parts
    }

    private func constraints(
        _ member: JSONObject.Member,
        _ conditions: inout Int
    ) throws(ParseError) -> [Predicate] {
        let field = member.key
        guard field != "ACL" else { throw ParseError(.invalidQuery, "Cannot query on ACL.") }
        guard FieldName.isValidPath(field) else { throw .invalidKeyName(field) }
        guard !field.utf8.contains(UInt8(ascii: ".")) else {
            throw ParseError(.commandUnavailable, "Queries on a part of a field are not supported yet.")
        }
        guard let object = member.value.objectValue, object.keys.contains(where: { $0.hasPrefix("$") }) else {
            let equality = Predicate.equal(field, try literal(field, member.value))
            conditions += cost(of: equality)
            guard conditions <= Self.conditionLimit else { throw Self.tooManyConditions }
            return [equality]
        }
        var parts: [Predicate] = []
        var plain = JSONObject()
        for constraint in object {
            if constraint.key.hasPrefix("$") {
                let part = try self.constraint(field, constraint)
                conditions += cost(of: part)
                guard conditions <= Self.conditionLimit else { throw Self.tooManyConditions }
                parts.append(part)
            } else {
                plain.append(constraint.key, constraint.value)
            }
        }
        if !plain.isEmpty { parts.append(.equal(field, try literal(field, .object(plain)))) }
        return parts
    }

    private func constraint(
        _ field: String,
        _ constraint: JSONObject.Member
    ) throws(ParseError) -> Predicate {
        let value = constraint.value
        switch constraint.key {
        case "$eq": return .equal(field, try literal(field, value))
        case "$ne": return .notEqual(field, try literal(field, value))
        case "$in": return .among(field, try list(field, value, "$in"))
        case "$nin": return .notAmong(field, try list(field, value, "$nin"))
        case "$lt": return .compare(field, .less, try literal(field, value))
        case "$lte": return .compare(field, .lessOrEqual, try literal(field, value))
        case "$gt": return .compare(field, .greater, try literal(field, value))
        case "$gte": return .compare(field, .greaterOrEqual, try literal(field, value))
        case "$exists":
            guard let flag = value.boolValue else { throw ParseError(.invalidJSON, "bad $exists value") }
            return .exists(field, flag)
        case "$regex", "$options", "$text", "$all", "$containedBy", "$nearSphere", "$maxDistance",
            "$maxDistanceInMiles", "$maxDistanceInKilometers", "$maxDistanceInRadians", "$within",
            "$geoWithin",
            "$geoIntersects", "$inQuery", "$notInQuery", "$select", "$dontSelect", "$relatedTo":
            throw ParseError(.commandUnavailable, "The \(constraint.key) operator is not supported yet.")
        default: throw ParseError(.invalidJSON, "bad constraint: \(constraint.key)")
        }
    }

    private static var tooManyConditions: ParseError {
        ParseError(.invalidQuery, "The query has more than \(conditionLimit) conditions.")
    }

    /// How many conditions more than one a constraint is to a database.
    ///
    /// A list is one where the database has a list to search, else each of its values is one. A look through an array
    /// counts as many, since the array may be long.
    private func cost(of part: Predicate) -> Int {
        switch part.positive {
        case .among(let field, let values):
            switch schema?.type(of: field) {
            case nil, .string, .number, .date, .pointer: return 0
            case .array: return Self.arrayCost * (2 + values.filter { !$0.isPlain }.count)
            default: return values.count
            }
        case .equal(let field, _), .notEqual(let field, _), .compare(let field, _, _):
            return schema?.type(of: field) == .array ? Self.arrayCost : 0
        default: return 0
        }
    }

    private static let arrayCost = 40

    /// The values of a list; a list inside it stands for its own values.
    private func list(_ field: String, _ json: JSONValue, _ name: String) throws(ParseError) -> [FieldValue] {
        guard let elements = json.arrayValue else { throw ParseError(.invalidJSON, "bad \(name) value") }
        var values: [FieldValue] = []
        for element in elements {
            for value in element.arrayValue ?? [element] { values.append(try literal(field, value)) }
        }
        return values
    }

    /// A value to compare with; text stands for an instant where the field is a date, and for the id of an
    /// object where it is a pointer.
    private func literal(_ field: String, _ json: JSONValue) throws(ParseError) -> FieldValue {
        guard case .set(let value) = try FieldInput(json).change else {
            throw ParseError(.invalidJSON, "bad value for \(field)")
        }
        guard case .string(let text) = value else { return value }
        switch schema?.type(of: field) {
        case .date: return Timestamp(iso8601: text).map(FieldValue.date) ?? value
        case .pointer(let target): return .pointer(className: target, objectID: text)
        default: return value
        }
    }
}

extension FieldValue {
    /// Whether it is searched together with others of its kind.
    fileprivate var isPlain: Bool {
        switch self {
        case .string, .number: true
        default: false
        }
    }
}

extension Predicate {
    /// A negated list as the list itself.
    fileprivate var positive: Predicate {
        if case .notAmong(let field, let values) = self { .among(field, values) } else { self }
    }
}
