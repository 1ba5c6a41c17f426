import JSON
import ParseCore
import ParseWire
import Postgres

/// Writes the statements that change the rows of one class.
struct RowUpdater {
    let layout: TableLayout
    let update: RowUpdate
    /// What the table is called in the statement that finds the rows.
    let alias: String

    /// One statement for all rows, when no new value depends on an old one; `nil` otherwise.
    func overwriting(
        _ parameters: Parameters,
        condition: () throws(StorageError) -> String
    ) throws -> PostgresStatement? {
        guard let values = update.plainValues else { return nil }
        var assignments = Assignments(parameters)
        let stored = values.mapValues { $0 ?? .null }
        try assignments.add(stored, in: layout)
        if !values.isEmpty {
            // Fields that were set are no longer null, but for those that were set to that.
            let nulls = CommonColumn.nulls
            let changed = parameters.add(.textArray(values.keys.sorted()))
            let added = parameters.add(.textArray(values.filter { $0.value == .null }.keys.sorted()))
            assignments.add(
                nulls,
                expression: """
                    nullif(ARRAY(SELECT name FROM unnest(\(alias).\(nulls)) AS n(name) \
                    WHERE name <> ALL(\(changed)::text[])) || \(added)::text[], '{}')
                    """
            )
        }
        addCommon(to: &assignments)
        // Without anything to set the rows are as they are.
        if assignments.isEmpty {
            assignments.add(CommonColumn.objectID, expression: "\(alias).\(CommonColumn.objectID)")
        }
        let text = try condition()
        return PostgresStatement(
            """
            UPDATE \(layout.table) AS \(alias) SET \(assignments.list) WHERE \(text) \
            RETURNING \(layout.selection.list(alias))
            """,
            parameters.values
        )
    }

    /// The row after the changes, and the statement that stores it if there is something to store.
    func changing(_ old: StoredRow, _ effort: ChangeEffort) throws -> (StoredRow, PostgresStatement?) {
        var row = old
        for (field, change) in update.changes {
            try effort.spend(change, on: row.fields[field])
            row.fields[field] = try refusing { () throws(ParseError) in
                try change.applied(to: row.fields[field])
            }
        }
        for (name, value) in update.hidden { row.hidden[name] = value }
        if let acl = update.acl { row.acl = acl }
        if let instant = update.updatedAt { row.updatedAt = instant }
        var assignments = Assignments(Parameters())
        let changed = Set(update.changes.lazy.filter { !$0.change.isRelation }.map(\.field))
        if !changed.isEmpty {
            try ObjectSize.checked(row.fields)
            let values = changed.map { ($0, row.fields[$0] ?? .null) }
            try assignments.add(Dictionary(uniqueKeysWithValues: values), in: layout)
            assignments.add(nulls: row.fields)
        }
        addCommon(to: &assignments)
        guard !assignments.isEmpty else { return (row, nil) }
        let id = assignments.parameters.add(.text(row.objectID))
        let sql = "UPDATE \(layout.table) SET \(assignments.list) WHERE \(CommonColumn.objectID)=\(id)"
        return (row, PostgresStatement(sql, assignments.parameters.values))
    }

    private func addCommon(to assignments: inout Assignments) {
        assignments.add(hidden: update.hidden)
        if let acl = update.acl { assignments.add(acl) }
        if let instant = update.updatedAt {
            assignments.add(CommonColumn.updatedAt, .integer(instant.milliseconds))
        }
    }
}

/// Bounds what one plan may cost: a change inside a field goes through all of that field, and everybody else who writes
/// the row waits for it.
final class ChangeEffort {
    private static let limit = 2_000_000
    private var members = 0

    /// - Throws: ``StorageError/refused(_:)`` with 140 when the plan asks for too much.
    func spend(_ change: FieldChange, on value: FieldValue?) throws(StorageError) {
        guard case .path = change else { return }
        switch value {
        case .object(let object): members += object.count
        case .array(let elements): members += elements.count
        default: members += 1
        }
        guard members <= Self.limit else {
            throw .refused(
                ParseError(.exceededQuota, "Too many changes inside large fields in one request.")
            )
        }
    }
}

extension ObjectSize {
    /// - Throws: ``StorageError/refused(_:)`` for fields that are larger than an object may be.
    static func checked(_ fields: [String: FieldValue]) throws(StorageError) {
        try refusing { () throws(ParseError) in try check(fields) }
    }
}

extension RowUpdate {
    /// What the changes set the fields to, `nil` for one that goes; `nil` altogether when they need the old values.
    fileprivate var plainValues: [String: FieldValue?]? {
        var values: [String: FieldValue?] = [:]
        for (field, change) in changes {
            switch change {
            case .set(let value): values.updateValue(value, forKey: field)
            case .unset: values.updateValue(nil, forKey: field)
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
