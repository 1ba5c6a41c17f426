package import JSON
package import ParseWire

/// The stages of an aggregate, checked and typed.
package struct AggregatePipeline: Sendable {
    let stages: [AggregateStage]

    private static let stageLimit = 100
    /// Added to the 128 levels that a stored object may have.
    private static let nestingLimit = 24
    /// Parameters that stand beside stages and are none.
    static let parameters: Set<String> = [
        "distinct", "where", "hint", "explain", "comment", "readPreference", "pipeline",
    ]

    /// Reads the stages of a request: `pipeline`, or each stage as a parameter of its own.
    ///
    /// - Throws: ``ParseError`` 102 that names what is wrong; the errors of ``WhereDecoder`` for a `$match`.
    package init(
        _ parameters: JSONObject,
        schema: ClassSchema?,
        now: Timestamp
    ) throws(ParseError) {
        var stages: [AggregateStage] = []
        for stage in try Self.stageObjects(parameters) {
            guard let member = stage.members.first, stage.count == 1 else {
                throw .aggregate(
                    "Pipeline stages should only have one key but found \(stage.keys.joined(separator: ", "))."
                )
            }
            stages.append(try AggregateStage(member.key, member.value, schema: schema, now: now))
        }
        guard stages.count <= Self.stageLimit else {
            throw .aggregate("The aggregate has more than \(Self.stageLimit) stages.")
        }
        // Values are gone through by functions that call themselves, each level on the stack.
        guard stages.reduce(0, { $0 + $1.nesting }) <= Self.nestingLimit else {
            throw .aggregate("The stages of the aggregate nest documents too deep in each other.")
        }
        self.stages = stages
    }

    private static func stageObjects(_ parameters: JSONObject) throws(ParseError) -> [JSONObject] {
        let source: JSONObject
        switch parameters["pipeline"] {
        case .array(let elements):
            var stages: [JSONObject] = []
            for element in elements {
                guard let stage = element.objectValue else {
                    throw .aggregate("A pipeline is an array of objects.")
                }
                stages.append(stage)
            }
            return stages
        case .object(let object): source = object
        case nil, .null: source = parameters
        default: throw .aggregate("A pipeline is an array of objects.")
        }
        return source.filter { !Self.parameters.contains($0.key) }.map { JSONObject([$0]) }
    }

    /// What the stages at the beginning say of the rows, and the stages that are left.
    func split() -> (predicate: Predicate, rest: ArraySlice<AggregateStage>) {
        var predicate = Predicate.everything
        var rest = stages[...]
        while case .match(let match)? = rest.first, match.isForRows {
            predicate = predicate.and(match.predicate)
            rest = rest.dropFirst()
        }
        return (predicate, rest)
    }
}
