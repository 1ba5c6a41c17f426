/// The application behind an ``HTTPServer``.
///
/// All members are called on the connection's event loop and must not block it.
package protocol HTTPHandler: Sendable {
    /// The largest body to accept for this request. A declared length over it is refused with 413 at once.
    func maxBodyBytes(for head: HTTPRequestHead) -> Int

    /// Answers a request. Cancelled when the client is gone or the server's shutdown runs out of time.
    func respond(to request: HTTPRequest) async -> HTTPResponse

    /// The answer to a request the server itself refuses; `head` is `nil` when it could not be read.
    func respond(to failure: HTTPFailure, head: HTTPRequestHead?) -> HTTPResponse
}
