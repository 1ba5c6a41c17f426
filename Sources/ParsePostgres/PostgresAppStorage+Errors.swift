import ParseCore
import ParseWire
import Postgres

extension PostgresAppStorage {
    /// The one place where what PostgreSQL says becomes what core understands.
    static func translated(_ error: any Error, _ schema: StoredSchema?) -> StorageError {
        if let error = error as? StorageError { return error }
        guard let error = error as? PostgresError else { return .failed(String(describing: error)) }
        switch error.kind {
        case .server: return translated(server: error, schema)
        case .unavailable, .connectionLost: return .unavailable
        case .unknownOutcome: return .outcomeUnknown
        case .overloaded: return .overloaded
        case .closed: return .closed
        case .cancelled, .misuse: return .failed(error.description)
        }
    }

    private static func translated(server error: PostgresError, _ schema: StoredSchema?) -> StorageError {
        if error.isUniqueViolation {
            return .duplicate(error.constraint.flatMap { schema?.uniqueValue(constraint: $0) } ?? .other)
        }
        if error.isTimeout { return .refused(ParseError(.timeout, "The query took too long.")) }
        // Others got in the way five times.
        if error.isTransient { return .overloaded }
        switch error.sqlState {
        case DatabaseFunctions.tooLarge:
            return .refused(
                ParseError(.objectTooLarge, "The result is too large: ask for fewer objects at once.")
            )
        case "22021": return .textWithNUL
        case "2201B":
            return .refused(
                ParseError(.invalidQuery, "The regular expression takes too much work. Make it simpler.")
            )
        case "54000":
            // An index takes values up to 2,700 bytes.
            return .refused(
                ParseError(.invalidValue, "A value is too long for a field that is indexed or unique.")
            )
        case "54001", "54011", "54023":
            return .refused(ParseError(.invalidQuery, "The query is too complex."))
        // The server is about to stop, to start, or has as many connections as it takes.
        case "57P01", "57P02", "57P03", "53300": return .unavailable
        default: return .failed("\(error): \(error.message)")
        }
    }
}
