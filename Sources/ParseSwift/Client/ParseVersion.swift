import Foundation

/// A version of this module, three numbers with dots.
public struct ParseVersion: ParseTypeable, Hashable, Comparable {
    /// The version of the module in use.
    static let library = "0.1.0"

    /// The version of the module in use.
    public static var current: String? { library }

    /// The version of the module in use.
    ///
    /// - Throws: Never; the form is that of the newer line.
    /// - Returns: The version.
    public static func current() async throws -> ParseVersion {
        try ParseVersion(string: library)
    }

    private let parts: [Int]

    /// Reads a version such as `4.9.3`.
    ///
    /// - Throws: ``ParseError`` when the text is not one to three numbers with dots between them.
    public init(string: String) throws {
        let parts = string.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...3).contains(parts.count), parts.allSatisfy({ ($0 ?? -1) >= 0 }) else {
            throw ParseError(code: .otherCause, message: "\"\(string)\" is not a version.")
        }
        self.parts = parts.compactMap(\.self) + Array(repeating: 0, count: 3 - parts.count)
    }

    /// Reads a version from a string.
    public init(from decoder: any Decoder) throws {
        try self.init(string: decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the version as a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(debugDescription)
    }

    /// Whether the left version is older.
    public static func < (left: ParseVersion, right: ParseVersion) -> Bool {
        left.parts.lexicographicallyPrecedes(right.parts)
    }

    /// The numbers with dots between them.
    public var debugDescription: String {
        parts.map(String.init).joined(separator: ".")
    }
}
