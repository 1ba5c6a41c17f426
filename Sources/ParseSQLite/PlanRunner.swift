import ParseCore
import ParseWire
import SQLite

/// Runs the steps of a write plan on the writer's connection, inside its savepoint.
struct PlanRunner {
    let connection: SQLiteConnection
    let schema: StoredSchema
    private let effort = ChangeEffort()

    init(connection: SQLiteConnection, schema: StoredSchema) {
        self.connection = connection
        self.schema = schema
    }

    func run(_ steps: [WriteStep]) throws -> WriteOutcome {
        var outcome = WriteOutcome(updatedRows: [], counts: [])
        for (position, step) in steps.enumerated() {
            let done = try run(step)
            if done.count == 0, step.mustMatch { throw StorageError.noMatch(step: position) }
            outcome.updatedRows.append(done.rows)
            outcome.counts.append(done.count)
        }
        return outcome
    }

    private func run(_ step: WriteStep) throws -> (count: Int, rows: [StoredRow]) {
        switch step {
        case .require(let className, let predicate): return (try exists(className, predicate) ? 1 : 0, [])
        case .requireAccount(let identity, let userID):
            return (try owner(of: identity) == userID ? 1 : 0, [])
        case .insert(let className, let row):
            try RowInsertion(connection: connection, layout: try schema.layout(className)).insert(row)
            return (1, [])
        case .update(let update):
            let layout = try schema.layout(update.className)
            let condition = try matching(update.predicate, update.access, layout)
            return try RowUpdater(
                connection: connection,
                layout: layout,
                update: update,
                condition: condition,
                effort: effort
            ).run()
        case .delete(let deletion): return (try run(deletion), [])
        case .relate(let change): return (try run(change), [])
        case .link(let identity, let userID): return (try link(identity, userID), [])
        case .unlink(let userID, let providers): return (try unlink(userID, providers), [])
        }
    }

    private func exists(_ className: String, _ predicate: Predicate) throws -> Bool {
        let layout = try schema.layout(className)
        let condition = try refusing { () throws(ParseError) in
            try ConditionWriter(schema: schema, layout: layout).condition(predicate)
        }
        return try connection.first(
            "SELECT 1 FROM \(layout.table) WHERE \(condition.text) LIMIT 1",
            condition.parameters
        ) { _ in true } ?? false
    }

    private func matching(
        _ predicate: Predicate,
        _ access: RowAccess,
        _ layout: TableLayout
    ) throws -> SQLCondition {
        try refusing { () throws(ParseError) in
            try ConditionWriter(schema: schema, layout: layout).condition(
                predicate,
                access,
                column: CommonColumn.writers
            )
        }
    }

    private func run(_ deletion: RowDeletion) throws -> Int {
        let layout = try schema.layout(deletion.className)
        let condition = try matching(deletion.predicate, deletion.access, layout)
        guard let limit = deletion.limit else {
            return try connection.run(
                "DELETE FROM \(layout.table) WHERE \(condition.text)",
                condition.parameters
            )
        }
        return try connection.run(
            """
            DELETE FROM \(layout.table) WHERE rowid IN
            (SELECT \(layout.rowNumber) FROM \(layout.table) WHERE \(condition.text) LIMIT ?)
            """,
            condition.parameters + [.integer(Int64(limit))]
        )
    }

    private func run(_ change: RelationChange) throws -> Int {
        guard let relation = try schema.layout(change.className).relation(change.field) else {
            throw StorageError.fieldRemoved(change.field, of: change.className)
        }
        let sql =
            change.isRemoval
            ? "DELETE FROM \(relation.table) WHERE owningId=? AND relatedId=?"
            : "INSERT INTO \(relation.table) VALUES (?,?) ON CONFLICT DO NOTHING"
        return try change.relatedIDs.reduce(0) { total, id in
            total + (try connection.run(sql, [.text(change.ownerID), .text(id)]))
        }
    }

    private func link(_ identity: ProviderIdentity, _ userID: String) throws -> Int {
        let inserted = try connection.run(
            "INSERT INTO \"$accounts\" VALUES (?,?,?) ON CONFLICT DO NOTHING",
            [.text(identity.provider), .text(identity.id), .text(userID)]
        )
        guard inserted == 0 else { return inserted }
        guard try owner(of: identity) == userID else {
            throw StorageError.duplicate(.providerAccount(provider: identity.provider))
        }
        return 0
    }

    private func owner(of identity: ProviderIdentity) throws -> String? {
        try connection.first(
            "SELECT userId FROM \"$accounts\" WHERE provider=? AND id=?",
            [.text(identity.provider), .text(identity.id)]
        ) { $0.text(0) ?? "" }
    }

    private func unlink(_ userID: String, _ providers: [String]?) throws -> Int {
        guard let providers else {
            return try connection.run("DELETE FROM \"$accounts\" WHERE userId=?", [.text(userID)])
        }
        return try providers.reduce(0) { total, provider in
            total
                + (try connection.run(
                    "DELETE FROM \"$accounts\" WHERE userId=? AND provider=?",
                    [.text(userID), .text(provider)]
                ))
        }
    }
}

/// Says what a client did wrong as the port says it.
func refusing<Result>(_ body: () throws(ParseError) -> Result) throws(StorageError) -> Result {
    do {
        return try body()
    } catch {
        throw .refused(error)
    }
}

extension WriteStep {
    /// Whether the plan fails when the step finds nothing.
    fileprivate var mustMatch: Bool {
        switch self {
        case .require, .requireAccount: true
        case .update(let update): update.mustMatch
        case .delete(let deletion): deletion.mustMatch
        case .insert, .relate, .link, .unlink: false
        }
    }
}

extension StorageError {
    /// A field that the plan writes went after it was made.
    static func fieldRemoved(_ field: String, of className: String) -> StorageError {
        .refused(
            ParseError(.schemaOperation, "Field \(field) of class \(className) does not exist any more.")
        )
    }
}
