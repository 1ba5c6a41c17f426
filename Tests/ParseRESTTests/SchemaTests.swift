import HTTP
import JSON
import ParseCore
import ParseREST
import Testing

extension TestREST {
    static let readerHeaders = appHeader + [("X-Parse-Master-Key", "reader")]

    /// With the master key.
    func master(_ method: String, _ target: String, _ json: JSONValue? = nil) async -> Reply {
        await send(method, target, Self.masterHeaders, body: json?.serialized() ?? [])
    }
}

/// Expects a reply with that code and text, and status 400.
func expectRefused(
    _ reply: TestREST.Reply,
    _ code: Double,
    _ text: String,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(reply.status == 400, sourceLocation: sourceLocation)
    #expect(reply.json == ["code": .number(code), "error": .string(text)], sourceLocation: sourceLocation)
}

@Suite struct SchemaTests {
    private static let fields: JSONValue = [
        "title": ["type": "String"], "owner": ["type": "Pointer", "targetClass": "_User"],
        "fans": ["type": "Relation", "targetClass": "_User"],
        "score": ["type": "Number", "required": true, "defaultValue": 0],
    ]

    @Test func `a class is made, read and listed`() async throws {
        let rest = try TestREST()
        let made = await rest.master("POST", "/schemas/Game", ["className": "Game", "fields": Self.fields])
        #expect(made.status == 200)
        let expected: JSONValue = [
            "className": "Game",
            "fields": [
                "objectId": ["type": "String"], "createdAt": ["type": "Date"],
                "updatedAt": ["type": "Date"],
                "ACL": ["type": "ACL"], "title": ["type": "String"],
                "owner": ["type": "Pointer", "targetClass": "_User"],
                "fans": ["type": "Relation", "targetClass": "_User"],
                "score": ["type": "Number", "required": true, "defaultValue": 0],
            ],
            "classLevelPermissions": .object(SchemaView.openPermissions),
        ]
        #expect(made.json == expected)
        #expect(await rest.master("GET", "/schemas/Game").json == expected)
        let names = await rest.master("GET", "/schemas").json?["results"]?.arrayValue?
            .compactMap { $0["className"]?.stringValue }
        #expect(names == ["Game", "_Role", "_Session", "_User"])
        expectRefused(
            await rest.master("POST", "/schemas", ["className": "Game"]),
            103,
            "Class Game already exists."
        )
    }

    @Test(arguments: [
        ("/schemas", #"{}"#, 135, "POST /schemas needs a class name."),
        ("/schemas/A", #"{"className":"B"}"#, 103, "Class name mismatch between B and A."),
        (
            "/schemas/1bad", "{}", 103,
            "Invalid classname: 1bad, classnames can only have alphanumeric characters and _, and must start "
                + "with an alpha character "
        ),
        ("/schemas/_User", "{}", 103, "Class _User already exists."),
        ("/schemas/_PushStatus", "{}", 103, "Class _PushStatus already exists."),
        ("/schemas/_Hooks", "{}", 103, "Class _Hooks already exists."),
    ])
    func `such a class is not made`(_ path: String, _ body: String, _ code: Double, _ text: String)
        async throws
    {
        let rest = try TestREST()
        expectRefused(await rest.master("POST", path, try JSONValue.parse(body)), code, text)
        #expect(rest.app.storage.schema.classNames == ["_Role", "_Session", "_User"])
    }

    @Test func `a name of a join is no class to make`() async throws {
        let rest = try TestREST()
        let reply = await rest.master("POST", "/schemas", ["className": "_Join:users:_Role"])
        #expect(reply.status == 400 && reply.json?["code"] == 103)
    }

    @Test func `what never was cannot be read, changed or missed`() async throws {
        let rest = try TestREST()
        for method in ["GET", "PUT"] {
            expectRefused(
                await rest.master(method, "/schemas/Nothing", method == "PUT" ? [:] : nil),
                103,
                "Class Nothing does not exist."
            )
        }
        expectRefused(
            await rest.master("PUT", "/schemas/Game", ["className": "B"]),
            103,
            "Class name mismatch between B and Game."
        )
        #expect(await rest.master("DELETE", "/schemas/Nothing").text == "{}")
        #expect(await rest.master("DELETE", "/purge/Nothing").text == "{}")
        #expect(await rest.master("DELETE", "/schemas/1bad").json?["code"] == 103)
    }

    @Test func `the server's own classes are read before they are used`() async throws {
        let rest = try TestREST()
        let fields = await rest.master("GET", "/schemas/_PushStatus").json?["fields"]
        #expect(fields?["pushTime"] == ["type": "String"] && fields?["objectId"] == ["type": "String"])
        #expect(await rest.master("GET", "/schemas/_Product").json?["code"] == 103)
        #expect(await rest.master("POST", "/schemas/_Product", [:]).status == 200)
        let product = await rest.master("GET", "/schemas/_Product").json?["fields"]
        #expect(product?["icon"] == ["type": "File"])
        let user = await rest.master("GET", "/schemas/_User").json?["fields"]
        #expect(user?["password"] == ["type": "String"] && user?["authData"] == ["type": "Object"])
    }

    @Test func `fields come and go, and data with them`() async throws {
        let rest = try TestREST()
        _ = await rest.master("POST", "/schemas/Game", ["fields": ["a": ["type": "String"]]])
        let id = await rest.master("POST", "/classes/Game", ["a": "x"]).json?["objectId"]?.stringValue
        let path = "/classes/Game/\(try #require(id))"
        let changed = await rest.master(
            "PUT",
            "/schemas/Game",
            ["fields": ["a": ["__op": "Delete"], "b": ["type": "Number"]]]
        )
        #expect(changed.json?["fields"]?["a"] == nil)
        #expect(changed.json?["fields"]?["b"] == ["type": "Number"])
        #expect(await rest.master("GET", path).json?["a"] == nil)
        _ = await rest.master("PUT", "/schemas/Game", ["fields": ["a": ["type": "String"]]])
        #expect(await rest.master("GET", path).json?["a"] == nil)
        expectRefused(
            await rest.master("PUT", "/schemas/Game", ["fields": ["b": ["type": "String"]]]),
            255,
            "Field b exists, cannot update."
        )
    }

    @Test func `a refused change changes nothing at all`() async throws {
        let rest = try TestREST()
        _ = await rest.master("POST", "/schemas/Game", ["fields": ["a": ["type": "String"]]])
        let before = await rest.master("GET", "/schemas/Game").json
        let reply = await rest.master(
            "PUT",
            "/schemas/Game",
            [
                "fields": ["a": ["__op": "Delete"], "b": ["type": "Number"]],
                "classLevelPermissions": ["find": [:]], "indexes": ["i": ["nope": 1]],
            ]
        )
        expectRefused(reply, 102, "Field nope does not exist, cannot add index.")
        #expect(await rest.master("GET", "/schemas/Game").json == before)
    }

    @Test func `permissions and indexes are kept as they were set`() async throws {
        let rest = try TestREST()
        _ = await rest.master("POST", "/schemas/Game", ["fields": ["a": ["type": "String"]]])
        let set = await rest.master(
            "PUT",
            "/schemas/Game",
            ["classLevelPermissions": ["find": ["*": true]], "indexes": ["byA": ["a": 1]]]
        )
        let permissions: JSONValue = [
            "find": ["*": true], "count": [:], "get": [:], "create": [:], "update": [:], "delete": [:],
            "addField": [:], "protectedFields": [:],
        ]
        #expect(set.json?["classLevelPermissions"] == permissions)
        #expect(set.json?["indexes"] == ["_id_": ["_id": 1], "byA": ["a": 1]])
        #expect(await rest.master("GET", "/schemas/Game").json == set.json)
        #expect(await rest.send("POST", "/classes/Game", json: ["a": "x"]).json?["code"] == 119)
        let back = await rest.master(
            "PUT",
            "/schemas/Game",
            ["classLevelPermissions": nil, "indexes": ["byA": ["__op": "Delete"]]]
        )
        #expect(back.json?["classLevelPermissions"] == .object(SchemaView.openPermissions))
        #expect(back.json?["indexes"] == nil)
    }

    @Test func `a class with objects stays until it is purged`() async throws {
        let rest = try TestREST()
        _ = await rest.master("POST", "/schemas/Game", [:])
        for _ in 0..<3 { _ = await rest.master("POST", "/classes/Game", [:]) }
        expectRefused(
            await rest.master("DELETE", "/schemas/Game"),
            255,
            "Class Game is not empty, contains 3 objects, cannot drop schema."
        )
        #expect(await rest.master("DELETE", "/purge/Game").text == "{}")
        #expect(await rest.master("GET", "/classes/Game").json == ["results": []])
        #expect(await rest.master("DELETE", "/schemas/Game").text == "{}")
        #expect(await rest.master("GET", "/schemas/Game").json?["code"] == 103)
    }

    @Test func `a class that no app is without is as new after it was dropped`() async throws {
        let rest = try TestREST()
        _ = await rest.master(
            "PUT",
            "/schemas/_User",
            ["fields": ["phone": ["type": "String"]], "classLevelPermissions": ["find": [:]]]
        )
        #expect(await rest.master("DELETE", "/schemas/_User").text == "{}")
        let user = await rest.master("GET", "/schemas/_User").json
        #expect(user?["fields"]?["phone"] == nil && user?["fields"]?["email"] == ["type": "String"])
        #expect(user?["classLevelPermissions"] == .object(SchemaView.openPermissions))
        for name in ["alice", "alice"] {
            _ = await rest.send("POST", "/users", json: ["username": .string(name), "password": "p"])
        }
        let again = await rest.send("POST", "/users", json: ["username": "ALICE", "password": "p"])
        expectRefused(again, 202, "Account already exists for this username.")
        #expect(
            await rest.send("POST", "/login", json: ["username": "alice", "password": "p"]).status == 200
        )
    }

    @Test(arguments: [
        ("GET", "/schemas"), ("GET", "/schemas/Game"), ("POST", "/schemas"), ("POST", "/schemas/Game"),
        ("PUT", "/schemas/Game"), ("DELETE", "/schemas/Game"), ("DELETE", "/purge/Game"),
        ("PUT", "/config"), ("GET", "/security"), ("GET", "/serverInfo"),
    ])
    func `only the master key comes here`(_ method: String, _ path: String) async throws {
        let rest = try TestREST { $0.lockSchemas = true }
        for headers in [
            TestREST.appHeader, TestREST.appHeader + [("X-Parse-Maintenance-Key", "maintenance")],
        ] {
            let reply = await rest.send(method, path, headers)
            #expect(reply.status == 403)
            #expect(reply.text == #"{"error":"unauthorized: master key is required"}"#)
        }
    }

    @Test(arguments: [
        ("POST", "/schemas/Game", "create a"), ("PUT", "/schemas/Game", "update a"),
        ("DELETE", "/schemas/Game", "delete a"), ("DELETE", "/purge/Game", "purge a"),
    ])
    func `the read-only key changes no schema`(_ method: String, _ path: String, _ action: String)
        async throws
    {
        let rest = try TestREST()
        _ = await rest.master("POST", "/schemas/Game", [:])
        let reply = await rest.send(method, path, TestREST.readerHeaders)
        expectRefused(reply, 119, "read-only masterKey isn't allowed to \(action) schema.")
        #expect(await rest.send("GET", "/schemas/Game", TestREST.readerHeaders).status == 200)
    }

    @Test func `locked schemas are made and changed by nobody, and dropped all the same`() async throws {
        let rest = try TestREST { $0.lockSchemas = true }
        for (method, headers) in [
            ("POST", TestREST.masterHeaders), ("PUT", TestREST.masterHeaders),
            ("POST", TestREST.readerHeaders), ("PUT", TestREST.readerHeaders),
        ] {
            expectRefused(
                await rest.send(method, "/schemas/Game", headers),
                119,
                "Cannot perform this operation when schemas options is used."
            )
        }
        #expect(await rest.master("DELETE", "/schemas/Game").text == "{}")
    }

    @Test func `changes that come at once do not undo each other`() async throws {
        let rest = try TestREST()
        _ = await rest.master("POST", "/schemas/Game", [:])
        await withTaskGroup(of: Int.self) { group in
            for index in 0..<20 {
                let fields: JSONValue = .object(["f\(index)": ["type": "Number"]])
                group.addTask {
                    await rest.master("PUT", "/schemas/Game", ["fields": fields]).status
                }
            }
            for await status in group { #expect(status == 200) }
        }
        let fields = try #require(await rest.master("GET", "/schemas/Game").json?["fields"]?.objectValue)
        #expect(fields.count == 24)
    }

    @Test func `of several that make one class one does`() async throws {
        let rest = try TestREST()
        let statuses = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<10 {
                group.addTask { await rest.master("POST", "/schemas/Game", [:]).status }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.filter { $0 == 200 }.count == 1)
        #expect(statuses.filter { $0 == 400 }.count == 9)
    }

    @Test func `one field of two types is one field`() async throws {
        let rest = try TestREST()
        _ = await rest.master("POST", "/schemas/Game", [:])
        let replies = await withTaskGroup(of: TestREST.Reply.self) { group in
            for type in ["String", "Number", "Date"] {
                let fields: JSONValue = ["x": ["type": .string(type)]]
                group.addTask { await rest.master("PUT", "/schemas/Game", ["fields": fields]) }
            }
            return await group.reduce(into: [TestREST.Reply]()) { $0.append($1) }
        }
        #expect(replies.filter { $0.status == 200 }.count == 1)
        for reply in replies where reply.status != 200 {
            expectRefused(reply, 255, "Field x exists, cannot update.")
        }
    }

    @Test func `a purge of users ends their sessions and frees their accounts`() async throws {
        let rest = try TestREST()
        let anonymous: JSONValue = ["authData": ["anonymous": ["id": "device-1"]]]
        let user = await rest.send("POST", "/users", json: anonymous).json
        let token = try #require(user?["sessionToken"]?.stringValue)
        let headers = TestREST.appHeader + [("X-Parse-Session-Token", token)]
        #expect(await rest.send("GET", "/users/me", headers).status == 200)
        #expect(await rest.master("DELETE", "/purge/_User").text == "{}")
        #expect(await rest.send("GET", "/users/me", headers).json?["code"] == 209)
        #expect(await rest.master("GET", "/classes/_Session").json == ["results": []])
        let again = await rest.send("POST", "/users", json: anonymous)
        #expect(again.status == 201 && again.json?["objectId"] != user?["objectId"])
    }

    @Test func `a purge of sessions logs everybody out`() async throws {
        let rest = try TestREST()
        let user = await rest.send("POST", "/users", json: ["username": "u", "password": "p"]).json
        let token = try #require(user?["sessionToken"]?.stringValue)
        let headers = TestREST.appHeader + [("X-Parse-Session-Token", token)]
        #expect(await rest.send("GET", "/users/me", headers).status == 200)
        #expect(await rest.master("DELETE", "/purge/_Session").text == "{}")
        #expect(await rest.send("GET", "/users/me", headers).json?["code"] == 209)
    }

    @Test func `a batch that is one transaction makes classes or none`() async throws {
        let rest = try TestREST()
        func batch(_ second: String) -> JSONValue {
            [
                "transaction": true,
                "requests": [
                    ["method": "POST", "path": "/schemas/One", "body": ["fields": Self.fields]],
                    ["method": "POST", "path": .string(second), "body": [:]],
                ],
            ]
        }
        #expect(await rest.master("POST", "/batch", batch("/schemas/1bad")).status == 500)
        #expect(rest.app.storage.schema["One"] == nil)
        #expect(await rest.master("POST", "/batch", batch("/schemas/Two")).status == 200)
        #expect(rest.app.storage.schema["One"] != nil && rest.app.storage.schema["Two"] != nil)
    }
}
