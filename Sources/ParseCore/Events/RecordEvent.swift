package import JSON
import ParseWire

/// Takes an event of an app's analytics (Parse REST guide, "Analytics").
///
/// Nothing counts events yet: what is well-formed is accepted, and that is all.
package struct RecordEvent: Sendable {
    package let name: String
    package let body: JSONObject
    private static let nameLimit = 255
    private static let sizeLimit = 16 * 1024

    package init(name: String, body: JSONObject) {
        self.name = name
        self.body = body
    }

    /// - Throws: ``ParseError``: 107 for a name that is empty, too long, or has control characters, 116 for more than
    ///   an event holds.
    package func run() throws(ParseError) -> JSONObject {
        guard !name.isEmpty, name.utf8.count <= Self.nameLimit,
            name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else {
            throw ParseError(
                .invalidJSON,
                "The name of an event has from 1 to \(Self.nameLimit) bytes and no control characters."
            )
        }
        guard ObjectSize.bytes(of: ["event": .object(body)]) <= Self.sizeLimit else {
            throw ParseError(.objectTooLarge, "An event is at most \(Self.sizeLimit) bytes.")
        }
        return [:]
    }
}
