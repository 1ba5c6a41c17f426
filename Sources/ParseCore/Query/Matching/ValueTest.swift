package import JSON
import ParseWire
import RegularExpressions
import TextSearch

/// The condition of one leaf of a ``Predicate`` on the value of one field, prepared once for many rows.
///
/// Regular expressions are compiled, lists are sets. A leaf that needs other rows (`amongObjects`, `amongValues`,
/// `related`, conditions on a relation) becomes one only with the ids or values of these.
package struct ValueTest: Sendable {
    /// The field, without the path inside it.
    package let field: String
    /// The keys and indexes that lead on from the value of the field.
    package let path: [String]
    private let leaf: Leaf
    private let isNegated: Bool

    /// The test of a leaf.
    ///
    /// `nil` for groups, for leaves that need other rows, and for the tests of hidden columns and folded keys.
    ///
    /// - Throws: ``ParseError`` for a regular expression that is none or is too much, or a language that is unknown.
    package init?(_ predicate: Predicate) throws(ParseError) {
        guard let (name, leaf, isNegated) = try Leaf.read(predicate) else { return nil }
        self.init(name, leaf, isNegated: isNegated)
    }

    /// A pointer to one of these objects.
    package init(_ field: String, pointsTo className: String, among ids: Set<String>) {
        self.init(field, .pointer(className, ids), isNegated: false)
    }

    /// Equality with one of these values, each in its ``FieldValue/comparisonForm``; a null among them does not count.
    package init(_ field: String, among values: Set<JSONValue>) {
        self.init(field, .among(values, orNull: false), isNegated: false)
    }

    private init(_ name: String, _ leaf: Leaf, isNegated: Bool) {
        var parts = FieldName.path(name) ?? [name]
        field = parts.removeFirst()
        path = parts
        self.leaf = leaf
        self.isNegated = isNegated
    }

    /// Whether the condition holds for a field with that value; `nil` for an absent one.
    ///
    /// - Throws: ``ParseError`` 102 when a regular expression takes more work than it may.
    package func matches(_ value: FieldValue?) throws(ParseError) -> Bool {
        let found =
            path.isEmpty ? try leaf.holds(for: value) : try matchesAny(PathValues.values(of: value, at: path))
        return found != isNegated
    }

    /// As ``matches(_:)-swift.method``, for the JSON of a column that holds an array or object, or a part of one.
    package func matches(stored json: JSONValue?) throws(ParseError) -> Bool {
        try matches(json.map(FieldValue.init(stored:)))
    }

    private func matchesAny(_ values: [FieldValue?]) throws(ParseError) -> Bool {
        // Holds unless there is an element that is not among them, wherever the path leads.
        if case .containedBy = leaf {
            for value in values where try !leaf.holds(for: value) { return false }
            return true
        }
        for value in values where try leaf.holds(for: value) { return true }
        return false
    }

    /// How well the text of the field matches a text search; 0 where it does not, and for any other test.
    package func score(of value: FieldValue?) -> Double {
        guard case .search(let query) = leaf, !isNegated else { return 0 }
        return PathValues.values(of: value, at: path).reduce(0) { sum, value in
            sum + Leaf.texts(of: value).reduce(0) { $0 + (query.score(of: $1) ?? 0) }
        }
    }
}
