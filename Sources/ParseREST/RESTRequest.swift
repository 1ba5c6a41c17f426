package import HTTP
package import JSON
package import ParseCore

/// A request of the REST API after the middleware: routed, decoded, and with a context that says who asks.
package struct RESTRequest: Sendable {
    package var context: RequestContext
    /// The parts of the path that the route names.
    package var parameters: PathParameters
    /// The query of the address, as text.
    package var query: [(name: String, value: String)]
    package var body: JSONObject
    /// What stands before the routes in the address: empty, `/parse` or `/1`.
    package var mount: String
    /// Whether the master key that came with it is hard to guess; only for endpoints that ask, and for that key.
    package var masterKeyIsStrong: Bool?

    /// The parameters of a read, from the address and the body.
    ///
    /// Text in the address that is JSON counts as that (Parse REST guide, "Queries"); the address wins.
    package var readParameters: JSONObject {
        guard !query.isEmpty else { return body }
        return JSONObject(
            body.members + query.map { JSONObject.Member(key: $0.name, value: Self.parsed($0.value)) }
        )
    }

    /// The value of that name in the query of the address, as text.
    package func queryText(_ name: String) -> JSONValue? {
        query.last { $0.name == name }.map { .string($0.value) }
    }

    private static func parsed(_ text: String) -> JSONValue {
        // Only what can begin a JSON text is worth a try.
        guard let first = text.utf8.first, "{[\"-0123456789tfn ".utf8.contains(first) else {
            return .string(text)
        }
        return (try? JSONValue.parse(text, limits: RequestLimits.json)) ?? .string(text)
    }
}

/// The answer of an endpoint.
package struct RESTReply: Sendable {
    package enum Body: Sendable {
        case json(JSONValue)
        /// JSON that is encoded already.
        case encoded([UInt8])
    }

    package var status: Int
    package var body: Body
    /// Where a new object is found, below the mount point.
    package var location: String?

    package init(status: Int = 200, body: Body, location: String? = nil) {
        self.status = status
        self.body = body
        self.location = location
    }

    package init(_ object: JSONObject) {
        self.init(body: .json(.object(object)))
    }

    /// A save: 201 for a new object, else 200.
    package init(_ reply: SaveReply) {
        self.init(
            status: reply.isNew ? 201 : 200,
            body: .json(.object(reply.body)),
            location: reply.location?.path
        )
    }

    /// The body as it goes out.
    package var encoded: [UInt8] {
        switch body {
        case .json(let value): value.serialized()
        case .encoded(let bytes): bytes
        }
    }
}

/// What one route does.
package struct Endpoint: Sendable {
    /// Details of the middleware that differ from route to route.
    package struct Traits: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// A session token that was sent is not looked at.
        package static let ignoresSession = Traits(rawValue: 1)
        /// The token is handed to the endpoint without being resolved.
        package static let readsTokenItself = Traits(rawValue: 2)
        /// A token from before revocable sessions is handed to the endpoint without being resolved.
        package static let readsLegacyToken = Traits(rawValue: 4)
        /// Only reads, and never a password.
        package static let isPlainRead = Traits(rawValue: 8)
        /// It is told whether the master key is hard to guess, which nobody can see from what is stored.
        package static let judgesMasterKey = Traits(rawValue: 16)
    }

    package let traits: Traits
    /// Runs where its caller runs: on the connection's event loop, without asking at each call where that is.
    package let run: nonisolated(nonsending) @Sendable (RESTRequest) async throws -> RESTReply

    package init(
        _ traits: Traits = [],
        run: nonisolated(nonsending) @escaping @Sendable (RESTRequest) async throws -> RESTReply
    ) {
        self.traits = traits
        self.run = run
    }
}
