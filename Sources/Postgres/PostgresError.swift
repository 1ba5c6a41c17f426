/// An error of the server, of the way to it, or of the machinery around it.
package struct PostgresError: Error, Sendable, Hashable {
    /// What went wrong, for those who decide what to do next.
    package enum Kind: Sendable, Hashable {
        /// The server refused the statement; ``PostgresError/sqlState`` says why, and nothing of it was done.
        case server
        /// There is no connection to the server, and none could be made; nothing was sent.
        case unavailable
        /// The connection was lost before an answer; what was under way is rolled back.
        case connectionLost
        /// The connection was lost while a change was being committed: it may have been done or not.
        case unknownOutcome
        /// As many calls wait for a connection as may, or one has waited for too long; nothing was sent.
        case overloaded
        /// The caller's task was cancelled; nothing was done.
        case cancelled
        /// The pool or the connection was closed by us before the call.
        case closed
        /// A call that cannot be sent, or a result of another type than was asked for: our own mistake.
        case misuse
    }

    package let kind: Kind
    /// The five characters of PostgreSQL's error code; empty unless the server refused.
    package let sqlState: String
    /// The server's words, which may hold values: for the log, not for a client.
    package let message: String
    /// Of the constraint or unique index that refused the change.
    package let constraint: String?
    package let table: String?
    package let column: String?
    /// The SQL text, which holds placeholders instead of values.
    package var statement: String?
    /// The server's function that raised the error; tells errors of the same code apart.
    let routine: String?

    package init(
        _ kind: Kind,
        _ message: String,
        sqlState: String = "",
        constraint: String? = nil,
        table: String? = nil,
        column: String? = nil,
        statement: String? = nil
    ) {
        self.init(
            kind: kind,
            sqlState: sqlState,
            message: message,
            constraint: constraint,
            table: table,
            column: column,
            statement: statement,
            routine: nil
        )
    }

    init(
        kind: Kind,
        sqlState: String,
        message: String,
        constraint: String?,
        table: String?,
        column: String?,
        statement: String?,
        routine: String?
    ) {
        self.kind = kind
        self.sqlState = sqlState
        self.message = message
        self.constraint = constraint
        self.table = table
        self.column = column
        self.statement = statement
        self.routine = routine
    }
}

extension PostgresError {
    static let closed = PostgresError(.closed, "the connection is closed")
    static let cancelled = PostgresError(.cancelled, "the caller was cancelled")

    /// A row with the same key was there already; ``constraint`` names the index.
    package var isUniqueViolation: Bool { sqlState == "23505" }

    /// Any constraint of the schema refused the change.
    package var isConstraintViolation: Bool { sqlState.hasPrefix("23") }

    package var isUndefinedTable: Bool { sqlState == "42P01" }
    package var isUndefinedColumn: Bool { sqlState == "42703" }
    package var isUndefinedSchema: Bool { sqlState == "3F000" }

    /// Somebody else has made the table, column, schema or index meanwhile.
    package var isDuplicateDefinition: Bool {
        // Two who make the same thing at once can also meet in a system catalogue's unique index.
        ["42P07", "42701", "42P06", "42710", "23505"].contains(sqlState)
    }

    /// The statement took longer than `statement_timeout`, or was cancelled from outside.
    package var isTimeout: Bool { sqlState == "57014" }

    /// The transaction met another one and may be tried again as a whole: serialization failure or deadlock.
    package var isTransient: Bool { sqlState == "40001" || sqlState == "40P01" }

    /// A prepared statement's result has other columns than when it was prepared.
    var isStalePlan: Bool { sqlState == "0A000" && routine == "RevalidateCachedQuery" }

    /// Whether anybody else gets the same error for the same SQL text: syntax and names.
    var dependsOnText: Bool { sqlState.hasPrefix("42") || sqlState == "3F000" }

    /// There is no prepared statement of that name.
    var isUnknownStatement: Bool { sqlState == "26000" }
}

extension PostgresError: CustomStringConvertible {
    /// The code and the SQL text; neither values nor the server's detailed words.
    package var description: String {
        var text = "PostgreSQL: "
        switch kind {
        case .server: text += "error \(sqlState)"
        case .unavailable, .overloaded, .cancelled, .closed, .misuse: text += message
        case .connectionLost: text += "the connection was lost"
        case .unknownOutcome: text += "the connection was lost while committing; the outcome is unknown"
        }
        if let constraint { text += " (constraint \(constraint))" }
        if let statement { text += " in: \(statement.prefix(500))" }
        return text
    }
}
