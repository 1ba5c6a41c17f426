import CEventLoop

/// What the operating system refused: a loop, a socket, a listener.
package struct EventLoopError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A negative `errno` (libuv's convention), or 0 for a host name that could not be resolved.
    package let code: Int32
    /// What was tried, for example `listen on 127.0.0.1:80`.
    package let operation: String
    private let detail: String

    package init(code: Int32, operation: String) {
        self.init(code: code, operation: operation, detail: String(cString: cel_error_text(code)))
    }

    init(code: Int32, operation: String, detail: String) {
        self.code = code
        self.operation = operation
        self.detail = detail
    }

    package var description: String { "\(operation): \(detail)" }
}
