import JSON
import ParseCore
import SQLite

/// A condition in SQL, and the values of its parameters.
///
/// SQL's third truth value stops here: every negation turns "unknown" into "no" first, so that it matches rows
/// without a value, as MongoDB's do.
struct SQLCondition {
    var text: String
    var parameters: [SQLiteValue] = []

    private static let never = SQLCondition(text: "0")
    private static let always = SQLCondition(text: "1")

    init(text: String, parameters: [SQLiteValue] = []) {
        self.text = text
        self.parameters = parameters
    }

    init(_ predicate: Predicate, in layout: TableLayout) {
        switch predicate {
        case .everything: self = Self.always
        case .all(let parts): self = Self.joined(parts, " AND ", empty: Self.always, in: layout)
        case .any(let parts): self = Self.joined(parts, " OR ", empty: Self.never, in: layout)
        case .none(let parts):
            self = Self.joined(parts, " OR ", empty: Self.never, in: layout).negated
        case .equal(let field, let value): self = Self.equal(field, value, in: layout)
        case .notEqual(let field, let value): self = Self.equal(field, value, in: layout).negated
        case .among(let field, let values): self = Self.among(field, values, in: layout)
        case .notAmong(let field, let values): self = Self.among(field, values, in: layout).negated
        case .compare(let field, let comparison, let value):
            self = Self.compare(field, comparison, value, in: layout)
        case .exists(let field, let isThere): self = Self.exists(field, in: layout, isThere)
        case .containedBy, .matches, .search, .near, .inside, .covers, .amongObjects, .amongValues, .related:
            self = Self.never
        case .usernameKey(let name): self = Self.key(CommonColumn.usernameKey, name)
        case .emailKey(let address): self = Self.key(CommonColumn.emailKey, address)
        case .hidden(let name, let value): self = Self.hidden(name, value, in: layout)
        }
    }

    /// The rows that the predicate matches and that the caller may read or write.
    static func matching(
        _ predicate: Predicate,
        _ access: RowAccess,
        column: String,
        in layout: TableLayout
    ) -> SQLCondition {
        var condition = SQLCondition(predicate, in: layout)
        guard case .group(let keys) = access else { return condition }
        let name = SQLiteIdentifier.quoted(column)
        let searches = keys.map { _ in "instr(\(name),?)>0" }
        condition.text =
            "(\(condition.text)) AND (\(([name + " IS NULL"] + searches).joined(separator: " OR ")))"
        condition.parameters += keys.map { .text(KeyList.needle($0)) }
        return condition
    }

    private var negated: SQLCondition {
        SQLCondition(text: "(\(text)) IS NOT 1", parameters: parameters)
    }

    private static func joined(
        _ parts: [Predicate],
        _ conjunction: String,
        empty: SQLCondition,
        in layout: TableLayout
    ) -> SQLCondition {
        guard !parts.isEmpty else { return empty }
        let conditions = parts.map { SQLCondition($0, in: layout) }
        if conditions.count == 1 { return conditions[0] }
        return SQLCondition(
            text: balanced(conditions.map(\.text)[...], conjunction),
            parameters: conditions.flatMap(\.parameters)
        )
    }

    /// Halves in brackets: SQLite takes `a OR b OR c` for a tree as deep as it is long, and refuses a deep one.
    private static func balanced(_ texts: ArraySlice<String>, _ conjunction: String) -> String {
        guard texts.count > 1 else { return "(\(texts[texts.startIndex]))" }
        let middle = texts.startIndex + texts.count / 2
        return "(" + balanced(texts[..<middle], conjunction) + conjunction
            + balanced(texts[middle...], conjunction) + ")"
    }

    private static func equal(_ field: String, _ value: FieldValue, in layout: TableLayout) -> SQLCondition {
        guard let column = layout.column(field) else { return value == .null ? always : never }
        if value == .null {
            let holdsNull =
                column.type == .array
                ? " OR EXISTS(SELECT 1 FROM json_each(\(column.name)) WHERE type='null')" : ""
            return SQLCondition(text: "(\(column.name) IS NULL\(holdsNull))")
        }
        if column.type == .array, let contained = contains(column, value) { return contained }
        guard let values = value.columns(of: column.type) else { return never }
        var condition = SQLCondition(
            text: column.names.map { "\($0)=?" }.joined(separator: " AND "),
            parameters: values
        )
        // The unique index is on the folded form; with it the exact one is found without a scan.
        if layout.schema.className == SystemClasses.user, case .string(let text) = value,
            let keyColumn = ["username": CommonColumn.usernameKey, "email": CommonColumn.emailKey][field],
            !text.isEmpty
        {
            let keyed = key(keyColumn, text)
            condition.text = "(\(keyed.text) AND \(condition.text))"
            condition.parameters = keyed.parameters + condition.parameters
        }
        return condition
    }

    private static func key(_ column: String, _ text: String) -> SQLCondition {
        SQLCondition(
            text: SQLiteIdentifier.quoted(column) + "=?",
            parameters: [.text(UniqueKey.fold(text))]
        )
    }

    private static func contains(_ column: TableLayout.Column, _ value: FieldValue) -> SQLCondition? {
        let test: String
        let parameters: [SQLiteValue]
        switch value {
        case .string(let text): (test, parameters) = ("type='text' AND value=?", [.text(text)])
        case .number(let number):
            (test, parameters) = ("type IN ('integer','real') AND value=?", [.real(number)])
        case .bool(let flag): (test, parameters) = ("type=?", [.text(flag ? "true" : "false")])
        case .pointer(let className, let id):
            test =
                "type='object' AND json_extract(value,'$.className')=? AND json_extract(value,'$.objectId')=?"
            parameters = [.text(className), .text(id)]
        default: return nil
        }
        return SQLCondition(
            text: "EXISTS(SELECT 1 FROM json_each(\(column.name)) WHERE \(test))",
            parameters: parameters
        )
    }

    private static func among(
        _ field: String,
        _ values: [FieldValue],
        in layout: TableLayout
    ) -> SQLCondition {
        guard let column = layout.column(field) else { return values.contains(.null) ? always : never }
        if column.type == .array { return amongElements(column, values, in: layout) }
        guard let list = jsonList(values, column.type) else {
            return joined(values.map { .equal(field, $0) }, " OR ", empty: never, in: layout)
        }
        // One parameter however long the list is, so that the statement is prepared once.
        var condition = SQLCondition(
            text: "\(column.name) IN (SELECT value FROM json_each(?))",
            parameters: [.text(JSONValue.array(list).serializedString())]
        )
        if values.contains(.null) { condition.text = "(\(condition.text) OR \(column.name) IS NULL)" }
        return condition
    }

    /// One look through the array for all texts, and one for all numbers, however many they are.
    private static func amongElements(
        _ column: TableLayout.Column,
        _ values: [FieldValue],
        in layout: TableLayout
    ) -> SQLCondition {
        var texts: [JSONValue] = []
        var numbers: [JSONValue] = []
        var others: [SQLCondition] = []
        for value in values {
            switch value {
            case .string(let text) where !text.utf8.contains(0): texts.append(.string(text))
            case .number(let number): numbers.append(.number(number))
            default: others.append(equal(column.field, value, in: layout))
            }
        }
        for (list, types) in [(texts, "'text'"), (numbers, "'integer','real'")] where !list.isEmpty {
            others.append(
                SQLCondition(
                    text: """
                        EXISTS(SELECT 1 FROM json_each(\(column.name)) AS element WHERE element.type IN (\(types)) \
                        AND element.value IN (SELECT value FROM json_each(?)))
                        """,
                    parameters: [.text(JSONValue.array(list).serializedString())]
                )
            )
        }
        guard !others.isEmpty else { return never }
        return SQLCondition(
            text: balanced(others.map(\.text)[...], " OR "),
            parameters: others.flatMap(\.parameters)
        )
    }

    /// The values as JSON that SQLite compares with the column; `nil` where that does not mean equality.
    private static func jsonList(_ values: [FieldValue], _ type: FieldType) -> [JSONValue]? {
        switch type {
        case .string, .number, .date, .pointer: break
        default: return nil
        }
        var list: [JSONValue] = []
        for value in values where value != .null {
            switch value.columns(of: type)?.first {
            case .text(let text) where !text.utf8.contains(0): list.append(.string(text))
            case .text: return nil
            case .real(let number): list.append(.number(number))
            case .integer(let number): list.append(.number(Double(number)))
            case .null, .blob, nil: continue
            }
        }
        return list
    }

    private static func compare(
        _ field: String,
        _ comparison: Predicate.Comparison,
        _ value: FieldValue,
        in layout: TableLayout
    ) -> SQLCondition {
        guard let column = layout.column(field), column.names.count == 1, value != .null else { return never }
        let sign =
            switch comparison {
            case .less: "<"
            case .lessOrEqual: "<="
            case .greater: ">"
            case .greaterOrEqual: ">="
            }
        switch (column.type, value) {
        case (.array, .string(let text)):
            return anyElement(column, "type='text' AND value\(sign)?", .text(text))
        case (.array, .number(let number)):
            return anyElement(column, "type IN ('integer','real') AND value\(sign)?", .real(number))
        // Their text is not in the order of what it stands for.
        case (.array, _), (.object, _), (.polygon, _): return never
        default:
            guard let bound = value.columns(of: column.type) else { return never }
            return SQLCondition(text: "\(column.name)\(sign)?", parameters: bound)
        }
    }

    private static func anyElement(
        _ column: TableLayout.Column,
        _ test: String,
        _ parameter: SQLiteValue
    ) -> SQLCondition {
        SQLCondition(
            text: "EXISTS(SELECT 1 FROM json_each(\(column.name)) WHERE \(test))",
            parameters: [parameter]
        )
    }

    private static func exists(_ field: String, in layout: TableLayout, _ isThere: Bool) -> SQLCondition {
        guard let column = layout.column(field) else { return isThere ? never : always }
        let nulls = SQLiteIdentifier.quoted(CommonColumn.nulls)
        let condition = SQLCondition(
            text: "(\(column.name) IS NOT NULL OR instr(coalesce(\(nulls),''),?)>0)",
            parameters: [.text(KeyList.needle(field))]
        )
        return isThere ? condition : condition.negated
    }

    private static func hidden(_ name: String, _ value: FieldValue, in layout: TableLayout) -> SQLCondition {
        precondition(
            HiddenField.names(of: layout.schema.className).contains(name),
            "the class has no such hidden field"
        )
        let column = SQLiteIdentifier.quoted(name)
        return value == .null
            ? SQLCondition(text: "\(column) IS NULL")
            : SQLCondition(text: "\(column)=?", parameters: [value.hiddenColumn])
    }
}
