package import JSON
import ParseWire

/// The parameters of reading one object by its id.
package enum GetOptions {
    private static let known: Set<String> = [
        "keys", "include", "excludeKeys", "readPreference", "includeReadPreference", "subqueryReadPreference",
    ]

    /// Reads the parameters.
    ///
    /// - Throws: ``ParseError`` 102 for any other parameter.
    package static func selection(_ parameters: JSONObject) throws(ParseError) -> Selection {
        for name in parameters.keys where !known.contains(name) {
            throw ParseError(.invalidQuery, "Improper encode of parameter")
        }
        try ReadPreference.check(parameters)
        return try Selection(parameters)
    }
}
