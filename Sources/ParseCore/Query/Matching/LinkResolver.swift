package import JSON
import ParseWire

/// Answers what a ``PredicateMatcher`` cannot read from the row in front of it.
///
/// The answers for subqueries and `$relatedTo` are asked for once, when the matcher is made; those for relation
/// fields once for each row.
package protocol LinkResolver: Sendable {
    /// The ids of the rows that the subquery finds.
    func objectIDs(of subquery: Subquery) throws(ParseError) -> Set<String>

    /// The values that these rows have at the path, elements of arrays one by one, in their
    /// ``FieldValue/comparisonForm``.
    func values(of subquery: Subquery, at path: String) throws(ParseError) -> Set<JSONValue>

    /// The ids that are linked from that relation of the owner.
    func relatedIDs(ownerClass: String, ownerID: String, field: String) throws(ParseError) -> Set<String>
}

/// For matchers that have nothing but the row.
package struct NoLinks: LinkResolver {
    package init() {}

    package func objectIDs(of subquery: Subquery) throws(ParseError) -> Set<String> {
        throw Self.error
    }

    package func values(of subquery: Subquery, at path: String) throws(ParseError) -> Set<JSONValue> {
        throw Self.error
    }

    package func relatedIDs(ownerClass: String, ownerID: String, field: String) throws(ParseError)
        -> Set<String>
    {
        throw Self.error
    }

    private static let error = ParseError(
        .invalidQuery,
        "Subqueries and relations cannot be used here: the condition must be decided on the object alone."
    )
}
