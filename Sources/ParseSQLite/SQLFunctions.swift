import ParseCore
import SQLite

/// The functions that statements of this adapter call, on each connection.
enum SQLFunctions {
    static let test = "martlet_test"
    static let distance = "martlet_distance"

    static func add(to connection: SQLiteConnection) throws {
    }
}
