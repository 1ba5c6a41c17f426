import ParseCore
import ParseWire
import Postgres

/// Runs the steps of a write plan in a transaction, in as few round trips as they need.
///
/// Statements are put off until the answer of one is needed: to change a row by what it holds, or to know before the
/// commit whether a step found something.
struct PlanRunner {
    let transaction: PostgresTransaction
    let schema: StoredSchema
    let searches: SearchResults
    private let effort = ChangeEffort()
    private var pending: [Pending] = []
    private var outcome = WriteOutcome(updatedRows: [], counts: [])

    /// A statement that is not sent yet, and what its answer means.
    private struct Pending {
        let statement: PostgresStatement
        /// Whether the answer can make the plan fail.
        var decides = false
        let read: (PostgresResult, inout WriteOutcome) throws -> Void
    }

    init(transaction: PostgresTransaction, schema: StoredSchema, searches: SearchResults) {
        self.transaction = transaction
        self.schema = schema
        self.searches = searches
    }

    /// Runs the steps and these statements behind them, and commits.
    mutating func run(_ steps: [WriteStep], ending: [PostgresStatement]) async throws -> WriteOutcome {
        outcome.updatedRows = Array(repeating: [], count: steps.count)
        outcome.counts = Array(repeating: 0, count: steps.count)
        for (position, step) in steps.enumerated() { try await add(step, at: position) }
        // What has found nothing has changed nothing: a plan of it alone may be committed before that is known.
        let mayCommit =
            !pending.contains(where: \.decides)
            || (steps.count == 1 && pending.count == 1 && ending.isEmpty && !steps[0].isUpdate)
        if !mayCommit { try await flush() }
        let statements = pending.map(\.statement) + ending
        let results = try await transaction.finish(statements)
        for (entry, result) in zip(pending, results) { try entry.read(result, &outcome) }
        return outcome
    }

    private mutating func flush() async throws {
        guard !pending.isEmpty else { return }
        let results = try await transaction.run(pending.map(\.statement))
        for (entry, result) in zip(pending, results) { try entry.read(result, &outcome) }
        pending = []
    }

    private mutating func add(_ step: WriteStep, at position: Int) async throws {
        switch step {
        case .require(let className, let predicate):
            try addRequirement(className, predicate, position)
        case .requireAccount(let identity, let userID): addRequirement(identity, userID, position)
        case .insert(let className, let row):
            let layout = try schema.layout(className)
            pending.append(
                Pending(statement: try Self.insertion(of: row, into: layout)) { _, outcome in
                    outcome.counts[position] = 1
                }
            )
        case .update(let update): try await add(update, position)
        case .delete(let deletion): try add(deletion, position)
        case .relate(let change): try add(change, position)
        case .link(let identity, let userID): addLink(identity, userID, position)
        case .unlink(let userID, let providers): addUnlink(userID, providers, position)
        }
    }

    // MARK: Requirements

    private mutating func addRequirement(_ className: String, _ predicate: Predicate, _ position: Int) throws
    {
        let layout = try schema.layout(className)
        let writer = FindStatement.writer(schema, layout, searches)
        let condition = try refusing { () throws(ParseError) in try writer.condition(predicate) }
        // The row stays as it is until the commit.
        let sql = "SELECT 1 FROM \(layout.table) AS \(writer.alias) WHERE \(condition) LIMIT 1 FOR SHARE"
        addDecision(PostgresStatement(sql, writer.parameters.values), position) { $0.rowCount }
    }

    private mutating func addRequirement(_ identity: ProviderIdentity, _ userID: String, _ position: Int) {
        let sql = """
            SELECT 1 FROM \(schema.metadata("$accounts")) WHERE provider=$1 AND id=$2 AND user_id=$3 FOR SHARE
            """
        let parameters: [PostgresValue] = [.text(identity.provider), .text(identity.id), .text(userID)]
        addDecision(PostgresStatement(sql, parameters), position) { $0.rowCount }
    }

    private mutating func addDecision(
        _ statement: PostgresStatement,
        _ position: Int,
        mustMatch: Bool = true,
        _ count: @escaping (PostgresResult) -> Int
    ) {
        pending.append(
            Pending(statement: statement, decides: mustMatch) { result, outcome in
                outcome.counts[position] = count(result)
                if mustMatch, outcome.counts[position] == 0 { throw StorageError.noMatch(step: position) }
            }
        )
    }

    // MARK: Rows

    private static func insertion(of row: StoredRow, into layout: TableLayout) throws -> PostgresStatement {
        try ObjectSize.checked(row.fields)
        guard !row.objectID.containsNUL else { throw StorageError.textWithNUL }
        var assignments = Assignments(Parameters())
        assignments.add(CommonColumn.objectID, .text(row.objectID))
        assignments.add(CommonColumn.createdAt, .integer(row.createdAt.milliseconds))
        assignments.add(CommonColumn.updatedAt, .integer(row.updatedAt.milliseconds))
        if let acl = row.acl { assignments.add(acl) }
        try assignments.add(row.fields, in: layout)
        assignments.add(hidden: row.hidden)
        if row.fields.values.contains(.null) { assignments.add(nulls: row.fields) }
        return PostgresStatement(
            """
            INSERT INTO \(layout.table) (\(assignments.columns.joined(separator: ","))) \
            VALUES (\(assignments.places))
            """,
            assignments.parameters.values
        )
    }

    private mutating func add(_ update: RowUpdate, _ position: Int) async throws {
        let layout = try schema.layout(update.className)
        let writer = FindStatement.writer(schema, layout, searches)
        let updater = RowUpdater(layout: layout, update: update, alias: writer.alias)
        let selection = layout.selection
        if let statement = try updater.overwriting(
            writer.parameters,
            condition: { () throws(StorageError) in
                try self.matching(update.predicate, update.access, writer)
            }
        ) {
            pending.append(
                Pending(statement: statement, decides: true) { result, outcome in
                    let rows = try result.rows.map { try selection.row(from: $0) }
                    if update.mustMatch, rows.isEmpty { throw StorageError.noMatch(step: position) }
                    for row in rows { try ObjectSize.checked(row.fields) }
                    outcome.updatedRows[position] = rows
                    outcome.counts[position] = rows.count
                }
            )
            return
        }
        let condition = try matching(update.predicate, update.access, writer)
        let sql = """
            SELECT \(selection.list(writer.alias)) FROM \(layout.table) AS \(writer.alias) WHERE \(condition) \
            ORDER BY \(writer.own(CommonColumn.row)) FOR UPDATE
            """
        pending.append(
            Pending(statement: PostgresStatement(sql, writer.parameters.values), decides: true) {
                result,
                outcome in
                outcome.updatedRows[position] = try result.rows.map { try selection.row(from: $0) }
            }
        )
        try await flush()
        let old = outcome.updatedRows[position]
        if update.mustMatch, old.isEmpty { throw StorageError.noMatch(step: position) }
        var changed: [StoredRow] = []
        for row in old {
            let (new, statement) = try updater.changing(row, effort)
            changed.append(new)
            if let statement { pending.append(Pending(statement: statement) { _, _ in }) }
        }
        outcome.updatedRows[position] = changed
        outcome.counts[position] = changed.count
    }

    private func matching(
        _ predicate: Predicate,
        _ access: RowAccess,
        _ writer: ConditionWriter
    ) throws(StorageError) -> String {
        try refusing { () throws(ParseError) in
            try writer.condition(predicate, access, column: CommonColumn.writers)
        }
    }

    private mutating func add(_ deletion: RowDeletion, _ position: Int) throws {
        let layout = try schema.layout(deletion.className)
        let writer = FindStatement.writer(schema, layout, searches)
        var condition = try matching(deletion.predicate, deletion.access, writer)
        if let limit = deletion.limit {
            let row = writer.own(CommonColumn.row)
            condition = """
                \(CommonColumn.row) IN (SELECT \(row) FROM \(layout.table) AS \(writer.alias) WHERE \(condition) \
                LIMIT \(writer.parameters.add(.integer(Int64(limit))))::int8)
                """
        }
        let table = deletion.limit == nil ? "\(layout.table) AS \(writer.alias)" : layout.table
        addDecision(
            PostgresStatement("DELETE FROM \(table) WHERE \(condition)", writer.parameters.values),
            position,
            mustMatch: deletion.mustMatch
        ) { $0.affectedRows }
    }

    // MARK: Links and accounts

    private mutating func add(_ change: RelationChange, _ position: Int) throws {
        guard let relation = try schema.layout(change.className).relation(change.field) else {
            throw StorageError.fieldRemoved(change.field, of: change.className)
        }
        guard !change.ownerID.containsNUL, !change.relatedIDs.contains(where: \.containsNUL) else {
            throw StorageError.textWithNUL
        }
        let sql =
            change.isRemoval
            ? "DELETE FROM \(relation.table) WHERE owning_id=$1 AND related_id = ANY($2::text[])"
            : "INSERT INTO \(relation.table) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING"
        addDecision(
            PostgresStatement(sql, [.text(change.ownerID), .textArray(change.relatedIDs)]),
            position,
            mustMatch: false
        ) { $0.affectedRows }
    }

    private mutating func addLink(_ identity: ProviderIdentity, _ userID: String, _ position: Int) {
        // The empty change locks the row that is there and tells whose it is.
        let sql = """
            INSERT INTO \(schema.metadata("$accounts")) AS a VALUES ($1,$2,$3) \
            ON CONFLICT (provider,id) DO UPDATE SET provider=excluded.provider RETURNING a.user_id, a.xmax=0
            """
        let parameters: [PostgresValue] = [.text(identity.provider), .text(identity.id), .text(userID)]
        pending.append(
            Pending(statement: PostgresStatement(sql, parameters), decides: true) { result, outcome in
                guard try result.first?.text(0) == userID else {
                    throw StorageError.duplicate(.providerAccount(provider: identity.provider))
                }
                outcome.counts[position] = try result.first?.bool(1) == true ? 1 : 0
            }
        )
    }

    private mutating func addUnlink(_ userID: String, _ providers: [String]?, _ position: Int) {
        var sql = "DELETE FROM \(schema.metadata("$accounts")) WHERE user_id=$1"
        var parameters: [PostgresValue] = [.text(userID)]
        if let providers {
            sql += " AND provider = ANY($2::text[])"
            parameters.append(.textArray(providers))
        }
        addDecision(PostgresStatement(sql, parameters), position, mustMatch: false) { $0.affectedRows }
    }
}

extension WriteStep {
    /// Whether what it changes may turn out to be refused after it was changed.
    fileprivate var isUpdate: Bool {
        if case .update = self { true } else { false }
    }
}
