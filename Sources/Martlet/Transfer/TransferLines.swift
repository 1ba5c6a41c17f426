import JSON
import Locking

/// The lines of an export as they are read, with their numbers.
package final class TransferLines: Sendable {
    private let nextLine: @Sendable () throws -> [UInt8]?
    private let count = Locked(0)
    private static let limits = JSONLimits(bytes: bytes, depth: 256, values: .max)

    /// What an export may hold in one line, in bytes.
    package static let bytes = 64 << 20

    /// - Parameter nextLine: The next line without its end; `nil` after the last.
    package init(_ nextLine: @escaping @Sendable () throws -> [UInt8]?) {
        self.nextLine = nextLine
    }

    /// The number of the line that was taken last, from 1 on.
    var number: Int {
        count.withLock { $0 }
    }

    /// - Throws: ``ConfigurationError`` for a line that is no JSON; what reading throws.
    func next() throws -> JSONValue? {
        guard let line = try nextLine() else { return nil }
        count.withLock { $0 += 1 }
        do {
            return try JSONValue.parse(line, limits: Self.limits)
        } catch {
            throw ConfigurationError("it is no JSON: \(error.description)")
        }
    }
}
