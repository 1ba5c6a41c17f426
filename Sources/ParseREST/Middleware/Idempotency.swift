import HTTP
import ParseCore
import ParseWire

/// Keeps a request from being carried out twice (Parse REST guide, "Idempotency").
enum Idempotency {
    /// The claim of a request that names itself, where the app's options cover it; `nil` for all others.
    static func claim(_ request: HTTPRequest, _ decoded: DecodedRequest, _ context: RequestContext)
        -> ClaimRequest?
    {
        guard let options = context.app.options.idempotency,
            decoded.method == .post || decoded.method == .put, !context.principal.isReadOnly,
            let id = request.headers.first(ParseHeader.requestID), !id.isEmpty,
            options.covers(path: decoded.path)
        else { return nil }
        return ClaimRequest(requestID: id, ttl: options.ttl)
    }
}

extension Endpoint {
    /// Runs, unless the same request came before.
    ///
    /// The id counts from here on, also when the request fails: only one that the server was too busy for may be sent
    /// again as it was.
    nonisolated(nonsending) func run(_ request: RESTRequest, once claim: ClaimRequest?) async throws
        -> RESTReply
    {
        guard let claim else { return try await run(request) }
        let app = request.context.app
        try await claim.run(in: app)
        do {
            return try await run(request)
        } catch let error as ParseError where error.retryAfterSeconds != nil {
            await claim.withdraw(in: app)
            throw error
        }
    }
}
