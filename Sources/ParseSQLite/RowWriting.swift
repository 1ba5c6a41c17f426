import JSON
import ParseCore
import ParseWire
import SQLite

/// Inserts rows into the table of one class.
struct RowInsertion {
    let connection: SQLiteConnection
    let layout: TableLayout

    func insert(_ row: StoredRow) throws {
        let size = try ObjectSize.checked(row.fields)
        var assignments = Assignments(capacity: row.fields.count + row.hidden.count + 10)
        assignments.add("\"objectId\"", .text(row.objectID))
        assignments.add("\"createdAt\"", .integer(row.createdAt.milliseconds))
        assignments.add("\"updatedAt\"", .integer(row.updatedAt.milliseconds))
        assignments.add("\"_size\"", .integer(Int64(size)))
        if let acl = row.acl { assignments.add(acl) }
        try assignments.add(row.fields, in: layout)
        for (name, value) in row.hidden.sorted(by: { $0.key < $1.key }) {
            assignments.add(SQLiteIdentifier.quoted(name), value.hiddenColumn)
        }
        if row.fields.values.contains(.null) { assignments.add(nulls: row.fields) }
        try connection.run(
            """
            INSERT INTO \(layout.table) (\(assignments.columns.joined(separator: ","))) \
            VALUES (\(assignments.places))
            """,
            assignments.values
        )
    }
}

/// Changes the rows of one class that match.
struct RowUpdater {
    let connection: SQLiteConnection
    let layout: TableLayout
    let update: RowUpdate
    let condition: SQLCondition
    let effort: ChangeEffort

    func run() throws -> (count: Int, rows: [StoredRow]) {
        if !update.returnsRow, update.predicate.namesOneRow, let values = update.plainValues,
            try overwrite(values)
        {
            return (1, [])
        }
        let rows = try connection.query(
            "SELECT \(layout.selection.list) FROM \(layout.table) WHERE \(condition.text)",
            condition.parameters
        ) { layout.selection.row(from: $0) }
        let changed = try rows.map(apply)
        return (changed.count, changed)
    }

    /// Sets the fields without a look at the row, when it has no explicit nulls and cannot become too large.
    ///
    /// The size that is kept grows by all that is set, so it is never less than the true one; the way that reads the
    /// row finds that out when it comes near the limit.
    private func overwrite(_ values: [String: FieldValue]) throws -> Bool {
        let added = Int64(ObjectSize.bytes(of: values.filter { $0.value != .null }))
        var assignments = Assignments(capacity: values.count + 6)
        try assignments.add(values, in: layout)
        addCommon(to: &assignments)
        var guarded = condition
        if !values.isEmpty {
            assignments.add("\"_size\"", .integer(added), expression: "\"_size\"+?")
            guarded = guarded.and(
                SQLCondition(
                    text: "\"_nulls\" IS NULL AND \"_size\"<=?",
                    parameters: [.integer(Int64(ObjectSize.limit) - added)]
                )
            )
        }
        guard !assignments.columns.isEmpty else { return false }
        return try connection.run(
            "UPDATE \(layout.table) SET \(assignments.list) WHERE \(guarded.text)",
            assignments.values + guarded.parameters
        ) > 0
    }

    private func apply(to old: StoredRow) throws -> StoredRow {
        var row = old
        for (field, change) in update.changes {
            try effort.spend(change, on: row.fields[field])
            do {
                row.fields[field] = try change.applied(to: row.fields[field])
            } catch {
                throw StorageError.refused(error)
            }
        }
        for (name, value) in update.hidden { row.hidden[name] = value }
        if let acl = update.acl { row.acl = acl }
        if let instant = update.updatedAt { row.updatedAt = instant }
        var assignments = Assignments(capacity: update.changes.count + 6)
        let changed = Set(update.changes.lazy.filter { !$0.change.isRelation }.map(\.field))
        if !changed.isEmpty {
            let size = try ObjectSize.checked(row.fields)
            let values = changed.map { ($0, row.fields[$0] ?? .null) }
            try assignments.add(Dictionary(uniqueKeysWithValues: values), in: layout)
            assignments.add(nulls: row.fields)
            assignments.add("\"_size\"", .integer(Int64(size)))
        }
        addCommon(to: &assignments)
        guard !assignments.columns.isEmpty else { return row }
        try connection.run(
            "UPDATE \(layout.table) SET \(assignments.list) WHERE \"objectId\"=?",
            assignments.values + [.text(row.objectID)]
        )
        return row
    }

    private func addCommon(to assignments: inout Assignments) {
        for (name, value) in update.hidden.sorted(by: { $0.key < $1.key }) {
            assignments.add(SQLiteIdentifier.quoted(name), value?.hiddenColumn ?? .null)
        }
        if let acl = update.acl { assignments.add(acl) }
        if let instant = update.updatedAt {
            assignments.add("\"updatedAt\"", .integer(instant.milliseconds))
        }
    }
}

/// Bounds what one plan may cost: a change inside a field goes through all of that field, and everybody else who writes
/// waits for it.
final class ChangeEffort {
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

extension ObjectSize {
    /// The size of the fields.
    ///
    /// - Throws: ``StorageError/refused(_:)`` for fields that are larger than an object may be.
    fileprivate static func checked(_ fields: [String: FieldValue]) throws(StorageError) -> Int {
        let size = bytes(of: fields)
        guard size > limit else { return size }
        do {
            try check(fields)
        } catch {
            throw .refused(error)
        }
        return size
    }
}

extension Predicate {
    /// Whether it asks for an id, so that one row matches at most.
    fileprivate var namesOneRow: Bool {
        switch self {
        case .equal("objectId", .string): true
        case .all(let parts): parts.contains { $0.namesOneRow }
        default: false
        }
    }
}

extension RowUpdate {
    /// What the changes set the fields to, where they neither need the old values nor set a null; a field that goes is
    /// null here.
    fileprivate var plainValues: [String: FieldValue]? {
        var values: [String: FieldValue] = [:]
        for (field, change) in changes {
            switch change {
            case .set(.null): return nil
            case .set(let value): values[field] = value
            case .unset: values[field] = .null
            case .relate: continue
            default: return nil
            }
        }
        return values
    }
}

extension FieldChange {
    /// Whether it is about links, which no column holds.
    fileprivate var isRelation: Bool {
        if case .relate = self { true } else { false }
    }
}
