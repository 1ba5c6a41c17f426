import JSON
import ParseCore
import ParseWire
import Postgres

// Conditions on whole fields that have typed columns; `nil` where one has to look into the value.
extension ConditionWriter {
    func equal(_ column: TableLayout.Column, _ value: FieldValue) -> String? {
        switch column.type {
        case .array: return contains(column, value)
        // The order of members does not count.
        case .object: return nil
        default: break
        }
        let names = column.names.map(own)
        if value == .null { return "(\(names[0]) IS NULL)" }
        guard !value.containsNUL, let values = value.columns(of: column.type) else { return Self.never }
        if column.type == .polygon {
            return "(\(names[0])::jsonb = \(parameters.add(values[0]))::jsonb)"
        }
        let condition = zip(names, values).map { "\($0) = \(parameters.add($1))" }
            .joined(separator: " AND ")
        // The unique index is on the folded form; with it the exact one is found without a scan.
        guard let keyColumn = layout.keyColumn(of: column.field), case .string(let text) = value,
            !text.isEmpty
        else { return "(\(condition))" }
        return "(\(key(keyColumn, text)) AND \(condition))"
    }

    /// A plain element of an array, in a form that an index can answer.
    private func contains(_ column: TableLayout.Column, _ value: FieldValue) -> String? {
        switch value {
        case .string, .number, .bool: break
        default: return nil
        }
        guard !value.containsNUL else { return Self.never }
        let list = JSONValue.array([value.json]).serializedString()
        return "(\(own(column.names[0]))::jsonb @> \(parameters.add(.text(list)))::jsonb)"
    }

    func among(_ column: TableLayout.Column, _ values: [FieldValue]) -> String? {
        let hasNull = values.contains(.null)
        let name = own(column.names[0])
        switch column.type {
        case .array, .object: return nil
        case .geoPoint, .boolean, .polygon:
            return Self.joined(values.compactMap { equal(column, $0) }, " OR ", empty: Self.never)
        default: break
        }
        guard let list = list(column, values) else { return hasNull ? "(\(name) IS NULL)" : Self.never }
        return hasNull ? "(\(list) OR \(name) IS NULL)" : list
    }

    /// The values of the column's own type; `nil` when there is none.
    private func list(_ column: TableLayout.Column, _ values: [FieldValue]) -> String? {
        var texts: [String] = []
        var numbers: [Double] = []
        var integers: [Int64] = []
        for value in values where value != .null && !value.containsNUL {
            switch value.columns(of: column.type)?.first {
            case .text(let text): texts.append(text)
            case .double(let number): numbers.append(number)
            case .integer(let number): integers.append(number)
            default: continue
            }
        }
        let list: String
        // One parameter however many they are, so that the statement is prepared once.
        switch column.type {
        case .number where !numbers.isEmpty: list = parameters.add(.doubleArray(numbers)) + "::float8[]"
        case .date where !integers.isEmpty: list = parameters.add(.integerArray(integers)) + "::int8[]"
        case _ where !texts.isEmpty: list = parameters.add(.textArray(texts)) + "::text[]"
        default: return nil
        }
        return "(\(own(column.names[0])) = ANY(\(list)))"
    }

    func compare(
        _ column: TableLayout.Column,
        _ comparison: Predicate.Comparison,
        _ value: FieldValue
    ) -> String? {
        switch column.type {
        case .string, .number, .boolean, .date, .pointer, .file: break
        case .array: return nil
        default: return Self.never
        }
        guard value != .null, let bound = value.columns(of: column.type)?.first else { return Self.never }
        return "(\(own(column.names[0])) \(side(comparison, bound)))"
    }

    /// A sign and a bound.
    func side(_ comparison: Predicate.Comparison, _ bound: PostgresValue) -> String {
        let sign =
            switch comparison {
            case .less: "<"
            case .lessOrEqual: "<="
            case .greater: ">"
            case .greaterOrEqual: ">="
            }
        // Nothing stored has a NUL, so a text that has one lies right behind what stands before it.
        guard case .text(let text) = bound, text.containsNUL else {
            return "\(sign) \(parameters.add(bound))"
        }
        let start = String(decoding: text.utf8.prefix { $0 != 0 }, as: UTF8.self)
        let isBelow = comparison == .less || comparison == .lessOrEqual
        return "\(isBelow ? "<=" : ">") \(parameters.add(.text(start)))"
    }

    func matches(_ column: TableLayout.Column, _ pattern: TextPattern) throws(ParseError) -> String? {
        switch column.type {
        case .string: break
        case .array: return nil
        default: return Self.never
        }
        let name = own(column.names[0])
        if let prefix = pattern.prefixRange {
            guard !prefix.first.containsNUL else { return Self.never }
            // A range of texts, which an index finds.
            return
                "(\(name) >= \(parameters.add(.text(prefix.first))) AND \(name) < \(parameters.add(.text(prefix.next))))"
        }
        return "(\(name) ~ \(parameters.add(.text(try pattern.postgresPattern()))))"
    }

    func exists(_ column: TableLayout.Column, _ isThere: Bool) -> String {
        let field = parameters.add(.text(column.field))
        let condition =
            "(\(own(column.names[0])) IS NOT NULL OR \(field)::text = ANY(\(own(CommonColumn.nulls))))"
        return isThere ? condition : Self.negated(condition)
    }
}

extension TextPattern {
    private static let opening = "^\\Q"
    private static let closing = "\\E"

    /// The texts that have the prefix: the first of them, and the first after them.
    ///
    /// `nil` unless the pattern is what SDKs send for "starts with": `^`, and a text between `\\Q` and `\\E`.
    fileprivate var prefixRange: (first: String, next: String)? {
        guard options.isEmpty, pattern.hasPrefix(Self.opening), pattern.hasSuffix(Self.closing) else {
            return nil
        }
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
