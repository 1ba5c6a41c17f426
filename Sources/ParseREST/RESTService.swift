import Cryptography
import EventLoop
package import HTTP
import JSON
package import Logging
package import ParseCore
import ParseWire

/// The REST API as an HTTP handler.
///
/// The order of what happens to a request can be seen from outside; it is written here from top to bottom.
package final class RESTService: HTTPHandler {
    let apps: any AppResolver
    /// The options of a request before its app is known, and of apps without their own.
    private let defaults: AppOptions
    /// The largest body of any app, for heads that do not tell the app.
    private let optionsByApp: @Sendable (String) -> AppOptions?
    private let router: Router<Endpoint>
    let authenticator: Authenticator
    let defaultCORS: CORS
    private let logger: Logger
    private let largeBodies = BlockingPool(name: "bodies", threads: 1, queueLimit: 32)

    /// - Parameters:
    ///   - apps: Opens the app that a request names.
    ///   - defaults: The options that hold for every app.
    ///   - optionsByApp: The options of an app by its id, without opening it.
    ///   - logger: Where faults of the server go.
    package init(
        apps: any AppResolver,
        defaults: AppOptions,
        optionsByApp: @escaping @Sendable (String) -> AppOptions?,
        logger: Logger
    ) {
        self.apps = apps
        self.defaults = defaults
        self.optionsByApp = optionsByApp
        self.logger = logger
        router = .rest()
        authenticator = Authenticator(apps: apps)
        defaultCORS = CORS(defaults)
    }

    package func maxBodyBytes(for head: HTTPRequestHead) -> Int {
        guard head.hasBody else { return defaults.maxUploadSize }
        let id = head.headers.first(ParseHeader.applicationID)
        return (id.flatMap(optionsByApp) ?? defaults).maxUploadSize
    }

    package func respond(to failure: HTTPFailure, head: HTTPRequestHead?) -> HTTPResponse {
        response(
            failure.status,
            .object(["error": .string(failure.reason)]),
            defaultCORS.jsonLines(for: head?.headers)
        )
    }

    package nonisolated(nonsending) func respond(to request: HTTPRequest) async -> HTTPResponse {
        if request.method == .options { return Self.preflight(defaultCORS.lines(for: request.headers)) }
        if FileRoute.isFiles(request.path) {
            return await respond(to: request, body: HTTPBodyStream(request.body))
        }
        let cors = defaultCORS.jsonLines(for: request.headers)
        do {
            if Self.isHealth(request.path) { return response(200, .object(["status": "ok"]), cors) }
            var decoded = try await decoded(request)
            var keys = RequestKeys(request.headers)
            let app = try await authenticator.app(&keys, &decoded.body)
            defer { apps.release(app) }
            return await respond(to: request, decoded, keys, app)
        } catch {
            return failure(error, cors, request)
        }
    }

    /// A large body is read away from the event loop, one at a time: that costs milliseconds for each megabyte, and
    /// many times its size in memory while it lasts.
    private nonisolated(nonsending) func decoded(_ request: HTTPRequest) async throws -> DecodedRequest {
        let limit = maxBodyBytes(for: request.head)
        guard request.body.count > RequestLimits.inlineBodyBytes else {
            return try DecodedRequest(request, maxBodyBytes: limit)
        }
        return try await largeBody { try DecodedRequest(request, maxBodyBytes: limit) }
    }

    nonisolated(nonsending) func largeBody<Value: Sendable>(
        _ read: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        do {
            return try await largeBodies.run(read)
        } catch BlockingPoolError.queueFull {
            throw ParseError.overloaded
        }
    }

    /// What an app lets browsers do.
    func cors(of app: App) -> CORS {
        CORS.isSame(app.options, defaults) ? defaultCORS : CORS(app.options)
    }

    private nonisolated(nonsending) func respond(
        to request: HTTPRequest,
        _ decoded: DecodedRequest,
        _ keys: RequestKeys,
        _ app: App
    ) async -> HTTPResponse {
        let policy = cors(of: app)
        let cors = policy.jsonLines(for: request.headers)
        do {
            let method = decoded.method == .head ? HTTPMethod.get : decoded.method
            let isBatch = method == .post && Self.isBatch(decoded.path)
            // What has much to say takes long to look at, too.
            let isLarge = request.body.count > RequestLimits.inlineBodyBytes
            let match = isBatch ? nil : router.match(method: method, path: decoded.path)
            let traits = match?.endpoint.traits ?? []
            let client = Self.client(of: request, app)
            let principal = try await authenticator.principal(keys, app, client: client, traits)
            let context = RequestContext(
                app: app,
                principal: principal,
                sessionToken: traits.contains(.ignoresSession) ? nil : keys.sessionToken,
                installationID: keys.installationID,
                lane: traits.contains(.isPlainRead) ? nil : HashingLane(),
                baseURL: { [mount = decoded.mount] in Self.base(request, app, mount) }
            )
            var rest = RESTRequest(
                context: context,
                parameters: match?.parameters ?? PathParameters([]),
                query: decoded.query,
                body: decoded.body,
                mount: decoded.mount
            )
            if isBatch {
                let batch = Batch(router: router, service: self)
                let reply =
                    isLarge
                    ? try await aside { [rest] in try await batch.run(rest) } : try await batch.run(rest)
                return response(reply, request, app, decoded.mount, cors)
            }
            guard let match else { return Self.notFound(request, policy.lines(for: request.headers)) }
            if traits.contains(.judgesMasterKey), case .master = principal {
                rest.masterKeyIsStrong = keys.keys.masterKey.map(MasterKeyStrength.isStrong)
            }
            let claim = Idempotency.claim(request, decoded, context)
            let reply =
                isLarge
                ? try await aside { [rest] in try await match.endpoint.run(rest, once: claim) }
                : try await match.endpoint.run(rest, once: claim)
            return response(reply, request, app, decoded.mount, cors)
        } catch {
            return failure(error, cors, request)
        }
    }

    /// The error if it is one that a client may be told; `nil`, and a line in the log, for a fault of the
    /// server.
    func known(_ error: any Error) -> ParseError? {
        if let error = error as? ParseError { return error }
        if error is CancellationError || error is BatchRolledBack { return nil }
        logger.error("a request failed", [("error", .string(String(describing: error)))])
        return nil
    }

    /// The address of the client.
    ///
    /// A proxy may add a line of its own behind one that the client made up, so all lines count, as one.
    static func client(of request: HTTPRequest, _ app: App) -> String {
        guard app.options.trustProxy != .nobody else { return request.remoteAddress }
        let forwarded = request.headers.all("X-Forwarded-For").joined(separator: ",")
        return app.options.trustProxy.client(peer: request.remoteAddress, forwardedFor: forwarded)
    }

    private static func isHealth(_ path: String) -> Bool {
        guard path.utf8.count <= 16 else { return false }
        let path = Mount.split(path).path.lowercased()
        return path == "/health" || path == "/health/"
    }

    private static func isBatch(_ path: String) -> Bool {
        guard path.utf8.count <= 8 else { return false }
        let path = path.lowercased()
        return path == "/batch" || path == "/batch/" || path == "//batch"
    }
}

extension RESTService {
    func failure(_ error: any Error, _ cors: [UInt8], _ request: HTTPRequest) -> HTTPResponse {
        if let refusal = error as? RequestRefusal {
            return response(refusal.status, .object(["error": .string(refusal.message)]), cors)
        }
        if let failure = error as? HTTPFailure {
            return response(failure.status, .object(["error": .string(failure.reason)]), cors)
        }
        guard let error = known(error) else {
            return response(
                ErrorResponse.internalFault.status,
                .object(ErrorResponse.internalFault.body),
                cors
            )
        }
        let reply = ErrorResponse.make(error)
        var response = response(reply.status, .object(reply.body), cors)
        if let seconds = error.retryAfterSeconds { response.headers.add("Retry-After", String(seconds)) }
        return response
    }

    private func response(
        _ reply: RESTReply,
        _ request: HTTPRequest,
        _ app: App,
        _ mount: String,
        _ cors: [UInt8]
    ) -> HTTPResponse {
        let bytes = reply.encoded
        var response = HTTPResponse(status: reply.status, body: bytes)
        response.preformattedHeaders = cors
        if let location = reply.location {
            response.headers.add("Location", Self.base(request, app, mount) + location)
        }
        guard request.method == .get || request.method == .head, reply.status == 200 else { return response }
        let tag = EntityTag.weak(of: bytes)
        response.headers.add("ETag", tag)
        if let known = request.headers.first("If-None-Match"), Self.lists(known, tag) {
            response.status = 304
            response.body = []
        }
        return response
    }

    func response(_ status: Int, _ body: JSONValue, _ cors: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(status: status, body: body.serialized())
        response.preformattedHeaders = cors
        return response
    }

    private static func preflight(_ cors: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(status: 200, body: Array("OK".utf8))
        response.preformattedHeaders = cors + Array("Content-Type: text/plain; charset=utf-8\r\n".utf8)
        return response
    }

    static func notFound(_ request: HTTPRequest, _ cors: [UInt8]) -> HTTPResponse {
        let what = escaped("Cannot \(request.method.rawValue) \(request.path)")
        let page = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <title>Error</title>
            </head>
            <body>
            <pre>\(what)</pre>
            </body>
            </html>

            """
        var response = HTTPResponse(status: 404, body: Array(page.utf8))
        response.preformattedHeaders =
            cors
            + Array(
                ("Content-Type: text/html; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n"
                    + "Content-Security-Policy: default-src 'none'\r\n").utf8
            )
        return response
    }

    private static func escaped(_ text: String) -> String {
        let entities: [Character: String] = [
            "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;",
        ]
        return text.map { entities[$0] ?? String($0) }.joined()
    }

    /// The address clients know the mount point by.
    static func base(_ request: HTTPRequest, _ app: App, _ mount: String) -> String {
        if let url = app.options.publicServerURL { return url }
        let isTrusted = app.options.trustProxy.trusts(peer: request.remoteAddress)
        let forwarded = isTrusted ? request.headers.first("X-Forwarded-Proto") : nil
        let scheme = forwarded?.lowercased() == "https" ? "https" : "http"
        let host =
            (isTrusted ? request.headers.first("X-Forwarded-Host") : nil) ?? request.headers.first("Host")
        return "\(scheme)://\(host ?? "localhost")\(mount)"
    }

    /// Whether `If-None-Match` names the tag (RFC 9110, section 13.1.2; weak comparison).
    static func lists(_ header: String, _ tag: String) -> Bool {
        let bare = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
        return header.split(separator: ",").contains { part in
            let candidate = part.drop { $0 == " " }.prefix { $0 != " " }
            return candidate == "*"
                || (candidate.hasPrefix("W/") ? candidate.dropFirst(2) : candidate) == bare
        }
    }
}
