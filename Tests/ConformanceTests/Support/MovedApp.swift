import Foundation
import JSON
import TestSupport
import Testing

/// Where an app is kept, and the commands on it.
struct Place: Sendable {
    let folder: TemporaryFolder
    let database: String?

    static func folder() async throws -> Place {
        Place(folder: try TemporaryFolder(), database: nil)
    }

    static func database() async throws -> Place {
        Place(folder: try TemporaryFolder(), database: try await PostgresServer.shared().makeDatabase())
    }

    var data: String { folder.path + "/data" }

    var flags: [String] {
        ["--data", data] + (database.map { ["--database", $0] } ?? [])
    }

    func run(_ words: String...) async throws -> ProgramRun.Result {
        try await ProgramRun.run([ProductPath.martlet, "app"] + words + flags)
    }

    func serve() async throws -> ServerProcess {
        try await ServerProcess(dataFolder: data, arguments: database.map { ["--database", $0] } ?? [])
    }

    func export(_ id: String) async throws -> (path: String, output: String, errors: String) {
        let path = folder.path + "/export-" + UUID().uuidString
        let result = try await run("export", id, path)
        #expect(result.status == 0, "\(result.errors)")
        return (path, result.output, result.errors)
    }

    func load(_ path: String) async throws -> ProgramRun.Result {
        try await run("import", path)
    }

    /// Imports an app, exports it, and then sees that it is as it was.
    func take(_ path: String, _ app: MovedApp) async throws -> (path: String, output: String, errors: String)
    {
        let result = try await load(path)
        #expect(result.status == 0, "\(result.errors)")
        let again = try await export(app.id)
        try await app.check(in: self)
        return again
    }

    /// All that is kept of apps here, but for what knows them.
    func contents() async throws -> [String] {
        var found = TemporaryFolder.files(below: data).filter { !$0.hasPrefix("martlet.") }
        if let database {
            let names = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'app\\_%' ORDER BY 1"
            found += try await PostgresServer.shared().sql(names, url: database).split(separator: "\n")
                .map(String.init)
        }
        return found
    }

    /// What `martlet app list --json` prints.
    func apps() async throws -> String {
        try await run("list", "--json").output
    }
}

/// An app with everything that an app can have.
struct MovedApp: Sendable {
    let id: String
    let clientKey: String
    let masterKey: String
    let alice: Account
    let anonymousToken: String
    let files: [(url: String, bytes: [UInt8], type: String)]
    /// The path of an object that Alice reads through a role.
    let secret: String
    let objects: [String: JSONValue]
    let schemas: JSONValue

    private func api(_ process: ServerProcess) -> API {
        var api = API(port: process.port)
        api.applicationID = id
        api.clientKey = clientKey
        api.masterKey = masterKey
        return api
    }

    // MARK: What must be the same everywhere

    /// Sees that everything works; makes a session, so an export is to be taken before.
    func check(in place: Place) async throws {
        let process = try await place.serve()
        let api = api(process)
        #expect(try await api.call("GET", "/users/me", token: alice.token)["objectId"] == .string(alice.id))
        #expect(try await api.call("GET", "/users/me", token: anonymousToken).status == 200)
        _ = try await api.logIn(alice.name, alice.password)
        let wrong = try await api.call(
            "POST",
            "/login",
            ["username": .string(alice.name), "password": "wrong"]
        )
        #expect(wrong.code == 101)
        let anonymous = try await api.call("POST", "/users", ["authData": Self.anonymous])
        #expect(anonymous.status == 200, "\(anonymous.text)")
        for file in files {
            let reply = try await api.client.send("GET", file.url)
            #expect(reply.body == file.bytes)
            #expect(reply.header("Content-Type") == file.type)
        }
        for (path, object) in objects {
            let reply = try await api.call("GET", path, asMaster: true)
            #expect(reply.json == object, "\(path) in \(place.flags): \(reply.text)")
        }
        #expect(try await api.call("GET", "/schemas", asMaster: true).json == schemas)
        // A secret is read through a role, and by nobody without it.
        #expect(try await api.call("GET", secret, token: alice.token).status == 200)
        #expect(try await api.call("GET", secret).status == 404)
        await process.stop()
    }

    // MARK: Making it

    private static let anonymous: JSONValue = ["anonymous": ["id": "moved-anonymous-id"]]

    static func make(in place: Place, fileBytes: Int = 100_000) async throws -> MovedApp {
        let made = try JSONValue.parse(try await place.run("create", "Moved ÄÖ \"q\"", "--json").output)
        let process = try await place.serve()
        var api = API(port: process.port)
        api.applicationID = try #require(made["applicationId"]?.stringValue)
        api.clientKey = try #require(made["clientKey"]?.stringValue)
        api.masterKey = try #require(made["masterKey"]?.stringValue)
        var paths: [String] = []
        func create(_ path: String, _ body: JSONValue, token: String? = nil) async throws -> String {
            let reply = try await api.call("POST", path, body, token: token, asMaster: token == nil)
            guard reply.status == 201, let id = reply["objectId"]?.stringValue else {
                throw Unexpected(reply)
            }
            paths.append("\(path)/\(id)")
            return id
        }
        let alice = try await api.signUp(
            "alice ünï",
            fields: ["email": "alice@example.com", "extra": ["z": 1, "a": .null]]
        )
        let signUp = try await api.call("POST", "/users", ["authData": anonymous], installation: "install-1")
        let anonymousToken = try #require(signUp["sessionToken"]?.stringValue)
        try await makeSchema(api)
        let files = try await makeFiles(api, fileBytes)
        let target = try await create("/classes/Target", ["name": "t"])
        for object in everything(target, files.names) { _ = try await create("/classes/Everything", object) }
        for number in 0..<30 {
            _ = try await create("/classes/Numbered", ["number": .number(Double(number))])
        }
        let inner = try await create("/roles", role("inner", users: [alice.id], roles: []))
        _ = try await create("/roles", role("outer", users: [], roles: [inner]))
        let secret = try await create(
            "/classes/Secret",
            ["ACL": ["role:outer": ["read": true], alice.id: ["write": true]], "s": 1]
        )
        _ = try await create("/classes/Secret", ["ACL": [:], "s": 2])
        _ = try await create(
            "/installations",
            ["deviceType": "ios", "installationId": "0f3c", "channels": ["a", "b"], "badge": 3]
        )
        let config = try await api.call(
            "PUT",
            "/config",
            ["params": ["greeting": "hi", "limit": 3], "masterKeyOnly": ["limit": true]],
            asMaster: true
        )
        #expect(config.status == 200, "\(config.text)")
        var objects: [String: JSONValue] = [:]
        for path in paths + ["/users/\(alice.id)", "/config"] {
            objects[path] = try await api.call("GET", path, asMaster: true).json
        }
        let schemas = try #require(try await api.call("GET", "/schemas", asMaster: true).json)
        await process.stop()
        return MovedApp(
            id: api.applicationID ?? "",
            clientKey: api.clientKey ?? "",
            masterKey: api.masterKey,
            alice: alice,
            anonymousToken: anonymousToken,
            files: files.contents,
            secret: "/classes/Secret/\(secret)",
            objects: objects,
            schemas: schemas
        )
    }

    private static func makeSchema(_ api: API) async throws {
        let body: JSONValue = [
            "className": "Everything",
            "fields": [
                "text": ["type": "String", "required": false, "defaultValue": "dé\"fault"],
                "number": ["type": "Number"],
                "flag": ["type": "Boolean", "required": false, "defaultValue": false],
                "list": ["type": "Array", "defaultValue": [1, "two", ["three": .null]]],
                "map": ["type": "Object", "defaultValue": ["z": 1, "a": ["y": 1, "b": 2]]],
                "moment": ["type": "Date"], "place": ["type": "GeoPoint"], "area": ["type": "Polygon"],
                "data": ["type": "Bytes"], "file": ["type": "File"],
                "target": ["type": "Pointer", "targetClass": "Target"],
                "many": ["type": "Relation", "targetClass": "Target"], "never": ["type": "String"],
            ],
            "classLevelPermissions": [
                "find": ["*": true], "get": ["*": true], "count": ["requiresAuthentication": true],
                "create": ["role:inner": true], "update": [:], "delete": [:], "addField": [:],
                "protectedFields": ["*": ["number"], "role:outer": []],
            ],
            "indexes": ["byText": ["text": 1, "number": -1], "byMoment": ["moment": 1]],
        ]
        let reply = try await api.call("POST", "/schemas/Everything", body, asMaster: true)
        guard reply.status == 200 || reply.status == 201 else { throw Unexpected(reply) }
    }

    private static func everything(_ target: String, _ files: [String]) -> [JSONValue] {
        let square: [JSONValue] = [[0, 0], [0, 10.5], [-10.25, 10], [0, 0]]
        let pointer: JSONValue = ["__type": "Pointer", "className": "Target", "objectId": .string(target)]
        let full: JSONValue = [
            "text": "Ünïcödé 🐦\u{1F}\"\\/\u{2028} e\u{301} \u{e9}", "number": -1.797693134862315e308,
            "flag": true,
            "list": [
                [[], [[1, .null, "x"]]],
                ["b": 1, "a": ["__type": "Date", "iso": "2020-01-01T00:00:00.000Z"]], pointer,
            ],
            "map": [
                "z": 0.1, "a": ["k": []], "é": .number(.leastNonzeroMagnitude), "10": 1,
                "9": 9_007_199_254_740_993,
            ],
            "moment": ["__type": "Date", "iso": "1815-12-10T01:02:03.004Z"],
            "place": ["__type": "GeoPoint", "latitude": -89.999999999, "longitude": 180],
            "area": ["__type": "Polygon", "coordinates": .array(square)],
            "data": ["__type": "Bytes", "base64": "AP/+AQ=="],
            "file": ["__type": "File", "name": .string(files[0])], "target": pointer,
            "many": ["__op": "AddRelation", "objects": [pointer]],
        ]
        let numbers: [JSONValue] = [
            0, -0.0, 1e21, 123_456_789_012_345_680, .leastNonzeroMagnitude, 0.1, 9_007_199_254_740_991,
        ].map { ["number": .number($0)] }
        let nulls: JSONValue = [
            "text": .null, "number": .null, "list": .null, "map": .null, "moment": .null, "target": .null,
            "file": .null, "data": .null, "place": .null, "area": .null, "flag": .null,
        ]
        let moments: [JSONValue] = [
            "0001-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z",
        ]
        .map { ["moment": ["__type": "Date", "iso": .string($0)]] }
        return [full, [:], nulls, ["list": [], "map": [:], "text": ""]] + numbers + moments
    }

    private static func role(_ name: String, users: [String], roles: [String]) -> JSONValue {
        func links(_ className: String, _ ids: [String]) -> JSONValue {
            let pointers = ids.map { id -> JSONValue in
                ["__type": "Pointer", "className": .string(className), "objectId": .string(id)]
            }
            return ["__op": "AddRelation", "objects": .array(pointers)]
        }
        var body: JSONObject = ["name": .string(name), "ACL": ["*": ["read": true]]]
        if !users.isEmpty { body["users"] = links("_User", users) }
        if !roles.isEmpty { body["roles"] = links("_Role", roles) }
        return .object(body)
    }

    private static func makeFiles(
        _ api: API,
        _ bytes: Int
    ) async throws -> (names: [String], contents: [(url: String, bytes: [UInt8], type: String)]) {
        var names: [String] = []
        var contents: [(url: String, bytes: [UInt8], type: String)] = []
        let large = (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let long = String(repeating: "LONG", count: 25) + ".txt"
        for (name, bytes, said) in [
            ("a.txt", Array("hello".utf8), true), ("empty.txt", [], false), (long, Array("long".utf8), false),
            ("large.bin", large, false),
        ] as [(String, [UInt8], Bool)] {
            var headers = [
                ("X-Parse-Master-Key", api.masterKey), ("Content-Type", "application/octet-stream"),
            ]
            if said {
                headers += [
                    ("X-Parse-Upload-Mode", "stream"), ("X-Parse-File-Metadata", #"{"z":1,"a":"ü"}"#),
                    ("X-Parse-File-Tags", #"{"t":"1"}"#),
                ]
            }
            let reply = try await api.send("POST", "/files/\(name)", body: bytes, headers: headers)
            if bytes.isEmpty, reply.status != 201 { continue }
            guard reply.status == 201, let url = reply["url"]?.stringValue,
                let stored = reply["name"]?.stringValue,
                let start = url.firstRange(of: "/parse/files/")
            else { throw Unexpected(reply) }
            let path = String(url[start.lowerBound...])
            let type = try await api.client.send("GET", path).header("Content-Type") ?? ""
            names.append(stored)
            contents.append((path, bytes, type))
        }
        return (names, contents)
    }
}
