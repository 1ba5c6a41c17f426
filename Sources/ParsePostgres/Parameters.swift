import Postgres

/// The parameters of a statement in the making, by number.
final class Parameters {
    private(set) var values: [PostgresValue] = []
    private var aliases = 0

    /// Adds a value.
    ///
    /// - Returns: What stands for it in the SQL text.
    func add(_ value: PostgresValue) -> String {
        values.append(value)
        return "$\(values.count)"
    }

    /// A name for a table or its like that the statement does not have yet.
    func newAlias() -> String {
        aliases += 1
        return "t\(aliases)"
    }
}
