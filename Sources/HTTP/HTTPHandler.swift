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

    /// Whether the body of this request, which has one, is handed over while it arrives.
    func streamsBody(of head: HTTPRequestHead) -> Bool

    /// Answers a request of which only the head is there; its own `body` is empty.
    ///
    /// Asked where ``streamsBody(of:)`` says so. It may answer without having read all: a short rest is then
    /// thrown away, and for a long one the connection closes after the answer. An answer that is given
    /// although the body failed is replaced by that of ``respond(to:head:)``.
    nonisolated(nonsending) func respond(to request: HTTPRequest, body: HTTPBodyStream) async -> HTTPResponse

    /// The answer to a request the server itself refuses; `head` is `nil` when it could not be read.
    func respond(to failure: HTTPFailure, head: HTTPRequestHead?) -> HTTPResponse
}

extension HTTPHandler {
    /// Every body is collected first.
    package func streamsBody(of head: HTTPRequestHead) -> Bool { false }

    /// Collects the body after all.
    package nonisolated(nonsending) func respond(
        to request: HTTPRequest,
        body: HTTPBodyStream
    ) async -> HTTPResponse {
        var request = request
        do {
            request.body = try await body.collect()
        } catch {
            return respond(to: error, head: request.head)
        }
        return await respond(to: request)
    }
}
