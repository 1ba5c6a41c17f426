package import JSON
import ParseWire

/// What of an object is wanted: its fields, and the objects behind its pointers, level by level (Parse REST guide,
/// "Queries", `keys`, `excludeKeys` and `include`).
package struct Selection: Sendable, Hashable {
    /// The fields of this level.
    package var projection: Projection
    /// The fields whose objects are put in, and what is wanted of those.
    package private(set) var includes: [String: Selection]
    /// Whether all pointers of this level are followed.
    package private(set) var includesAll: Bool
    /// Whether the score of a text search is answered, as `score`.
    package private(set) var wantsScore = false

    /// How far pointers are followed.
    private static let depthLimit = 16
    private static let includeLimit = 200
    private static let keyLimit = 5000

    package init() {
        projection = Projection()
        includes = [:]
        includesAll = false
    }

    /// Reads the parameters of a request.
    ///
    /// - Throws: ``ParseError`` 102 for a path that is too long, and for too many of them.
    package init(_ parameters: JSONObject) throws(ParseError) {
        self.init()
        let included = Self.paths(parameters["include"]) ?? []
        var keys = Self.paths(parameters["keys"])
        wantsScore = keys?.contains([SortKey.score]) ?? false
        keys?.removeAll { $0 == [SortKey.score] }
        let excluded = Self.paths(parameters["excludeKeys"]) ?? []
        guard included.count <= Self.includeLimit else {
            throw ParseError(.invalidQuery, "include names more than \(Self.includeLimit) paths.")
        }
        guard excluded.count + (keys?.count ?? 0) <= Self.keyLimit else {
            throw ParseError(.invalidQuery, "keys and excludeKeys name more than \(Self.keyLimit) fields.")
        }
        for path in included + (keys ?? []) + excluded where path.count > Self.depthLimit {
            throw ParseError(
                .invalidQuery,
                "A path of a query has at most \(Self.depthLimit) parts."
            )
        }
        includesAll = parameters["includeAll"]?.isTruthy == true || included.contains(["*"])
        for path in included where path != ["*"] { include(path[...]) }
        if let keys {
            projection.keys = []
            for path in keys { keep(path[...]) }
        }
        for path in excluded { exclude(path[...]) }
    }

    var isPlain: Bool {
        includes.isEmpty && !includesAll
    }

    private mutating func include(_ path: ArraySlice<String>) {
        guard let first = path.first else { return }
        includes[first, default: Selection()].include(path.dropFirst())
    }

    private mutating func keep(_ path: ArraySlice<String>) {
        guard let first = path.first else { return }
        if projection.keys == nil { projection.keys = [] }
        projection.keys?.insert(first)
        guard path.count > 1 else { return }
        includes[first, default: Selection()].keep(path.dropFirst())
    }

    private mutating func exclude(_ path: ArraySlice<String>) {
        guard let first = path.first else { return }
        guard path.count > 1 else {
            projection.excluded.insert(first)
            return
        }
        includes[first, default: Selection()].exclude(path.dropFirst())
    }

    private static func paths(_ json: JSONValue?) -> [[String]]? {
        let texts: [String]
        switch json {
        case .string(let text): texts = text.split(separator: ",").map(String.init)
        case .array(let elements): texts = elements.compactMap(\.stringValue)
        default: return nil
        }
        let paths = texts.compactMap { text -> [String]? in
            let parts = text.filter { $0 != " " }.split(separator: ".").map(String.init)
            return parts.isEmpty ? nil : parts
        }
        return paths.isEmpty ? nil : paths
    }
}
