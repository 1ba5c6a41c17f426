import JSON
import ParseWire
import ParseCore
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
            var rows: [StoredRow] = []
            let count: Int
            switch step {
            case .require(let className, let predicate):
                count = try exists(className, predicate) ? 1 : 0
                if count == 0 { throw StorageError.noMatch(step: position) }
            case .requireAccount(let identity, let userID):
                count = try owner(of: identity) == userID ? 1 : 0
                if count == 0 { throw StorageError.noMatch(step: position) }
            case .insert(let className, let row):
                try insert(row, into: try schema.layout(className))
                count = 1
            case .update(let update):
                rows = try run(update)
                count = rows.count
                if count == 0, update.mustMatch { throw StorageError.noMatch(step: position) }
            case .delete(let deletion):
                count = try run(deletion)
                if count == 0, deletion.mustMatch { throw StorageError.noMatch(step: position) }
            case .relate: throw StorageError.failed("not built")
            case .link(let identity, let userID): count = try link(identity, userID)
            case .unlink(let userID, let providers): count = try unlink(userID, providers)
            }
            outcome.updatedRows.append(rows)
            outcome.counts.append(count)
        }
        return outcome
    }

    private func exists(_ className: String, _ predicate: Predicate) throws -> Bool {
        let layout = try schema.layout(className)
        let condition = SQLCondition(predicate, in: layout)
        return try connection.first(
            "SELECT 1 FROM \(layout.table) WHERE \(condition.text) LIMIT 1",
            condition.parameters
        ) { _ in true } ?? false
    }

    private func insert(_ row: StoredRow, into layout: TableLayout) throws {
        try check(row)
        var assignments = Assignments()
        assignments.add(CommonColumn.objectID, .text(row.objectID))
        assignments.add(CommonColumn.createdAt, .integer(row.createdAt.milliseconds))
        assignments.add(CommonColumn.updatedAt, .integer(row.updatedAt.milliseconds))
        assignments.add(row.acl)
        for (field, value) in row.fields.sorted(by: { $0.key < $1.key }) {
            try assignments.add(field, value, in: layout)
        }
        for (name, value) in row.hidden.sorted(by: { $0.key < $1.key }) {
            assignments.add(name, value.hiddenColumn)
        }
        assignments.add(nulls: row.fields)
        let places = assignments.columns.map { _ in "?" }.joined(separator: ",")
        try connection.run(
            "INSERT INTO \(layout.table) (\(assignments.columns.joined(separator: ","))) VALUES (\(places))",
            assignments.values
        )
    }

    private func run(_ update: RowUpdate) throws -> [StoredRow] {
        let layout = try schema.layout(update.className)
        let condition = SQLCondition.matching(
            update.predicate,
            update.access,
            column: CommonColumn.writers,
            in: layout
        )
        let rows = try connection.query(
            "SELECT \(layout.selection.list) FROM \(layout.table) WHERE \(condition.text)",
            condition.parameters
        ) { layout.selection.row(from: $0) }
        return try rows.map { try apply(update, to: $0, layout) }
    }

    private func apply(_ update: RowUpdate, to row: StoredRow, _ layout: TableLayout) throws -> StoredRow {
        var row = row
        var assignments = Assignments()
        var changed: [String] = []
        for (field, change) in update.changes {
            try effort.spend(change, on: row.fields[field])
            do {
                row.fields[field] = try change.applied(to: row.fields[field])
            } catch {
                throw StorageError.refused(error)
            }
            if !changed.contains(field) { changed.append(field) }
        }
        if !changed.isEmpty { try check(row) }
        for field in changed { try assignments.add(field, row.fields[field], in: layout) }
        if !changed.isEmpty { assignments.add(nulls: row.fields) }
        for (name, value) in update.hidden.sorted(by: { $0.key < $1.key }) {
            row.hidden[name] = value
            assignments.add(name, value?.hiddenColumn ?? .null)
        }
        if let acl = update.acl {
            row.acl = acl
            assignments.add(acl)
        }
        if let instant = update.updatedAt {
            row.updatedAt = instant
            assignments.add(CommonColumn.updatedAt, .integer(instant.milliseconds))
        }
        guard !assignments.columns.isEmpty else { return row }
        let list = assignments.columns.map { "\($0)=?" }.joined(separator: ",")
        try connection.run(
            "UPDATE \(layout.table) SET \(list) WHERE \"objectId\"=?",
            assignments.values + [.text(row.objectID)]
        )
        return row
    }

    private func check(_ row: StoredRow) throws {
        do {
            try ObjectSize.check(row.fields)
        } catch {
            throw StorageError.refused(error)
        }
    }

    private func run(_ deletion: RowDeletion) throws -> Int {
        let layout = try schema.layout(deletion.className)
        let condition = SQLCondition.matching(
            deletion.predicate,
            deletion.access,
            column: CommonColumn.writers,
            in: layout
        )
        guard let limit = deletion.limit else {
            return try connection.run(
                "DELETE FROM \(layout.table) WHERE \(condition.text)",
                condition.parameters
            )
        }
        return try connection.run(
            """
            DELETE FROM \(layout.table) WHERE rowid IN
            (SELECT rowid FROM \(layout.table) WHERE \(condition.text) LIMIT ?)
            """,
            condition.parameters + [.integer(Int64(limit))]
        )
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

/// Bounds what one plan may cost: a change inside a field goes through all of that field, and everybody else who writes
/// waits for it.
private final class ChangeEffort {
    private static let limit = 2_000_000
    private var members = 0

    /// - Throws: ``StorageError/refused(_:)`` with 140 when the plan asks for too much.
    func spend(_ change: FieldChange, on value: FieldValue?) throws {
        guard case .path = change else { return }
        switch value {
        case .object(let object): members += object.count
        case .array(let elements): members += elements.count
        default: members += 1
        }
        guard members <= Self.limit else {
            throw StorageError.refused(
                ParseError(.exceededQuota, "Too many changes inside large fields in one request.")
            )
        }
    }
}

/// Columns and what they are set to, each once.
private struct Assignments {
    /// Quoted.
    private(set) var columns: [String] = []
    private(set) var values: [SQLiteValue] = []

    mutating func add(_ column: String, _ value: SQLiteValue) {
        columns.append(SQLiteIdentifier.quoted(column))
        values.append(value)
    }

    mutating func add(_ acl: AccessControlList?) {
        add(CommonColumn.readers, acl.map { .text(KeyList.encode($0.readers)) } ?? .null)
        add(CommonColumn.writers, acl.map { .text(KeyList.encode($0.writers)) } ?? .null)
    }

    mutating func add(nulls fields: [String: FieldValue]) {
        let names = fields.filter { $0.value == .null }.keys.sorted()
        add(CommonColumn.nulls, names.isEmpty ? .null : .text(KeyList.encode(names)))
    }

    mutating func add(_ field: String, _ value: FieldValue?, in layout: TableLayout) throws {
        guard let column = layout.column(field) else {
            throw StorageError.failed("the class \(layout.schema.className) has no column for a field")
        }
        guard let bound = (value ?? .null).columns(of: column.type) else {
            throw StorageError.failed("a value does not fit the type of its field")
        }
        columns += column.names
        values += bound
        guard layout.schema.className == SystemClasses.user else { return }
        let keys = ["username": CommonColumn.usernameKey, "email": CommonColumn.emailKey]
        guard let key = keys[field] else { return }
        let text = value?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
        add(key, text.map { .text(UniqueKey.fold($0)) } ?? .null)
    }
}
