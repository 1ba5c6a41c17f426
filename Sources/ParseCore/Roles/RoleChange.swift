/// Whose roles a change of a role touches.
enum RoleChange {
    /// More users than this at once, and everybody's are looked up again.
    private static let userLimit = 100

    static func notify(ofCreating fields: ObjectBody, in className: String, to transaction: inout Transaction)
    {
        guard className == SystemClasses.role else { return }
        notify(fields.relations, to: &transaction)
    }

    static func notify(ofUpdating fields: ObjectBody, in className: String, to transaction: inout Transaction)
    {
        guard className == SystemClasses.role else { return }
        guard !fields.changes.contains(where: { $0.field == "name" }) else {
            return transaction.notify(.roles)
        }
        notify(fields.relations, to: &transaction)
    }

    /// Users that come or go concern themselves alone; roles that do concern whoever has them.
    private static func notify(
        _ relations: [(field: String, operations: [RelationOperation])],
        to transaction: inout Transaction
    ) {
        let ids = relations.filter { $0.field == "users" }.flatMap { $0.operations.flatMap(\.objectIDs) }
        guard !relations.contains(where: { $0.field == "roles" }), ids.count <= userLimit else {
            return transaction.notify(.roles)
        }
        for id in ids { transaction.notify(.user(id)) }
    }
}
