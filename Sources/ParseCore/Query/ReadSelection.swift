package import JSON
import ParseWire

/// The parameters `keys`, `excludeKeys`, `include` and `includeAll` of a read: which pointers it follows, and which
/// fields of the objects on the way it answers.
///
/// Fields that stand in every answer are not its business, see ``ObjectView``.
package struct ReadSelection: Sendable, Hashable {
    /// The paths of pointers to follow, each once, a path before those that lead on from it.
    ///
    /// `a.b.c` brings `a` and `a.b` with it. A key of `keys` or `excludeKeys` that is a path brings the pointers on
    /// its way. Names may be those of no field, or of one that is no pointer: then there is nothing to follow.
    package let includes: [[String]]
    /// Whether all pointers, and arrays of pointers, of the first level are followed too.
    package let includesAll: Bool
    /// Whether the score of a text search is answered, as `score`.
    package let wantsScore: Bool
    private let keys: [[String]]?
    private let excluded: [[String]]

    private static let includeLimit = 500
    private static let keyLimit = 5000

    /// Reads the parameters.
    ///
    /// - Throws: ``ParseError`` 102 for more names than anybody can mean.
    package init(_ parameters: JSONObject) throws(ParseError) {
        let named = Self.names(parameters["keys"])
        let paths = named?.filter { $0 != SortKey.score }.map(Self.path)
        let excluded = (Self.names(parameters["excludeKeys"]) ?? []).map(Self.path)
        let included = Self.names(parameters["include"]) ?? []
        guard (paths?.count ?? 0) + excluded.count <= Self.keyLimit else {
            throw ParseError(.invalidQuery, "keys and excludeKeys name more than \(Self.keyLimit) fields.")
        }
        keys = paths
        self.excluded = excluded
        wantsScore = named?.contains(SortKey.score) ?? false
        includesAll = parameters["includeAll"]?.isTruthy == true || included.contains("*")
        let onTheWay = ((paths ?? []) + excluded).map { Array($0.dropLast()) }
        let wanted = onTheWay + included.filter { $0 != "*" }.map(Self.path)
        includes = Self.withParents(wanted)
        guard includes.count <= Self.includeLimit else {
            throw ParseError(.invalidQuery, "include names more than \(Self.includeLimit) paths.")
        }
    }

    /// Which fields are answered of the objects at the end of a path of pointers; of the results themselves for the
    /// empty path.
    package func projection(at path: [String]) -> Projection {
        let nextKeys = keys.map { keys in Set(keys.compactMap { Self.next($0, after: path) }) }
        let excludedHere = excluded.filter { $0.count == path.count + 1 }.compactMap {
            Self.next($0, after: path)
        }
        // A pointer that is included without keys of its own is answered whole.
        let isRestricted = path.isEmpty || nextKeys?.isEmpty == false
        return Projection(keys: isRestricted ? nextKeys : nil, excluded: Set(excludedHere))
    }

    /// The name that a path has next, when it begins so.
    private static func next(_ key: [String], after path: [String]) -> String? {
        key.count > path.count && key.starts(with: path) ? key[path.count] : nil
    }

    private static func withParents(_ paths: [[String]]) -> [[String]] {
        var seen: Set<[String]> = []
        var all: [[String]] = []
        for path in paths {
            for length in 1...max(1, path.count) where length <= path.count {
                let part = Array(path.prefix(length))
                if seen.insert(part).inserted { all.append(part) }
            }
        }
        return all
    }

    private static func path(_ name: String) -> [String] {
        name.split(separator: ".").map(String.init)
    }

    /// The names of a list; `nil` for none at all.
    private static func names(_ json: JSONValue?) -> [String]? {
        let parts: [String]
        switch json {
        case .string(let text): parts = text.split(separator: ",").map(String.init)
        case .array(let elements): parts = elements.compactMap(\.stringValue)
        default: return nil
        }
        let names = parts.map { String($0.drop { $0 == " " }.prefix { $0 != " " }) }.filter { !$0.isEmpty }
        return names.isEmpty ? nil : names
    }
}

/// The parameters of reading one object by its id.
package enum GetOptions {
    private static let known: Set<String> = [
        "keys", "include", "excludeKeys", "readPreference", "includeReadPreference", "subqueryReadPreference",
    ]

    /// Reads the parameters.
    ///
    /// - Throws: ``ParseError`` 102 for any other parameter.
    package static func selection(_ parameters: JSONObject) throws(ParseError) -> ReadSelection {
        for name in parameters.keys where !known.contains(name) {
            throw ParseError(.invalidQuery, "Improper encode of parameter")
        }
        try ReadPreference.check(parameters)
        return try ReadSelection(parameters)
    }

    /// What ``selection(_:)`` says of the object itself.
    package static func projection(_ parameters: JSONObject) throws(ParseError) -> Projection {
        try selection(parameters).projection(at: [])
    }
}
