/// A value as SQLite stores it, or an object that is lent to functions.
package enum SQLiteValue: Sendable, Hashable {
    case null
    case integer(Int64)
    /// A finite number or an infinity: SQLite stores NaN as NULL.
    case real(Double)
    /// Text, which may contain NUL.
    case text(String)
    case blob([UInt8])
    /// Something that functions added to the connection get as it is (``SQLiteArguments/object(_:as:)``); SQL itself
    /// takes it for NULL. Only for parameters.
    case object(SQLiteObject)
}

/// What a parameter can carry to a function past SQL.
package final class SQLiteObject: Sendable {
    package let value: any AnyObject & Sendable

    package init(_ value: any AnyObject & Sendable) {
        self.value = value
    }

    /// The tag under which SQLite keeps the pointer, so that nothing else is taken for one.
    // SAFETY: a static string lives as long as the process.
    static var tag: UnsafePointer<CChar> {
        let name: StaticString = "SQLiteObject"
        return UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

extension SQLiteObject: Hashable {
    package static func == (left: SQLiteObject, right: SQLiteObject) -> Bool {
        left === right
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
