import JSON
import TestSupport

extension TestServer {
    /// Starts a server on which any client may make classes.
    static func startOpen(options: JSONObject = [:]) async throws -> TestServer {
        var options = options
        options["allowClientClassCreation"] = true
        return try await start(options: options)
    }

    /// Ends all its processes.
    func stop() async {
        for process in [process] + more { await process.stop() }
    }

    /// The memory of the process that takes most, in bytes; `nil` where the system does not tell.
    var residentBytesAtMost: Int? {
        ([process] + more).compactMap { residentBytes($0.processID) }.max()
    }
}

extension API {
    /// Makes an object.
    ///
    /// - Returns: Its id.
    @discardableResult
    func create(
        _ className: String,
        _ fields: JSONObject,
        token: String? = nil,
        asMaster: Bool = false
    ) async throws -> String {
        let reply = try await call(
            "POST",
            "/classes/\(className)",
            .object(fields),
            token: token,
            asMaster: asMaster
        )
        guard reply.status == 201, let id = reply["objectId"]?.stringValue else { throw Unexpected(reply) }
        return id
    }

    /// Changes an object.
    @discardableResult
    func update(
        _ className: String,
        _ id: String,
        _ fields: JSONObject,
        token: String? = nil
    ) async throws -> HTTPReply {
        try await call("PUT", "/classes/\(className)/\(id)", .object(fields), token: token)
    }

    func get(_ className: String, _ id: String, token: String? = nil) async throws -> HTTPReply {
        try await call("GET", "/classes/\(className)/\(id)", token: token)
    }

    /// A find with its parameters in the body, where they may be as long as they like.
    func find(
        _ className: String,
        _ parameters: JSONObject = [:],
        token: String? = nil,
        asMaster: Bool = false
    ) async throws -> HTTPReply {
        var body = parameters
        body["_method"] = "GET"
        return try await call(
            "POST",
            "/classes/\(className)",
            .object(body),
            token: token,
            asMaster: asMaster
        )
    }

    /// The values that a field has in the objects that match, as a set of texts.
    func names(
        _ className: String,
        where filter: JSONValue,
        asMaster: Bool = false
    ) async throws -> Set<String> {
        let reply = try await find(className, ["where": filter, "limit": 1000], asMaster: asMaster)
        guard reply.status == 200 else { throw Unexpected(reply) }
        return Set(reply.results.compactMap { $0["name"]?.stringValue })
    }

    /// Runs an aggregate.
    func aggregate(_ className: String, _ stages: [JSONValue]) async throws -> HTTPReply {
        try await call(
            "POST",
            "/aggregate/\(className)",
            ["_method": "GET", "pipeline": .array(stages)],
            asMaster: true
        )
    }

    /// Makes a class, or changes it.
    func defineClass(_ name: String, _ fields: JSONObject, permissions: JSONValue? = nil) async throws {
        var body: JSONObject = ["className": .string(name), "fields": .object(fields)]
        if let permissions { body["classLevelPermissions"] = permissions }
        let reply = try await call("POST", "/schemas/\(name)", .object(body), asMaster: true)
        guard reply.status == 200 else { throw Unexpected(reply) }
    }
}

extension HTTPReply {
    /// The results of a find.
    var results: [JSONValue] {
        self["results"]?.arrayValue ?? []
    }
}

extension JSONValue {
    static func pointer(_ className: String, _ id: String) -> JSONValue {
        ["__type": "Pointer", "className": .string(className), "objectId": .string(id)]
    }

    static func geoPoint(_ latitude: JSONValue, _ longitude: JSONValue) -> JSONValue {
        ["__type": "GeoPoint", "latitude": latitude, "longitude": longitude]
    }

    /// An operation on an array or a relation.
    static func operation(_ name: String, _ objects: [JSONValue]) -> JSONValue {
        ["__op": .string(name), "objects": .array(objects)]
    }

    static func increment(_ amount: Double) -> JSONValue {
        ["__op": "Increment", "amount": .number(amount)]
    }
}
