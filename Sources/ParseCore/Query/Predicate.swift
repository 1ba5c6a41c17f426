/// A condition on a row.
///
/// The semantics are MongoDB's on every database. A field is absent, null, or has a value: equality with null finds
/// absent values too, and a negation matches rows that have no value. On a field that holds an array a condition
/// holds when it holds for one of its elements, and equality with an array also when the arrays are equal. Values of
/// different types are neither equal nor ordered. A field may be a path: after a dot come the keys of objects and
/// the indexes of arrays, and a key leads into each element of an array on the way. A field that the class does not
/// have is absent everywhere.
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
    /// All elements of the array are among these; holds too for what is no array, and for absent and null.
    case containedBy(String, [FieldValue])
    /// Text that the regular expression is found in.
    case matches(String, TextPattern)
    /// Text that holds the words (`$text`).
    case search(String, TextSearch)
    /// A geo point not farther from the centre than so many radians.
    case near(String, GeoPoint, maxRadians: Double?)
    /// A geo point inside of an area, its border included.
    case inside(String, GeoArea)
    /// A polygon that has the point in it or on its border.
    case covers(String, GeoPoint)
    /// A pointer to one of the rows that the subquery finds; on a relation, a link to one of them.
    case amongObjects(String, Subquery)
    /// A value that one of the rows that the subquery finds has at this path; elements of arrays count.
    case amongValues(String, Subquery, path: String)
    /// The row is linked from that field of the owner (`$relatedTo`).
    case related(ownerClass: String, ownerID: String, field: String)
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

    /// Both conditions; `everything` adds nothing.
    package func and(_ other: Predicate) -> Predicate {
        switch (self, other) {
        case (.everything, _): other
        case (_, .everything): self
        default: .all([self, other])
        }
    }
}

/// The rows of another query, all of them: order, limit and skip of a subquery do not count.
package struct Subquery: Sendable, Hashable {
    package var className: String
    package var predicate: Predicate
    package var access: RowAccess

    package init(className: String, predicate: Predicate, access: RowAccess) {
        self.className = className
        self.predicate = predicate
        self.access = access
    }
}

/// A regular expression as clients write it: PCRE's syntax, found anywhere in the text unless it says otherwise.
package struct TextPattern: Sendable, Hashable {
    package var pattern: String
    package var options: Options

    package init(_ pattern: String, options: Options = []) {
        self.pattern = pattern
        self.options = options
    }

    /// The letters of `$options`; `u` is always on.
    package struct Options: OptionSet, Sendable, Hashable {
        package let rawValue: Int

        package init(rawValue: Int) {
            self.rawValue = rawValue
        }

        package static let ignoresCase = Options(rawValue: 1)
        package static let multiline = Options(rawValue: 2)
        package static let extended = Options(rawValue: 4)
        package static let dotMatchesLineEnds = Options(rawValue: 8)
    }
}

/// Words to find in a text (`$text`).
package struct TextSearch: Sendable, Hashable {
    package var term: String
    /// Chooses stemming and stop words; English without it.
    package var language: String?
    package var isCaseSensitive: Bool
    package var isDiacriticSensitive: Bool

    package init(
        term: String,
        language: String? = nil,
        isCaseSensitive: Bool = false,
        isDiacriticSensitive: Bool = false
    ) {
        self.term = term
        self.language = language
        self.isCaseSensitive = isCaseSensitive
        self.isDiacriticSensitive = isDiacriticSensitive
    }
}

/// A place on the earth, in degrees.
package struct GeoPoint: Sendable, Hashable {
    /// -90…90.
    package var latitude: Double
    /// -180…180.
    package var longitude: Double

    package init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// An area in the plane of latitude and longitude.
package enum GeoArea: Sendable, Hashable {
    case box(southWest: GeoPoint, northEast: GeoPoint)
    /// Corners in order; the last is joined to the first.
    case polygon([GeoPoint])
}
