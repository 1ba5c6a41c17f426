package import JSON
import ParseWire

/// A subquery as a client wrote it.
package struct SubqueryRequest: Sendable, Hashable {
    package var className: String
    package var filter: JSONObject
    /// `redirectClassNameForKey` of the subquery: the class meant is the one this field leads to.
    package var redirectKey: String?
    /// Where the values to compare with stand in each row; `nil` where the rows themselves are meant.
    package var path: String?
}

/// Says what a subquery may find.
///
/// It is given the class and the `where` of a client, checks whether the client may ask it, runs triggers, and decodes
/// the `where` (which may hold subqueries in turn; it is for the resolver to bound how deep).
package protocol SubqueryResolver: Sendable {
    func subquery(for request: SubqueryRequest) async throws -> Subquery
}
