import JSON
import ParseWire

/// A `$group`: what documents are grouped by, and what is collected of each group.
struct AggregateGroup: Sendable {
    let id: AggregateExpression
    let fields: [Field]

    struct Field: Sendable {
        let name: String
        let start: AggregateAccumulator
        let expression: AggregateExpression
    }

    init(_ json: JSONValue) throws(ParseError) {
        guard let object = json.objectValue else { throw .aggregate("$group needs an object.") }
        guard object["objectId"] == nil else {
            throw .aggregate("Cannot use 'objectId' in aggregation stage $group.")
        }
        guard let id = object[AggregateDocument.id] else {
            throw .aggregate("Invalid parameter for query: group. Missing key _id")
        }
        guard object.count <= AggregateProjection.fieldLimit else { throw AggregateProjection.tooManyFields }
        self.id = try AggregateExpression(id)
        var fields: [Field] = []
        for member in object where member.key != AggregateDocument.id {
            fields.append(try Self.field(member))
        }
        self.fields = fields
    }

    /// How many levels deeper its documents are than those it takes in, at most.
    var nesting: Int {
        max(id.nesting, fields.map { 1 + $0.expression.nesting }.max() ?? 0)
    }

    private static func field(_ member: JSONObject.Member) throws(ParseError) -> Field {
        guard let path = AggregatePath(member.key), path.parts.count == 1 else {
            throw .aggregate("\(member.key) cannot be the name of a field.")
        }
        guard let operation = member.value.objectValue?.members.first, member.value.objectValue?.count == 1
        else { throw .aggregate("The field \(member.key) of $group needs one accumulator.") }
        if operation.key == "$count" {
            return Field(name: path.parts[0], start: .sum(0), expression: .literal(1))
        }
        guard let start = AggregateAccumulator(operation.key) else {
            throw .unsupportedExpression(operation.key)
        }
        let expression = try AggregateExpression(operation.value)
        return Field(name: path.parts[0], start: start, expression: expression)
    }
}
