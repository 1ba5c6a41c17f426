/// What a client asks of one class, checked and typed.
package struct RowQuery: Sendable, Hashable {
    package var className: String
    package var predicate: Predicate
    package var access: RowAccess
    package var order: [SortKey]
    /// Sorts by distance from here, nearest first, when ``order`` is empty; rows without that field are left out
    /// by the predicate.
    package var nearest: Nearest?
    /// At most so many rows.
    package var limit: Int
    package var skip: Int
    /// The fields that are wanted; `nil` for all.
    ///
    /// A database may read more.
    package var fields: Set<String>?

    package init(
        className: String,
        predicate: Predicate,
        access: RowAccess = .unrestricted,
        order: [SortKey] = [],
        nearest: Nearest? = nil,
        limit: Int = 100,
        skip: Int = 0,
        fields: Set<String>? = nil
    ) {
        self.className = className
        self.predicate = predicate
        self.access = access
        self.order = order
        self.nearest = nearest
        self.limit = limit
        self.skip = skip
        self.fields = fields
    }

    /// A place, and the field whose distance from it sorts.
    package struct Nearest: Sendable, Hashable {
        package var field: String
        package var center: GeoPoint

        package init(field: String, center: GeoPoint) {
            self.field = field
            self.center = center
        }
    }
}

/// One key of an order; an absent or null value sorts lowest.
///
/// The field may be a path, and `$score` is how well a row matches the text search of the query, best first when
/// ascending.
package struct SortKey: Sendable, Hashable {
    package static let score = "$score"

    package var field: String
    package var isDescending: Bool

    package init(field: String, isDescending: Bool = false) {
        self.field = field
        self.isDescending = isDescending
    }
}
