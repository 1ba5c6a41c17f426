package import JSON
import ParseWire

/// The parameters of a find (Parse REST guide, "Queries").
package struct FindOptions: Sendable {
    package let order: [SortKey]
    package let selection: Selection
    /// All paths that `where` names, at any depth.
    package let whereFields: [String]
    /// The id, when `where` asks for one by equality.
    package let whereID: String?
    package let filter: JSONObject
    package let limit: Int
    package let skip: Int
    package let isCounted: Bool

    private static let known: Set<String> = [
        "where", "order", "limit", "skip", "count", "keys", "excludeKeys", "include", "includeAll",
        "redirectClassNameForKey", "readPreference", "includeReadPreference", "subqueryReadPreference",
        "hint",
        "explain", "comment",
    ]
    private static let defaultLimit = 100
    /// What a client gets at most; more than this is asked for in parts.
    package static let clientLimit = 10_000

    /// Reads the parameters.
    ///
    /// - Throws: ``ParseError``: 102 for a parameter that is unknown or has an unusable value, 107 for a
    ///   `where` that is no JSON object, 105 for a name that cannot be a field.
    package init(_ parameters: JSONObject, by principal: Principal) throws(ParseError) {
        for name in parameters.keys where !Self.known.contains(name) {
            throw ParseError(.invalidQuery, "Invalid parameter for query: \(name)")
        }
        try ReadPreference.check(parameters)
        if parameters["explain"]?.isTruthy == true {
            guard principal.isMaster else {
                throw ParseError(.invalidQuery, "Using the explain query parameter requires the master key")
            }
            throw ParseError(.commandUnavailable, "The explain parameter is not supported yet.")
        }
        if parameters["redirectClassNameForKey"]?.isTruthy == true {
            throw ParseError(
                .commandUnavailable,
                "The redirectClassNameForKey parameter is not supported yet."
            )
        }
        filter = try Self.filter(parameters["where"])
        order = try Self.order(parameters["order"])
        selection = try Selection(parameters)
        let asked = try Self.number(parameters["limit"], "limit") ?? Self.defaultLimit
        limit = principal.isUnrestricted ? asked : min(asked, Self.clientLimit)
        skip = try Self.number(parameters["skip"], "skip") ?? 0
        isCounted = parameters["count"]?.isTruthy == true && parameters["count"] != "0"
        whereFields = WhereDecoder.fields(of: filter)
        whereID = filter["objectId"]?.stringValue
    }

    /// The typed query.
    package func query(
        of className: String,
        _ schema: ClassSchema?,
        access: RowAccess
    ) throws(ParseError) -> RowQuery {
        RowQuery(
            className: className,
            predicate: try WhereDecoder(schema: schema).predicate(filter),
            access: access,
            order: order,
            limit: limit,
            skip: skip
        )
    }

    private static func filter(_ json: JSONValue?) throws(ParseError) -> JSONObject {
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
            guard FieldName.isValidPath(alias) else { throw .invalidFieldName(field) }
            // A second key of the same name sorts nothing; a database takes only so many.
            if seen.insert(alias).inserted { keys.append(SortKey(field: alias, isDescending: isDescending)) }
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

/// The parameters `readPreference` and its like, which name replicas; there is one database here.
enum ReadPreference {
    private static let names = ["readPreference", "includeReadPreference", "subqueryReadPreference"]
    private static let values: Set<String> = [
        "PRIMARY", "PRIMARY_PREFERRED", "SECONDARY", "SECONDARY_PREFERRED", "NEAREST",
    ]

    static func check(_ parameters: JSONObject) throws(ParseError) {
        for name in names {
            guard let value = parameters[name], !value.isNull else { continue }
            guard let text = value.stringValue, values.contains(text.uppercased()) else {
                throw ParseError(.invalidQuery, "Not supported read preference.")
            }
        }
    }
}

/// The parameters of reading one object by its id.
package enum GetOptions {
    private static let known: Set<String> = [
        "keys", "include", "excludeKeys", "readPreference", "includeReadPreference", "subqueryReadPreference",
    ]

    /// - Throws: ``ParseError`` 102 for any other parameter.
    package static func selection(_ parameters: JSONObject) throws(ParseError) -> Selection {
        for name in parameters.keys where !known.contains(name) {
            throw ParseError(.invalidQuery, "Improper encode of parameter")
        }
        try ReadPreference.check(parameters)
        return try Selection(parameters)
    }
}
