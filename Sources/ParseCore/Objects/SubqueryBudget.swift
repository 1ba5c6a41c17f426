import Locking
import ParseWire

/// Counts what all subqueries of one query have together.
///
/// They are parts of one statement, and each may hold others: limits for each alone would multiply.
final class SubqueryBudget: Sendable {
    private let spent = Locked((subqueries: 0, conditions: 0))

    /// Counts one subquery more.
    ///
    /// - Throws: ``ParseError`` 102 when there were as many as there may be.
    func spendSubquery() throws(ParseError) {
        let count = spent.withLock { spent in
            spent.subqueries += 1
            return spent.subqueries
        }
        guard count <= WhereDecoder.subqueryLimit else { throw .tooManySubqueries }
    }

    /// Counts the conditions of one subquery.
    ///
    /// - Throws: ``ParseError`` 102 when there are more than one query may have.
    func spend(conditions: Int) throws(ParseError) {
        let count = spent.withLock { spent in
            spent.conditions += conditions
            return spent.conditions
        }
        guard count <= WhereDecoder.conditionLimit else { throw .tooManyConditions }
    }
}
