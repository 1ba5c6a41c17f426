import JSON
import ParseWire

/// The operations on a relation field: `AddRelation`, `RemoveRelation`, and `Batch` of these (Parse REST guide,
/// "Relations").
enum RelationInput {
    /// - Throws: ``ParseError``: 107 where the objects are missing, 111 where one of them is no pointer or leads to
    ///   another class than the first, 108 for a batch of other operations.
    static func read(
        _ name: String,
        _ object: JSONObject
    ) throws(ParseError) -> (FieldType?, FieldChange) {
        guard name == "Batch" else {
            let part = try single(name, object)
            return (part.target.map(FieldType.relation), .relate([part.operation]))
        }
        guard let entries = object["ops"]?.arrayValue else {
            throw ParseError(.invalidJSON, "ops of a Batch must be an array")
        }
        var target: String?
        var operations: [RelationOperation] = []
        for entry in entries {
            guard let inner = entry.objectValue, let name = inner["__op"]?.stringValue,
                name == "AddRelation" || name == "RemoveRelation"
            else {
                throw ParseError(.commandUnavailable, "A Batch holds only AddRelation and RemoveRelation.")
            }
            let part = try single(name, inner)
            if let own = part.target {
                guard target == nil || target == own else { throw mismatch(target ?? own, own) }
                target = own
            }
            operations.append(part.operation)
        }
        return (target.map(FieldType.relation), .relate(operations))
    }

    private static func single(
        _ name: String,
        _ object: JSONObject
    ) throws(ParseError) -> (target: String?, operation: RelationOperation) {
        guard let objects = object["objects"]?.arrayValue else {
            let verb = name == "AddRelation" ? "add" : "remove"
            throw ParseError(.invalidJSON, "objects to \(verb) must be an array")
        }
        var target: String?
        var ids: [String] = []
        for entry in objects {
            guard case .set(.pointer(let className, let id)) = try FieldInput(entry).change else {
                throw ParseError(.incorrectType, "The objects of a relation must be pointers.")
            }
            guard target == nil || target == className else { throw mismatch(target ?? className, className) }
            target = className
            ids.append(id)
        }
        return (target, RelationOperation(objectIDs: ids, isRemoval: name == "RemoveRelation"))
    }

    private static func mismatch(_ one: String, _ other: String) -> ParseError {
        ParseError(
            .incorrectType,
            "The objects of a relation must be of one class, not of \(one) and \(other)."
        )
    }
}
