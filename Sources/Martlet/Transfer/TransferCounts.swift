import JSON

/// How much an export holds, so that a file that was cut off is told from a whole one.
package struct TransferCounts: Sendable, Equatable {
    package var classes = 0
    package var rows = 0
    package var links = 0
    package var files = 0

    init() {}

    init(_ json: JSONValue) {
        classes = Self.count(json["classes"])
        rows = Self.count(json["rows"])
        links = Self.count(json["links"])
        files = Self.count(json["files"])
    }

    var json: JSONObject {
        [
            "classes": .number(Double(classes)), "rows": .number(Double(rows)),
            "links": .number(Double(links)), "files": .number(Double(files)),
        ]
    }

    private static func count(_ json: JSONValue?) -> Int {
        json?.numberValue.flatMap { Int(exactly: $0) } ?? -1
    }
}
