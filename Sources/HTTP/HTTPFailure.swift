/// Why a request was refused before a handler saw it.
package struct HTTPFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The status to answer with: 400, 408, 413, 414, 417, 431, 500, 501, 503 or 505.
    package let status: Int
    /// What was wrong, safe to show to anyone.
    package let reason: String

    package init(status: Int, reason: String) {
        self.status = status
        self.reason = reason
    }

    package var description: String { "\(status) \(reason)" }

    static func badRequest(_ reason: String) -> HTTPFailure { HTTPFailure(status: 400, reason: reason) }
    static let bodyTooLarge = HTTPFailure(status: 413, reason: "request entity too large")
}
