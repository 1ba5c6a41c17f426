import JSON
import ParseWire

/// The links of a relation as objects of a class `_Join:field:Class`, which the master key may read.
struct FindLinks {
    let className: String
    let options: FindOptions

    /// - Throws: ``ParseError``: 119 for clients, 102 for conditions, which links do not have.
    func run(in context: RequestContext) async throws -> JSONObject {
        try ClassAccess(className, in: context).requireReachable(for: .find)
        guard options.filter.isEmpty, options.order.isEmpty else {
            throw ParseError(.invalidQuery, "The links of a relation cannot be searched or sorted.")
        }
        let parts = className.split(separator: ":").map(String.init)
        let relation = RelationField(className: parts[2], field: parts[1])
        let app = context.app
        guard case .relation = app.storage.schema[relation.className]?.type(of: relation.field) else {
            return ["results": []]
        }
        let (wanted, _) = options.skip.addingReportingOverflow(min(options.limit, Self.limit))
        let links = try await app.reading { () throws(StorageError) in
            try await app.storage.links(of: relation, after: nil, limit: min(wanted, Self.limit))
        }
        let results = links.dropFirst(options.skip).map { link -> JSONValue in
            ["owningId": .string(link.ownerID), "relatedId": .string(link.relatedID)]
        }
        return ["results": .array(results)]
    }

    /// How far into the links a reader gets.
    private static let limit = 100_000
}
