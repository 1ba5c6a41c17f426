/// Quoting of names that are put into SQL text.
package enum PostgresIdentifier {
    /// How many bytes of a name PostgreSQL keeps; it cuts longer ones off without an error.
    package static let byteLimit = 63

    /// The name in double quotes, with the quotes inside doubled: the only way a name may enter SQL text.
    ///
    /// A NUL or an empty name, and one that PostgreSQL would cut off, is our own mistake: it stops the process.
    package static func quoted(_ name: String) -> String {
        precondition(!name.isEmpty && name.utf8.count <= byteLimit, "A name has 1 to 63 bytes.")
        var result = "\""
        result.reserveCapacity(name.utf8.count + 2)
        for scalar in name.unicodeScalars {
            precondition(scalar != "\0", "A name in SQL text must not contain NUL.")
            if scalar == "\"" { result.unicodeScalars.append("\"") }
            result.unicodeScalars.append(scalar)
        }
        result.append("\"")
        return result
    }
}
