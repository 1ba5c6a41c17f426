/// An SQL statement and its parameters, `$1` and following.
package struct PostgresStatement: Sendable, Hashable {
    package var sql: String
    package var parameters: [PostgresValue]
    /// Whether the connection keeps it prepared for the next use; not worth it for what runs once.
    package var isReusable: Bool

    package init(_ sql: String, _ parameters: [PostgresValue] = [], isReusable: Bool = true) {
        self.sql = sql
        self.parameters = parameters
        self.isReusable = isReusable
    }

    /// The protocol counts parameters in 16 bits.
    static let parameterLimit = 65_535

    /// Why it cannot be sent at all.
    var refusal: PostgresError? {
        if parameters.count > Self.parameterLimit {
            return PostgresError(.misuse, "a statement has more than 65535 parameters", statement: sql)
        }
        if sql.containsNUL || parameters.contains(where: \.containsNUL) {
            // As the server says where a client can send one.
            return PostgresError(.server, "text holds a NUL", sqlState: "22021", statement: sql)
        }
        return nil
    }
}

/// What a group of statements does, which decides what a lost connection means for it.
package enum PostgresEffect: Sendable, Hashable {
    /// Changes nothing: may be sent again.
    case reads
    /// Commits changes at its end: lost on the way, its outcome is unknown.
    case commits
    /// Is part of a transaction that goes on: lost on the way, the whole transaction is rolled back.
    case continues
}
