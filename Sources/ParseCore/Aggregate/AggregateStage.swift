import JSON
import ParseWire

/// One stage of a pipeline (MongoDB manual, "Aggregation Stages").
enum AggregateStage: Sendable {
    case match(AggregateMatch)
    case group(AggregateGroup)
    case project(AggregateProjection)
    case addFields(AggregateProjection)
    case sort([Key])
    case limit(Int)
    case skip(Int)
    case unwind(Unwind)
    case count(String)
    case lookUp(LookUp)

    struct Key: Sendable {
        let path: AggregatePath
        let isDescending: Bool
    }

    struct Unwind: Sendable {
        let path: AggregatePath
        let indexName: AggregatePath?
        let keepsEmpty: Bool
    }

    struct LookUp: Sendable {
        let className: String
        let localField: AggregatePath
        let name: AggregatePath
    }

    /// Reads a stage.
    ///
    /// - Throws: ``ParseError`` 102 that names the stage and what is wrong with it.
    init(_ name: String, _ json: JSONValue, schema: ClassSchema?, now: Timestamp) throws(ParseError) {
        guard name.hasPrefix("$") else { throw .aggregate("Invalid aggregate stage '\(name)'.") }
        switch name {
        case "$match": self = .match(try AggregateMatch(json, schema: schema, now: now))
        case "$group": self = .group(try AggregateGroup(json))
        case "$project": self = .project(try AggregateProjection(project: json))
        case "$addFields": self = .addFields(try AggregateProjection(addFields: json))
        case "$sort": self = .sort(try Self.keys(json))
        case "$limit": self = .limit(try Self.number(json, name, from: 1))
        case "$skip": self = .skip(try Self.number(json, name, from: 0))
        case "$unwind": self = .unwind(try Self.unwind(json))
        case "$count":
            guard let text = json.stringValue, let path = AggregatePath(text), path.parts.count == 1 else {
                throw .aggregate("$count needs the name of a field.")
            }
            self = .count(path.parts[0])
        case "$lookup": self = .lookUp(try Self.lookUp(json))
        default: throw .unsupportedStage(name)
        }
    }

    /// How many levels deeper the documents that come out are than those that go in, at most.
    var nesting: Int {
        switch self {
        case .group(let group): group.nesting
        case .project(let projection), .addFields(let projection): projection.nesting
        case .lookUp(let lookUp): lookUp.name.parts.count + 1
        case .unwind(let unwind): unwind.indexName?.parts.count ?? 0
        case .match, .sort, .limit, .skip, .count: 0
        }
    }

    private static func keys(_ json: JSONValue) throws(ParseError) -> [Key] {
        guard let object = json.objectValue, (1...32).contains(object.count) else {
            throw .aggregate("$sort needs an object with one to 32 fields.")
        }
        var keys: [Key] = []
        for member in object {
            guard let path = AggregatePath(member.key), let direction = member.value.numberValue,
                direction.magnitude == 1
            else {
                throw .aggregate(
                    "$sort needs 1 or -1 for each field; it has another value for \(member.key)."
                )
            }
            keys.append(Key(path: path, isDescending: direction < 0))
        }
        return keys
    }

    private static func number(_ json: JSONValue, _ name: String, from least: Int) throws(ParseError) -> Int {
        guard let number = json.numberValue.flatMap(Int.init(exactly:)), number >= least else {
            throw .aggregate("\(name) needs a whole number from \(least) on.")
        }
        return number
    }

    private static func unwind(_ json: JSONValue) throws(ParseError) -> Unwind {
        let object = json.objectValue ?? ["path": json]
        try checkKeys(object, ["path", "includeArrayIndex", "preserveNullAndEmptyArrays"], "$unwind")
        guard let text = object["path"]?.stringValue, text.hasPrefix("$"),
            let path = AggregatePath(String(text.dropFirst()))
        else { throw .aggregate("$unwind needs a path that starts with $.") }
        var indexName: AggregatePath?
        if let json = object["includeArrayIndex"] {
            guard let name = json.stringValue.flatMap({ AggregatePath($0) }) else {
                throw .aggregate("includeArrayIndex of $unwind needs the name of a field.")
            }
            indexName = name
        }
        let keepsEmpty = object["preserveNullAndEmptyArrays"]?.boolValue ?? false
        return Unwind(path: path, indexName: indexName, keepsEmpty: keepsEmpty)
    }

    private static func lookUp(_ json: JSONValue) throws(ParseError) -> LookUp {
        guard let object = json.objectValue else { throw .aggregate("$lookup needs an object.") }
        try checkKeys(object, ["from", "localField", "foreignField", "as"], "$lookup")
        guard let className = object["from"]?.stringValue,
            let localField = object["localField"]?.stringValue.flatMap({ AggregatePath($0) }),
            let name = object["as"]?.stringValue.flatMap({ AggregatePath($0) })
        else { throw .aggregate("$lookup needs from, localField, foreignField and as.") }
        guard let foreign = object["foreignField"]?.stringValue, ["_id", "objectId"].contains(foreign) else {
            throw .aggregate("foreignField of $lookup must be _id: other joins are not supported.")
        }
        return LookUp(className: className, localField: localField, name: name)
    }

    private static func checkKeys(_ object: JSONObject, _ known: [String], _ stage: String) throws(ParseError)
    {
        for key in object.keys where !known.contains(key) {
            throw .aggregate("The parameter \(key) of the aggregate stage \(stage) is not supported.")
        }
    }
}
