package import JSON
package import ParseWire

/// The parameters of a find (Parse REST guide, "Queries").
package struct FindOptions: Sendable {
    package let order: [SortKey]
    package let selection: Selection
    /// All paths that `where` names, at any depth.
    package let whereFields: [String]
    /// The id, when `where` asks for one by equality.
    package let whereID: String?
    /// The whole `where`, when it is ``whereID`` and nothing else: then the find is authorised as a get.
    package let isGet: Bool
    /// The objects that this pointer or relation of the class leads to are searched, not its own.
    package let redirectKey: String?
    /// Whether the answer is how the database would go about it.
    package let isExplained: Bool
    package let isCounted: Bool
    /// Rows are read; false for `limit=0`, where not even the permission to find is needed.
    package var isFound: Bool { limit > 0 || isExplained }
    package let filter: JSONObject
    package let limit: Int
    package let skip: Int
    private let isMaster: Bool

    private static let known: Set<String> = [
        "where", "order", "limit", "skip", "count", "keys", "excludeKeys", "include", "includeAll",
        "redirectClassNameForKey", "readPreference", "includeReadPreference", "subqueryReadPreference",
        "hint", "explain", "comment",
    ]
    /// What a client gets at most where `maxLimit` says nothing; more than this is asked for in parts.
    package static let clientLimit = 10_000
    private static let orderLimit = 64
    private static let plans: Set<String> = [
        "queryPlanner", "queryPlannerExtended", "executionStats", "allPlansExecution",
    ]

    /// Reads the parameters.
    ///
    /// - Parameters:
    ///   - parameters: As the request has them.
    ///   - principal: Who asks.
    ///   - options: `defaultLimit` and `maxLimit` hold for the find.
    /// - Throws: ``ParseError``: 102 for a parameter that is unknown or has an unusable value, 107 for a
    ///   `where` that is no JSON object, 105 for a name that cannot be a field.
    package init(
        _ parameters: JSONObject,
        by principal: Principal,
        options: AppOptions = AppOptions()
    ) throws(ParseError) {
        for name in parameters.keys where !Self.known.contains(name) {
            throw ParseError(.invalidQuery, "Invalid parameter for query: \(name)")
        }
        try ReadPreference.check(parameters)
        isExplained = try Self.isExplained(parameters["explain"], by: principal)
        redirectKey = try Self.redirectKey(parameters["redirectClassNameForKey"])
        filter = try Self.filter(parameters["where"])
        order = try Self.order(parameters["order"])
        selection = try Selection(parameters)
        let asked = try Self.number(parameters["limit"], "limit") ?? options.defaultLimit
        let most = options.maxLimit ?? (principal.isUnrestricted ? Int.max : Self.clientLimit)
        limit = min(asked, most)
        skip = try Self.number(parameters["skip"], "skip") ?? 0
        isCounted = parameters["count"]?.isTruthy == true && parameters["count"] != "0"
        whereFields = WhereDecoder.fields(of: filter)
        whereID = filter["objectId"]?.stringValue
        isGet = whereID != nil && filter.count == 1
        isMaster = principal.isMaster
    }

    /// What is answered of the results themselves.
    package var projection: Projection {
        selection.projection
    }

    /// The typed query, for finds in which neither subqueries nor relative times are allowed.
    ///
    /// - Throws: ``ParseError`` of ``WhereDecoder/meaning(of:)``.
    package func query(
        of className: String,
        _ schema: ClassSchema?,
        access: RowAccess
    ) throws(ParseError) -> RowQuery {
        let decoder = WhereDecoder(schema: schema, isMaster: isMaster)
        return query(of: className, schema, try decoder.meaning(of: filter), access: access)
    }

    /// The typed query.
    ///
    /// - Parameters:
    ///   - className: Whose rows are searched, after a redirection.
    ///   - schema: That class; `nil` when there is none.
    ///   - access: Whose rights the search has.
    ///   - now: What relative times count from.
    ///   - subqueries: Is asked for each subquery of the `where`.
    /// - Returns: The query, with limit, skip and order.
    /// - Throws: ``ParseError`` of ``WhereDecoder/meaning(of:)``, and what `subqueries` throws.
    package func query(
        of className: String,
        _ schema: ClassSchema?,
        access: RowAccess,
        now: Timestamp,
        subqueries: any SubqueryResolver
    ) async throws -> RowQuery {
        let decoder = WhereDecoder(schema: schema, isMaster: isMaster, now: now)
        let meaning = try await decoder.meaning(of: filter, subqueries: subqueries)
        return query(of: className, schema, meaning, access: access)
    }

    private func query(
        of className: String,
        _ schema: ClassSchema?,
        _ meaning: WhereDecoder.Meaning,
        access: RowAccess
    ) -> RowQuery {
        RowQuery(
            className: className,
            predicate: meaning.predicate,
            access: access,
            // A field that the class does not have sorts nothing.
            order: order.filter {
                $0.field == SortKey.score || schema?.type(of: FieldName.root(of: $0.field)) != nil
            },
            nearest: meaning.nearest,
            limit: limit,
            skip: skip
        )
    }

    private static func isExplained(_ json: JSONValue?, by principal: Principal) throws(ParseError) -> Bool {
        guard let json, json.isTruthy else { return false }
        guard principal.isMaster else {
            throw ParseError(.invalidQuery, "Using the explain query parameter requires the master key")
        }
        guard json.boolValue == true || json.stringValue.map(plans.contains) == true else {
            throw ParseError(.invalidQuery, "Invalid value for explain")
        }
        return true
    }

    private static func redirectKey(_ json: JSONValue?) throws(ParseError) -> String? {
        guard let json, json.isTruthy else { return nil }
        guard let name = json.stringValue, FieldName.isValid(name) else {
            throw .invalidFieldName(json.javaScriptText)
        }
        return name
    }

    static func filter(_ json: JSONValue?) throws(ParseError) -> JSONObject {
        switch json {
        case nil, .null, "": return [:]
        case .object(let object): return object
        case .string(let text):
            if let object = (try? JSONValue.parse(text))?.objectValue { return object }
        default: break
        }
        throw ParseError(.invalidJSON, "where parameter is not valid JSON")
    }

    private static func order(_ json: JSONValue?) throws(ParseError) -> [SortKey] {
        guard let text = json?.stringValue, !text.isEmpty else { return [] }
        var keys: [SortKey] = []
        var seen: Set<String> = []
        for part in text.split(separator: ",") {
            let name = part.drop { $0 == " " }
            let isDescending = name.first == "-"
            let field = String((isDescending ? name.dropFirst() : name).prefix { $0 != " " })
            let alias = ["_created_at": "createdAt", "_updated_at": "updatedAt"][field] ?? field
            guard alias == SortKey.score || FieldName.isValidPath(alias) else {
                throw .invalidFieldName(field)
            }
            // A second key of the same name sorts nothing.
            if seen.insert(alias).inserted { keys.append(SortKey(field: alias, isDescending: isDescending)) }
        }
        guard keys.count <= orderLimit else {
            throw ParseError(.invalidQuery, "The order has more than \(orderLimit) fields.")
        }
        return keys
    }

    private static func number(_ json: JSONValue?, _ name: String) throws(ParseError) -> Int? {
        guard let json, !json.isNull else { return nil }
        let number = json.numberValue ?? json.stringValue.flatMap(Double.init)
        guard let number, number >= 0, number.rounded() == number, number <= 9_007_199_254_740_991 else {
            throw ParseError(.invalidQuery, "Invalid value for \(name): a whole number from 0 on is needed.")
        }
        return Int(number)
    }
}
