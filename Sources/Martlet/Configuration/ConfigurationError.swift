/// Why the server does not start, or a command does nothing: one line that says what would be right.
package struct ConfigurationError: Error, CustomStringConvertible, Sendable, Hashable {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
