import JSON
import TestSupport

/// A client of one app, and what its requests carry by default.
struct API: Sendable {
    /// The first server, for what the others have nothing to do with.
    var client: HTTPClient { clients[0] }
    private let clients: [HTTPClient]
    private let turns: Turns
    let ports: [Int]
    var applicationID: String? = "app"
    var clientKey: String? = "client"
    var masterKey = "master"
    var mount = "/parse"

    init(port: Int, timeoutSeconds: Int = 30) {
        self.init(ports: [port], timeoutSeconds: timeoutSeconds)
    }

    /// A client that sends its requests to these servers in turn.
    init(ports: [Int], timeoutSeconds: Int = 30) {
        self.ports = ports
        clients = ports.map { HTTPClient(port: $0, timeoutSeconds: timeoutSeconds) }
        turns = Turns(count: ports.count)
    }

    /// Sends a request, with a JSON body where one is given.
    @discardableResult
    func call(
        _ method: String,
        _ path: String,
        _ body: JSONValue? = nil,
        token: String? = nil,
        asMaster: Bool = false,
        installation: String? = nil,
        headers: [(String, String)] = []
    ) async throws -> HTTPReply {
        var lines = keyHeaders
        if body != nil { lines.append(("Content-Type", "application/json")) }
        if let token { lines.append(("X-Parse-Session-Token", token)) }
        if asMaster { lines.append(("X-Parse-Master-Key", masterKey)) }
        if let installation { lines.append(("X-Parse-Installation-Id", installation)) }
        // A read that is sent as a POST changes nothing.
        let effect = body?["_method"]?.stringValue ?? method
        return try await clients[turns.next(effect)].send(
            method,
            mount + path,
            headers: lines + headers,
            body: body?.serialized()
        )
    }

    /// Sends a body as it stands.
    @discardableResult
    func send(
        _ method: String,
        _ path: String,
        body: [UInt8],
        headers: [(String, String)] = []
    ) async throws -> HTTPReply {
        try await clients[turns.next(method)].send(
            method,
            mount + path,
            headers: keyHeaders + headers,
            body: body
        )
    }

    var keyHeaders: [(String, String)] {
        var lines: [(String, String)] = []
        if let applicationID { lines.append(("X-Parse-Application-Id", applicationID)) }
        if let clientKey { lines.append(("X-Parse-Client-Key", clientKey)) }
        return lines
    }

    /// The same app over a connection of its own.
    func another() -> API {
        var copy = API(ports: ports)
        copy.applicationID = applicationID
        copy.clientKey = clientKey
        copy.masterKey = masterKey
        copy.mount = mount
        return copy
    }

    /// Signs a user up with a password that is the name and `-password`.
    func signUp(_ name: String, fields: JSONObject = [:], installation: String? = nil) async throws -> Account
    {
        var body = fields
        body["username"] = .string(name)
        body["password"] = .string(name + "-password")
        let reply = try await call("POST", "/users", .object(body), installation: installation)
        guard reply.status == 201, let id = reply["objectId"]?.stringValue,
            let token = reply["sessionToken"]?.stringValue
        else { throw Unexpected(reply) }
        return Account(id: id, name: name, password: name + "-password", token: token)
    }

    /// Logs in; the session token.
    func logIn(_ name: String, _ password: String, installation: String? = nil) async throws -> String {
        let reply = try await call(
            "POST",
            "/login",
            ["username": .string(name), "password": .string(password)],
            installation: installation
        )
        guard reply.status == 200, let token = reply["sessionToken"]?.stringValue else {
            throw Unexpected(reply)
        }
        return token
    }
}

/// A user that a test made.
struct Account: Sendable {
    let id: String
    let name: String
    let password: String
    let token: String
}

/// A reply that ends a test, since nothing after it makes sense.
struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ reply: HTTPReply) {
        description = "unexpected reply: \(reply.status) \(reply.text)"
    }
}

extension HTTPReply {
    /// The body as JSON; `nil` when it is none.
    var json: JSONValue? {
        try? JSONValue.parse(body)
    }

    subscript(key: String) -> JSONValue? {
        json?[key]
    }

    var code: Int? {
        self["code"]?.numberValue.map { Int($0) }
    }

    var error: String? {
        self["error"]?.stringValue
    }

    /// Status, code and text of an error in one line, to compare with.
    var refusal: String {
        "\(status)/\(code.map(String.init) ?? "-") \(error ?? "-")"
    }

    var keys: Set<String> {
        Set(json?.objectValue?.keys ?? [])
    }
}

extension String {
    /// Percent-encoded for a query.
    var percentEncoded: String {
        utf8.map { byte in
            let isPlain =
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            let hex = String(byte, radix: 16, uppercase: true)
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (hex.utf8.count == 1 ? "0" : "") + hex
        }.joined()
    }
}
