import ParseWire
import HTTP
import JSON
import Locking
import ParseCore

/// Several requests in one (Parse REST guide, "Batch Operations").
///
/// The parts run side by side with the rights of the whole, but of those that read only a few at once, since each
/// may hold the whole of a large answer. They share one place in the queue of the password
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
        var request = request
        request.context.moment = request.context.app.now
        let parts = try parts(of: request)
        let isTransaction = request.body["transaction"]?.isTruthy == true
        let replies =
            isTransaction ? try await transaction(of: parts, request) : await results(of: parts, request)
        var writer = JSONWriter(capacity: replies.reduce(2) { $0 + $1.count + 1 })
        writer.writeRaw("[")
        for (position, reply) in replies.enumerated() {
            if position > 0 { writer.writeRaw(",") }
            writer.writeRaw(reply)
        }
        writer.writeRaw("]")
        return RESTReply(body: .encoded(writer.bytes))
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

    /// So many parts that read run at once.
    private static let readLanes = 2

    /// The places of the parts, those in one list to be run one after the other.
    ///
    /// Whatever may write has a list of its own: in a transaction such parts wait for each other.
    private static func lanes(of parts: [Part]) -> [[Int]] {
        var reads = [[Int]](repeating: [], count: readLanes)
        var readCount = 0
        var lanes: [[Int]] = []
        for (position, part) in parts.enumerated() {
            if part.endpoint.traits.contains(.isPlainRead) {
                reads[readCount % readLanes].append(position)
                readCount += 1
            } else {
                lanes.append([position])
            }
        }
        return lanes + reads.filter { !$0.isEmpty }
    }

    /// Each encoded.
    private func results(of parts: [Part], _ request: RESTRequest) async -> [[UInt8]] {
        let budget = ReplyBudget()
        return await withTaskGroup(of: [(Int, [UInt8])].self) { group in
            for positions in Self.lanes(of: parts) {
                group.addTask {
                    var results: [(Int, [UInt8])] = []
                    for position in positions {
                        results.append((position, await result(of: parts[position], request, budget)))
                    }
                    return results
                }
            }
            var results = [[UInt8]](repeating: [], count: parts.count)
            for await lane in group {
                for (position, result) in lane { results[position] = result }
            }
            return results
        }
    }

    private func result(of part: Part, _ request: RESTRequest, _ budget: ReplyBudget) async -> [UInt8] {
        do {
            return try await success(of: part, request, request.context, budget)
        } catch {
            return JSONValue.object(["error": .object(ErrorResponse.batchEntry(service.known(error)))])
                .serialized()
        }
    }

    /// All of it or nothing: the parts meet where each would write, and one write does it all.
    ///
    /// - Throws: ``BatchRolledBack`` when one of them fails; the contract keeps the reason to itself. A ``ParseError`` that
    ///   asks to come again, when that is the reason.
    private func transaction(of parts: [Part], _ request: RESTRequest) async throws -> [[UInt8]] {
        let meeting = JointCommit(parts: parts.count)
        let budget = ReplyBudget()
        let app = request.context.app
        let refusal = Locked<ParseError?>(nil)
        do {
            return try await withThrowingTaskGroup(of: [(Int, [UInt8])].self) { group in
                for positions in Self.lanes(of: parts) {
                    group.addTask {
                        var results: [(Int, [UInt8])] = []
                        for position in positions {
                            var context = request.context
                            context.jointCommit = JointCommitPart(meeting: meeting, index: position)
                            do {
                                let reply = try await success(of: parts[position], request, context, budget)
                                await meeting.leave(part: position, in: app)
                                results.append((position, reply))
                            } catch {
                                let known = service.known(error)
                                if let known, known.retryAfterSeconds != nil {
                                    refusal.withLock { $0 = known }
                                }
                                await meeting.abort(error)
                                throw BatchRolledBack()
                            }
                        }
                        return results
                    }
                }
                var results = [[UInt8]](repeating: [], count: parts.count)
                for try await lane in group {
                    for (position, result) in lane { results[position] = result }
                }
                return results
            }
        } catch {
            throw refusal.withLock { $0 } ?? error
        }
    }

    private func success(
        of part: Part,
        _ request: RESTRequest,
        _ context: RequestContext,
        _ budget: ReplyBudget
    ) async throws -> [UInt8] {
        try budget.spend(0)
        var request = request
        request.context = context
        request.parameters = part.parameters
        request.body = part.body
        request.query = []
        let reply = try await part.endpoint.run(request).encoded
        try budget.spend(reply.count)
        var writer = JSONWriter(capacity: reply.count + 16)
        writer.writeRaw("{\"success\":")
        writer.writeRaw(reply)
        writer.writeRaw("}")
        return writer.bytes
    }
}

/// What the replies of all parts of a batch may hold together; each part may be large, and there may be many.
private final class ReplyBudget: Sendable {
    private static let limit = 32 << 20
    private let spent = Locked(0)

    /// - Throws: ``ParseError`` 116 when the parts before have used it up.
    func spend(_ bytes: Int) throws(ParseError) {
        let total = spent.withLock { spent in
            spent += bytes
            return spent
        }
        guard total <= Self.limit else {
            throw ParseError(.objectTooLarge, "The replies of the batch are too large together.")
        }
    }
}

/// A part of a transaction failed, so nothing was written.
struct BatchRolledBack: Error {}
