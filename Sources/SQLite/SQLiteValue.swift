/// A value as SQLite stores it.
package enum SQLiteValue: Sendable, Hashable {
    case null
    case integer(Int64)
    /// A finite number or an infinity: SQLite stores NaN as NULL.
    case real(Double)
    /// Text, which may contain NUL.
    case text(String)
    case blob([UInt8])
}
