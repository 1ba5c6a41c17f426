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
        guard let keyColumn = layout.keyColumn(of: column.field), case .string(let text) = value,
            !text.isEmpty
        else { return condition }
        let key = SQLCondition(
            text: "\(layout.table).\(keyColumn)=?",
            parameters: [.text(UniqueKey.fold(text))]
        )
        return key.and(condition)
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
        guard !texts.isEmpty else { return nil }
        let list = SQLCondition.oneOf(column.name, texts)
        // As for one value.
        guard let keyColumn = layout.keyColumn(of: column.field), !texts.contains("") else { return list }
        return SQLCondition.oneOf("\(layout.table).\(keyColumn)", texts.map(UniqueKey.fold)).and(list)
    }

    func compare(
        _ column: TableLayout.Column,
        _ comparison: Predicate.Comparison,
        _ value: FieldValue
    ) -> SQLCondition? {
        switch column.type {
        case .string, .number, .boolean, .date, .pointer, .file: break
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

    /// A literal beginning is a range of texts, which an index finds; `nil` for any other pattern.
    func matches(_ column: TableLayout.Column, _ pattern: TextPattern) -> SQLCondition? {
        guard column.type == .string, pattern.options.isEmpty, let prefix = pattern.prefixRange else {
            return nil
        }
        return SQLCondition(
            text: "(\(column.name)>=? AND \(column.name)<?)",
            parameters: [.text(prefix.first), .text(prefix.next)]
        )
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

extension TextPattern {
    private static let opening = "^\\Q"
    private static let closing = "\\E"

    /// The texts that have the prefix: the first of them, and the first after them.
    ///
    /// `nil` unless the pattern is what SDKs send for "starts with": `^`, and a text between `\Q` and `\E`.
    fileprivate var prefixRange: (first: String, next: String)? {
        guard pattern.hasPrefix(Self.opening), pattern.hasSuffix(Self.closing) else { return nil }
        let text = pattern.unicodeScalars.dropFirst(3).dropLast(2)
        var previous: Unicode.Scalar = " "
        for scalar in text {
            if previous == "\\", scalar == "E" { return nil }
            previous = scalar
        }
        // A backslash before the closing belongs to what comes after it.
        guard let last = text.last, last != "\\", let following = Unicode.Scalar(last.value + 1) else {
            return nil
        }
        var next = String.UnicodeScalarView(text.dropLast())
        next.append(following)
        return (String(String.UnicodeScalarView(text)), String(next))
    }
}
