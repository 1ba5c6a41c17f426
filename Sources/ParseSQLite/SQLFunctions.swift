import ParseCore
import SQLite

/// The functions that statements of this adapter call, on each connection.
///
/// Their first argument is an object that knows what is asked; the others are the columns of one field.
enum SQLFunctions {
    /// Whether a ``LeafTest`` holds.
    static let test = "martlet_test"
    /// How well a text search of a ``LeafTest`` is matched.
    static let score = "martlet_score"
    /// The values at a ``FieldPath`` as a JSON array of texts, those of arrays one by one.
    static let keys = "martlet_keys"
    /// As ``keys``, with whole arrays too.
    static let allKeys = "martlet_all_keys"
    /// The ids that pointers at a ``FieldPath`` lead to, as a JSON array.
    static let pointers = "martlet_pointers"
    /// What sorts a ``FieldPath`` ascending, and descending.
    static let lowest = "martlet_lowest"
    static let highest = "martlet_highest"
    /// The distance of two places in radians: latitude and longitude of each.
    static let distance = "martlet_distance"

    static func add(to connection: SQLiteConnection) throws {
        // A field has one column or two.
        for count in [2, 3] {
            try connection.addFunction(test, argumentCount: count) { arguments in
                .integer(try object(arguments, LeafTest.self).matches(arguments) ? 1 : 0)
            }
            try connection.addFunction(score, argumentCount: count) { arguments in
                .real(try object(arguments, LeafTest.self).score(arguments))
            }
            try addPathFunctions(to: connection, argumentCount: count)
        }
        try connection.addFunction(distance, argumentCount: 4) { arguments in
            guard !arguments.isNull(0) else { return .null }
            let place = GeoPoint(latitude: arguments.double(0), longitude: arguments.double(1))
            let center = GeoPoint(latitude: arguments.double(2), longitude: arguments.double(3))
            return .real(center.radians(to: place))
        }
    }

    private static func addPathFunctions(
        to connection: SQLiteConnection,
        argumentCount count: Int
    ) throws {
        try connection.addFunction(keys, argumentCount: count) { arguments in
            .text(try object(arguments, FieldPath.self).keys(arguments, whole: false))
        }
        try connection.addFunction(allKeys, argumentCount: count) { arguments in
            .text(try object(arguments, FieldPath.self).keys(arguments, whole: true))
        }
        try connection.addFunction(pointers, argumentCount: count) { arguments in
            .text(try object(arguments, FieldPath.self).pointers(arguments))
        }
        try connection.addFunction(lowest, argumentCount: count) { arguments in
            try object(arguments, FieldPath.self).sortKey(arguments, isDescending: false)
        }
        try connection.addFunction(highest, argumentCount: count) { arguments in
            try object(arguments, FieldPath.self).sortKey(arguments, isDescending: true)
        }
    }

    private static func object<T: AnyObject>(
        _ arguments: borrowing SQLiteArguments,
        _ type: T.Type
    ) throws -> T {
        guard let object = arguments.object(0, as: type) else {
            throw StorageError.failed("a function was called without its object")
        }
        return object
    }
}
