import JSON
import ParseWire

/// What one aggregate may still use.
final class AggregateBudget {
    /// What groups, sorted documents and results may take in memory, about.
    static let byteLimit = 64 << 20
    static let timeLimit = Duration.seconds(30)

    private var bytesLeft: Int
    private let deadline: ContinuousClock.Instant

    init(bytes: Int = byteLimit, time: Duration = timeLimit) {
        bytesLeft = bytes
        deadline = ContinuousClock.now + time
    }

    /// Keeps so many bytes; negative to let them go.
    func keep(_ bytes: Int) throws(ParseError) {
        bytesLeft -= bytes
        guard bytesLeft >= 0 else { throw Self.tooLarge }
    }

    func keep(_ document: JSONObject) throws(ParseError) {
        try keep(Self.size(of: .object(document)))
    }

    /// Checks what is made of a few documents and soon gone again.
    func checkPassing(bytes: Int) throws(ParseError) {
        guard bytes <= bytesLeft else { throw Self.tooLarge }
    }

    /// - Throws: ``ParseError`` 124 when the time is up; `CancellationError` when nobody waits for the answer.
    func checkTime() throws {
        try Task.checkCancellation()
        guard ContinuousClock.now < deadline else {
            throw ParseError(
                .timeout,
                "The aggregate took longer than \(Self.timeLimit.components.seconds) seconds."
            )
        }
    }

    private static let tooLarge = ParseError.aggregate(
        "The aggregate needs more than \(byteLimit >> 20) MiB of memory. Use $match or $project to give it less."
    )

    /// About what a value takes in memory; not counted further where it is more than there is.
    static func size(of json: JSONValue) -> Int {
        var left = byteLimit + 1
        measure(json, &left)
        return byteLimit + 1 - left
    }

    /// Stops where nothing is left: parts of a value may be one in memory, and be many millions to go through.
    private static func measure(_ json: JSONValue, _ left: inout Int) {
        switch json {
        case .null, .bool, .number: left -= 24
        case .string(let text): left -= 24 + text.utf8.count
        case .array(let elements):
            left -= 56
            for element in elements where left > 0 { measure(element, &left) }
        case .object(let object):
            left -= 56
            for member in object where left > 0 {
                left -= 24 + member.key.utf8.count
                measure(member.value, &left)
            }
        }
    }
}
