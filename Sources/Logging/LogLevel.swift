/// How much a line of the log matters; ordered from `debug` to `error`.
package enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    case debug, info, warning, error

    /// The level of that name as the log and the configuration write it, or `nil` when there is none.
    package init?(name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }

    /// The name in lower case.
    package var name: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .warning: "warning"
        case .error: "error"
        }
    }

    package static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rawValue < right.rawValue
    }
}
