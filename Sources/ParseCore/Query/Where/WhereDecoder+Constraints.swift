import JSON
import ParseWire

extension WhereDecoder {
    /// The conditions that a filter puts on one field.
    func constraints(
        _ member: JSONObject.Member,
        isForAllRows: Bool,
        _ progress: inout Progress
    ) throws(ParseError) -> [Predicate] {
        let field = member.key
        guard field != "ACL" else { throw ParseError(.invalidQuery, "Cannot query on ACL.") }
        guard FieldName.isValidPath(field) else { throw .invalidKeyName(field) }
        let found: [Predicate]
        if let object = member.value.objectValue, object.keys.contains(where: { $0.hasPrefix("$") }) {
            found = try operators(field, object, isForAllRows: isForAllRows, &progress)
        } else {
            found = [.equal(field, try plainLiteral(field, member.value))]
        }
        for part in found { try progress.count(cost(of: part)) }
        guard case .relation = schema?.type(of: field) else { return found }
        return found.map(\.onRelation)
    }

    private func operators(
        _ field: String,
        _ object: JSONObject,
        isForAllRows: Bool,
        _ progress: inout Progress
    ) throws(ParseError) -> [Predicate] {
        var parts: [Predicate] = []
        // What `$in` lists and what subqueries find are one list.
        var memberships: [Predicate] = []
        var plain = JSONObject()
        for (index, member) in object.enumerated() {
            if index > 0 { try progress.count(1) }
            switch member.key {
            case "$in", "$inQuery", "$select":
                memberships.append(try membership(field, member, progress))
            case "$notInQuery", "$dontSelect":
                parts.append(.none([try membership(field, member, progress)]))
            case "$nearSphere":
                let (predicate, nearest) = try near(field, object)
                parts.append(predicate)
                if isForAllRows, progress.nearest == nil { progress.nearest = nearest }
            case let name where !name.hasPrefix("$"): plain.append(name, member.value)
            default: if let part = try constraint(field, member, in: object) { parts.append(part) }
            }
        }
        if !memberships.isEmpty {
            parts.append(memberships.count == 1 ? memberships[0] : .any(memberships))
        }
        if !plain.isEmpty { parts.append(.equal(field, try literal(field, .object(plain)))) }
        return parts
    }

    /// The condition of one operator; `nil` for one that only adds to another.
    private func constraint(
        _ field: String,
        _ member: JSONObject.Member,
        in object: JSONObject
    ) throws(ParseError) -> Predicate? {
        let value = member.value
        switch member.key {
        case "$eq", "$ne", "$lt", "$lte", "$gt", "$gte", "$exists":
            if let relative = try relativeTime(field, member.key, value) { return relative }
            return try comparison(field, member.key, value)
        case "$nin": return .notAmong(field, try list(field, value, "$nin"))
        case "$all": return try all(field, value)
        case "$containedBy":
            guard let elements = value.arrayValue else {
                throw ParseError(.invalidJSON, "bad $containedBy: should be an array")
            }
            return .containedBy(field, try literals(field, elements))
        case "$regex": return .matches(field, try pattern(object))
        case "$options":
            guard object["$regex"] == nil else { return nil }
            throw ParseError(.invalidQuery, "$options needs a $regex")
        case "$text": return .search(field, try textSearch(value))
        case "$maxDistance", "$maxDistanceInMiles", "$maxDistanceInKilometers", "$maxDistanceInRadians":
            guard object["$nearSphere"] == nil else { return nil }
            throw ParseError(.invalidJSON, "\(member.key) needs a $nearSphere")
        case "$within": return .inside(field, try box(value))
        case "$geoWithin": return try geoWithin(field, value)
        case "$geoIntersects": return .covers(field, try intersection(value))
        default: throw ParseError(.invalidJSON, "bad constraint: \(member.key)")
        }
    }

    private func comparison(_ field: String, _ name: String, _ value: JSONValue) throws(ParseError)
        -> Predicate
    {
        switch name {
        case "$eq": return .equal(field, try literal(field, value))
        case "$ne": return .notEqual(field, try literal(field, value))
        case "$lt": return .compare(field, .less, try bound(field, value))
        case "$lte": return .compare(field, .lessOrEqual, try bound(field, value))
        case "$gt": return .compare(field, .greater, try bound(field, value))
        case "$gte": return .compare(field, .greaterOrEqual, try bound(field, value))
        default:
            guard let flag = value.boolValue else { throw ParseError(.invalidJSON, "bad $exists value") }
            return .exists(field, flag)
        }
    }

    private func all(_ field: String, _ value: JSONValue) throws(ParseError) -> Predicate {
        guard let elements = value.arrayValue else { throw ParseError(.invalidJSON, "bad $all value") }
        guard !elements.isEmpty else { return .any([]) }
        let patterns = elements.filter { $0["$regex"] != nil }
        guard !patterns.isEmpty else {
            return .all(try literals(field, elements).map { .equal(field, $0) })
        }
        guard patterns.count == elements.count else {
            throw ParseError(
                .invalidJSON,
                "All $all values must be of regex type or none: \(JSONValue.array(elements).javaScriptText)"
            )
        }
        var parts: [Predicate] = []
        for element in elements { parts.append(.matches(field, try pattern(element.objectValue ?? [:]))) }
        return .all(parts)
    }

    /// How many conditions more than one a constraint is to a database.
    ///
    /// A list is one where the database has a list to search, else each of its values is one. A look through an
    /// array counts as many, since the array may be long, and a regular expression too.
    private func cost(of part: Predicate) -> Int {
        switch part {
        case .among(let field, let values), .notAmong(let field, let values),
            .containedBy(let field, let values):
            switch schema?.type(of: field) {
            case nil, .string, .number, .date, .pointer: return 0
            case .array: return Self.arrayCost * (2 + values.filter { !$0.isPlain }.count)
            default: return values.count
            }
        case .equal(let field, _), .notEqual(let field, _), .compare(let field, _, _):
            return schema?.type(of: field) == .array ? Self.arrayCost : 0
        case .matches, .search: return Self.patternCost
        case .all(let parts), .any(let parts), .none(let parts):
            return parts.reduce(0) { $0 + 1 + cost(of: $1) }
        default: return 0
        }
    }

    private static let arrayCost = 40
    private static let patternCost = 50
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
    /// The condition on a relation: what does not compare with pointers matches nothing.
    fileprivate var onRelation: Predicate {
        switch self {
        case .equal(_, .pointer), .notEqual(_, .pointer), .among, .notAmong, .amongObjects: self
        case .any(let parts): .any(parts.map(\.onRelation))
        case .none(let parts) where parts.allSatisfy(\.isAmongObjects): self
        default: .any([])
        }
    }

    private var isAmongObjects: Bool {
        if case .amongObjects = self { true } else { false }
    }
}
