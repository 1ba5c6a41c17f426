import JSON
import ParseWire

/// The parameters `readPreference` and its like, which name replicas; there is one database here.
enum ReadPreference {
    private static let names = ["readPreference", "includeReadPreference", "subqueryReadPreference"]
    private static let values: Set<String> = [
        "PRIMARY", "PRIMARY_PREFERRED", "SECONDARY", "SECONDARY_PREFERRED", "NEAREST",
    ]

    static func check(_ parameters: JSONObject) throws(ParseError) {
        for name in names {
            guard let value = parameters[name], !value.isNull else { continue }
            guard let text = value.stringValue, values.contains(text.uppercased()) else {
                throw ParseError(.invalidQuery, "Not supported read preference.")
            }
        }
    }
}
