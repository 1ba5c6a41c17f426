/// What a client asks of one class, checked and typed.
package struct RowQuery: Sendable {
    package var className: String
    package var predicate: Predicate
    package var access: RowAccess
    package var order: [SortKey]
    /// At most so many rows.
    package var limit: Int
    package var skip: Int

    package init(
        className: String,
        predicate: Predicate,
        access: RowAccess = .unrestricted,
        order: [SortKey] = [],
        limit: Int = 100,
        skip: Int = 0
    ) {
        self.className = className
        self.predicate = predicate
        self.access = access
        self.order = order
        self.limit = limit
        self.skip = skip
    }
}

/// One key of an order; an absent or null value sorts lowest.
package struct SortKey: Sendable, Hashable {
    package var field: String
    package var isDescending: Bool

    package init(field: String, isDescending: Bool = false) {
        self.field = field
        self.isDescending = isDescending
    }
}

/// A condition on a row.
///
/// The semantics are MongoDB's on every database: equality with null finds absent values too, and a negation
/// matches rows that have no value.
package indirect enum Predicate: Sendable, Hashable {
    case everything
    case all([Predicate])
    case any([Predicate])
    case none([Predicate])
    case equal(String, FieldValue)
    case notEqual(String, FieldValue)
    case among(String, [FieldValue])
    case notAmong(String, [FieldValue])
    case compare(String, Comparison, FieldValue)
    /// Whether the field is there, an explicit null included.
    case exists(String, Bool)
    /// Users whose name is this one, without regard to case.
    case usernameKey(String)
    /// Users whose address is this one, without regard to case.
    case emailKey(String)
    /// Equality of a hidden column (``HiddenField``).
    case hidden(String, FieldValue)

    package enum Comparison: Sendable, Hashable {
        case less, lessOrEqual, greater, greaterOrEqual
    }

    package static func id(_ objectID: String) -> Predicate {
        .equal("objectId", .string(objectID))
    }

    package static func pointsTo(user userID: String, by field: String = "user") -> Predicate {
        .equal(field, .pointer(className: SystemClasses.user, objectID: userID))
    }
}
