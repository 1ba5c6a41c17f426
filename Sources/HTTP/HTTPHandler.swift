/// The application behind an ``HTTPServer``.
///
/// All members are called on the connection's event loop and must not block it.
package protocol HTTPHandler: Sendable {
    /// The largest body to accept for this request. A declared length over it is refused with 413 at once.
    func maxBodyBytes(for head: HTTPRequestHead) -> Int

    /// Answers a request; cancelled when the client is gone or the server's shutdown runs out of time.
    ///
    /// `nonisolated(nonsending)` spares two looks for the right executor, 0.2 µs a request, if the handler
    /// declares it too; it need not.
    nonisolated(nonsending) func respond(to request: HTTPRequest) async -> HTTPResponse

    /// The answer to a request the server itself refuses; `head` is `nil` when it could not be read.
    func respond(to failure: HTTPFailure, head: HTTPRequestHead?) -> HTTPResponse
}
