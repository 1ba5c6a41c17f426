import ParseCore
import ParseWire
import SQLite

extension SQLiteAppStorage {
    /// What SQLite says of a statement that is too much for it.
    private static let excesses = [
        "parser stack overflow", "Expression tree is too large", "too many SQL variables", "too many terms",
        "string or blob too big",
    ]

    /// The one place where what SQLite says becomes what core understands.
    static func translated(_ error: any Error, _ schema: StoredSchema?) -> StorageError {
        if let error = error as? StorageError { return error }
        switch error as? SQLiteFileFormat.Mismatch {
        case .foreign: return .failed("the file is not the database of an app")
        case .later: return .failed("the file was written by a later version")
        case nil: break
        }
        guard let error = error as? SQLiteError else { return .failed(String(describing: error)) }
        if error == .closed { return .closed }
        if error == .queueFull { return .overloaded }
        if let refusal = error.cause as? ParseError { return .refused(refusal) }
        if let cause = error.cause { return .failed("a function failed: \(cause)") }
        if error.isInterrupted { return .refused(ParseError(.timeout, "The query took too long.")) }
        if excesses.contains(where: { error.message.hasPrefix($0) }) {
            return .refused(ParseError(.invalidQuery, "The query is too complex."))
        }
        guard error.isUniqueViolation else { return .failed(error.description) }
        return .duplicate(duplicate(error, schema))
    }

    private static func duplicate(_ error: SQLiteError, _ schema: StoredSchema?) -> UniqueValue {
        let columns = error.uniqueColumns
        if columns.contains(CommonColumn.usernameKey) { return .username }
        if columns.contains(CommonColumn.emailKey) { return .email }
        if columns.contains(CommonColumn.objectID) { return .objectID }
        guard columns.count == 1, let table = error.uniqueTable else { return .other }
        return schema?.uniqueField(table: table, column: columns[0]) ?? .other
    }
}
