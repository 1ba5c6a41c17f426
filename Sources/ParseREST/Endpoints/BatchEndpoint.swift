import ParseWire
import HTTP
import JSON
import ParseCore

/// Several requests in one (Parse REST guide, "Batch Operations").
///
/// The parts run side by side with the rights of the whole. They share one place in the queue of the password
/// hashing pool, so that a batch of log-ins does not keep others waiting.
struct Batch: Sendable {
    private struct Part: Sendable {
        var endpoint: Endpoint
        var parameters: PathParameters
        var body: JSONObject
    }

    let router: Router<Endpoint>
    let service: RESTService

    func run(_ request: RESTRequest) async throws -> RESTReply {
        let parts = try parts(of: request)
        let isTransaction = request.body["transaction"]?.isTruthy == true
        guard isTransaction else {
            return RESTReply(body: .json(.array(await results(of: parts, request))))
        }
        return RESTReply(body: .json(.array(try await transaction(of: parts, request))))
    }

    private func parts(of request: RESTRequest) throws(ParseError) -> [Part] {
        guard let requests = request.body["requests"]?.arrayValue else {
            throw ParseError(.invalidJSON, "requests must be an array")
        }
        let limit = request.context.app.options.batchRequestLimit
        if let limit, requests.count > limit, !request.context.principal.isUnrestricted {
            throw ParseError(
                .invalidJSON,
                "Batch request contains \(requests.count) sub-requests, which exceeds the limit of \(limit)."
            )
        }
        var parts: [Part] = []
        parts.reserveCapacity(requests.count)
        for entry in requests { parts.append(try part(entry, request)) }
        return parts
    }

    private func part(_ entry: JSONValue, _ request: RESTRequest) throws(ParseError) -> Part {
        guard let full = entry["path"]?.stringValue else {
            throw ParseError(.invalidJSON, "batch request path must be a string")
        }
        let method = entry["method"]?.stringValue ?? "undefined"
        guard let path = path(of: full, request) else {
            throw ParseError(.invalidJSON, "cannot route batch path \(full)")
        }
        if method == "POST", path == "/batch" {
            throw ParseError(.invalidJSON, "nested batch requests are not allowed")
        }
        guard
            let match = router.match(
                method: HTTPMethod(rawValue: method),
                path: path,
                caseInsensitive: false
            )
        else { throw ParseError(.invalidJSON, "cannot route \(method) \(path)") }
        return Part(
            endpoint: match.endpoint,
            parameters: match.parameters,
            body: entry["body"]?.objectValue ?? JSONObject()
        )
    }

    /// The path below the mount point; `nil` when it does not begin with one.
    private func path(of full: String, _ request: RESTRequest) -> String? {
        var prefixes = request.mount.isEmpty ? Mount.prefixes : [request.mount]
        if let url = request.context.app.options.publicServerURL { prefixes.append(Mount.path(ofURL: url)) }
        for prefix in prefixes where !prefix.isEmpty && full.hasPrefix(prefix + "/") {
            return String(full.dropFirst(prefix.count))
        }
        return request.mount.isEmpty && full.hasPrefix("/") ? full : nil
    }

    private func results(of parts: [Part], _ request: RESTRequest) async -> [JSONValue] {
        await withTaskGroup(of: (Int, JSONValue).self) { group in
            for (position, part) in parts.enumerated() {
                group.addTask { (position, await result(of: part, request)) }
            }
            var results = [JSONValue](repeating: .null, count: parts.count)
            for await (position, result) in group { results[position] = result }
            return results
        }
    }

    private func result(of part: Part, _ request: RESTRequest) async -> JSONValue {
        do {
            return ["success": try await reply(of: part, request, request.context)]
        } catch {
            return ["error": .object(ErrorResponse.batchEntry(service.known(error)))]
        }
    }

    /// All of it or nothing: the parts meet where each would write, and one write does it all.
    ///
    /// - Throws: ``BatchRolledBack`` when one of them fails; the contract keeps the reason to itself.
    private func transaction(of parts: [Part], _ request: RESTRequest) async throws -> [JSONValue] {
        let meeting = JointCommit(parts: parts.count)
        let app = request.context.app
        return try await withThrowingTaskGroup(of: (Int, JSONValue).self) { group in
            for (position, part) in parts.enumerated() {
                group.addTask {
                    var context = request.context
                    context.jointCommit = JointCommitPart(meeting: meeting, index: position)
                    do {
                        let reply = try await reply(of: part, request, context)
                        await meeting.leave(part: position, in: app)
                        return (position, ["success": reply])
                    } catch {
                        _ = service.known(error)
                        await meeting.abort(error)
                        throw BatchRolledBack()
                    }
                }
            }
            var results = [JSONValue](repeating: .null, count: parts.count)
            for try await (position, result) in group { results[position] = result }
            return results
        }
    }

    private func reply(
        of part: Part,
        _ request: RESTRequest,
        _ context: RequestContext
    ) async throws -> JSONValue {
        var request = request
        request.context = context
        request.parameters = part.parameters
        request.body = part.body
        request.query = []
        return try await part.endpoint.run(request).json()
    }
}

/// A part of a transaction failed, so nothing was written.
struct BatchRolledBack: Error {}
