import JSON
import ParseCore
import SQLite

/// A condition in SQL, and the values of its parameters.
///
/// SQL's third truth value stops here: every negation turns "unknown" into "no" first, so that it matches rows
/// without a value, as MongoDB's do.
struct SQLCondition: Sendable {
    var text: String
    var parameters: [SQLiteValue] = []

    static let never = SQLCondition(text: "0")
    static let always = SQLCondition(text: "1")

    var isAlways: Bool {
        text == Self.always.text
    }

    var negated: SQLCondition {
        SQLCondition(text: "(\(text)) IS NOT 1", parameters: parameters)
    }

    func and(_ other: SQLCondition) -> SQLCondition {
        SQLCondition(text: "(\(text) AND \(other.text))", parameters: parameters + other.parameters)
    }

    func or(_ other: SQLCondition) -> SQLCondition {
        SQLCondition(text: "(\(text) OR \(other.text))", parameters: parameters + other.parameters)
    }

    /// That holds when all of them do.
    static func all(_ parts: [SQLCondition]) -> SQLCondition {
        joined(parts, " AND ", empty: always)
    }

    /// That holds when one of them does.
    static func any(_ parts: [SQLCondition]) -> SQLCondition {
        joined(parts, " OR ", empty: never)
    }

    /// That an expression has one of these texts, in one parameter however many they are, so that the statement is
    /// prepared once.
    static func oneOf(_ expression: String, _ texts: [String]) -> SQLCondition {
        // SQLite's JSON ends a text at NUL.
        let listed = texts.filter { !$0.utf8.contains(0) }
        let list = JSONValue.array(listed.map(JSONValue.string)).serializedString()
        let condition = SQLCondition(
            text: "\(expression) IN (SELECT value FROM json_each(?))",
            parameters: [.text(list)]
        )
        let others = texts.filter { $0.utf8.contains(0) }.map {
            SQLCondition(text: "\(expression)=?", parameters: [.text($0)])
        }
        return others.isEmpty ? condition : any([condition] + others)
    }

    private static func joined(
        _ parts: [SQLCondition],
        _ conjunction: String,
        empty: SQLCondition
    ) -> SQLCondition {
        if parts.count <= 1 { return parts.first ?? empty }
        return SQLCondition(
            text: balanced(parts.map(\.text)[...], conjunction),
            parameters: parts.flatMap(\.parameters)
        )
    }

    /// Halves in brackets: SQLite takes `a OR b OR c` for a tree as deep as it is long, and refuses a deep one.
    private static func balanced(_ texts: ArraySlice<String>, _ conjunction: String) -> String {
        guard texts.count > 1 else { return "(\(texts[texts.startIndex]))" }
        let middle = texts.startIndex + texts.count / 2
        return "(" + balanced(texts[..<middle], conjunction) + conjunction
            + balanced(texts[middle...], conjunction) + ")"
    }
}
