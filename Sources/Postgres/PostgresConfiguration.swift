import EventLoop

/// Where a server is and how we use it.
package struct PostgresConfiguration: Sendable {
    /// `postgres://user:password@host:port/database?parameter=value`, as libpq understands it.
    ///
    /// Its parameters win over the time-outs below. It may hold a password: never print it.
    package var url: String
    /// Shown in `pg_stat_activity`.
    package var applicationName = "martlet"
    /// For one host, in whole seconds, at least 2.
    package var connectTimeout: Duration = .seconds(2)
    /// After this the server gives a statement up (SQLSTATE 57014).
    package var statementTimeout: Duration = .seconds(10)
    /// How long we wait for a byte of an answer before we take the connection for dead.
    package var answerTimeout: Duration = .seconds(13)
    /// How long the network may leave sent data unacknowledged before the connection is dead.
    package var deadPeerTimeout: Duration = .seconds(5)
    /// Set on each connection before its first statement.
    package var settings: [(name: String, value: String)] = []
    /// Prepared statements that a connection keeps.
    package var statementLimit = 256

    /// How many connections a pool opens at most.
    package var connectionLimit = 8
    /// How many calls may wait for a connection.
    package var queueLimit = 1024
    /// How long a call may wait for a connection.
    package var queueTimeout: Duration = .seconds(5)
    /// How many reads may be under way on one connection.
    package var pipelineLimit = 8

    package init(url: String) {
        self.url = url
    }

    var allSettings: [(name: String, value: String)] {
        [
            ("statement_timeout", "\(statementTimeout.wholeMilliseconds)"),
            // A process that is stopped in the middle of a transaction must not keep its locks.
            ("idle_in_transaction_session_timeout", "60000"),
            ("extra_float_digits", "1"),
            ("standard_conforming_strings", "on"),
            ("TimeZone", "UTC"),
            ("client_min_messages", "error"),
        ] + settings
    }
}
