/// Quoting of names that are put into SQL text.
package enum SQLiteIdentifier {
    /// The name in double quotes, with the quotes inside doubled: the only way a name may enter SQL text.
    ///
    /// Connections refuse double-quoted text that names nothing, so a wrong name is an error and never
    /// becomes a string literal. A NUL is our own mistake (it would end the statement): it stops the process.
    package static func quoted(_ name: String) -> String {
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
