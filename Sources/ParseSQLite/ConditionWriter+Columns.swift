import JSON
import ParseCore
import SQLite

// Conditions on whole fields that have typed columns; `nil` where SQL does not know the answer.
extension ConditionWriter {
    func equal(_ column: TableLayout.Column, _ value: FieldValue) -> SQLCondition? {
        switch column.type {
        // Elements count, and the order of members does not.
        case .array, .object: return nil
        default: break
        }
        if value == .null { return SQLCondition(text: "\(column.name) IS NULL") }
        guard let values = value.columns(of: column.type) else { return .never }
        let condition = SQLCondition(
            text: column.names.map { "\($0)=?" }.joined(separator: " AND "),
            parameters: values
        )
        // The unique index is on the folded form; with it the exact one is found without a scan.
        let keys = ["username": CommonColumn.usernameKey, "email": CommonColumn.emailKey]
        guard layout.schema.className == SystemClasses.user, let keyColumn = keys[column.field],
            case .string(let text) = value, !text.isEmpty
        else { return condition }
        return key(keyColumn, text).and(condition)
    }

    func among(_ column: TableLayout.Column, _ values: [FieldValue]) -> SQLCondition? {
        let hasNull = values.contains(.null)
        switch column.type {
        case .array, .object: return nil
        case .geoPoint, .boolean, .polygon: return .any(values.compactMap { equal(column, $0) })
        default: break
        }
        guard let list = list(column, values) else { return hasNull ? equal(column, .null) : .never }
        return hasNull ? list.or(SQLCondition(text: "\(column.name) IS NULL")) : list
    }

    /// The values of the column's own type; `nil` when there is none.
    private func list(_ column: TableLayout.Column, _ values: [FieldValue]) -> SQLCondition? {
        var texts: [String] = []
        var numbers: [JSONValue] = []
        for value in values where value != .null {
            switch value.columns(of: column.type)?.first {
            case .text(let text): texts.append(text)
            case .real(let number): numbers.append(.number(number))
            case .integer(let number): numbers.append(.number(Double(number)))
            default: continue
            }
        }
        guard numbers.isEmpty else {
            return SQLCondition(
                text: "\(column.name) IN (SELECT value FROM json_each(?))",
                parameters: [.text(JSONValue.array(numbers).serializedString())]
            )
        }
        return texts.isEmpty ? nil : .oneOf(column.name, texts)
    }

    func compare(
        _ column: TableLayout.Column,
        _ comparison: Predicate.Comparison,
        _ value: FieldValue
    ) -> SQLCondition? {
        switch column.type {
        case .string, .number, .boolean, .date: break
        default: return nil
        }
        guard value != .null, let bound = value.columns(of: column.type) else { return .never }
        let sign =
            switch comparison {
            case .less: "<"
            case .lessOrEqual: "<="
            case .greater: ">"
            case .greaterOrEqual: ">="
            }
        return SQLCondition(text: "\(column.name)\(sign)?", parameters: bound)
    }

    func exists(_ column: TableLayout.Column, _ isThere: Bool) -> SQLCondition {
        let nulls = layout.own(CommonColumn.nulls)
        let condition = SQLCondition(
            text: "(\(column.name) IS NOT NULL OR instr(coalesce(\(nulls),''),?)>0)",
            parameters: [.text(KeyList.needle(column.field))]
        )
        return isThere ? condition : condition.negated
    }
}
