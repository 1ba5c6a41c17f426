import JSON
import ParseCore
import ParseWire
import Testing

extension TestApp {
    func create(_ className: String, _ body: JSONObject, in context: RequestContext? = nil) async throws
        -> JSONObject
    {
        try await CreateObject(className: className, body: body).run(in: context ?? self.context(.master))
            .body
    }

    func newID(_ className: String, _ body: JSONObject, in context: RequestContext? = nil) async throws
        -> String
    {
        try #require(try await create(className, body, in: context)["objectId"]?.stringValue)
    }

    @discardableResult
    func change(
        _ className: String,
        _ id: String,
        _ body: JSONObject,
        in context: RequestContext? = nil
    ) async throws -> JSONObject {
        let command = UpdateObject(className: className, objectID: id, body: body)
        return try await command.run(in: context ?? self.context(.master)).body
    }

    func get(
        _ className: String,
        _ id: String,
        _ parameters: JSONObject = [:],
        in context: RequestContext? = nil
    ) async throws -> JSONObject {
        let selection = try GetOptions.selection(parameters)
        return try await GetObject(className: className, objectID: id, selection: selection)
            .run(in: context ?? self.context(.master))
    }

    func find(
        _ className: String,
        _ parameters: JSONObject = [:],
        in context: RequestContext? = nil
    ) async throws -> [JSONValue] {
        let context = context ?? self.context(.master)
        let options = try FindOptions(parameters, by: context.principal)
        let reply = try await FindObjects(className: className, options: options).run(in: context)
        return try #require(reply["results"]?.arrayValue)
    }

    func apply(_ changes: SchemaChange...) async throws {
        _ = try await storage.write(WritePlan(schemaChanges: changes, steps: []))
    }
}

@Suite struct ObjectCommandTests {
    @Test func `what a client sent is not told again, what it cannot know is`() async throws {
        let test = try TestApp()
        let reply = try await test.create(
            "Game",
            [
                "title": "a", "score": ["__op": "Increment", "amount": 2],
                "tags": ["__op": "AddUnique", "objects": ["x", "x"]], "gone": ["__op": "Delete"],
            ]
        )
        #expect(Set(reply.keys) == ["objectId", "createdAt", "score", "tags"])
        #expect(reply["score"] == 2 && reply["tags"] == ["x", "x"])
        let id = try #require(reply["objectId"]?.stringValue)
        let change = try await test.change(
            "Game",
            id,
            ["title": "b", "score": ["__op": "Increment", "amount": 3], "stats.wins": 1]
        )
        #expect(Set(change.keys) == ["updatedAt", "score"] && change["score"] == 5)
        let object = try await test.get("Game", id)
        #expect(object["title"] == "b" && object["stats"] == ["wins": 1] && object["gone"] == nil)
    }

    @Test func `null, absent and a value are three states`() async throws {
        let test = try TestApp()
        let id = try await test.newID("Game", ["title": .null, "score": 1])
        #expect(try await test.get("Game", id)["title"] == nil, "null makes no field")
        try await test.change("Game", id, ["title": "x"])
        try await test.change("Game", id, ["title": .null])
        #expect(try await test.get("Game", id)["title"] == .null)
        try await test.change("Game", id, ["title": ["__op": "Delete"]])
        #expect(try await test.get("Game", id)["title"] == nil)
    }

    @Test func `a class that does not exist is made by the master, and by clients where they may`()
        async throws
    {
        let test = try TestApp()
        let text = "This user is not allowed to access non-existent class: Game"
        await expectRefusal(.operationForbidden, text) {
            _ = try await test.create("Game", ["a": 1], in: test.context())
        }
        await expectRefusal(.operationForbidden, text) {
            _ = try await test.find("Game", in: test.context())
        }
        #expect(try await test.find("Game").isEmpty)
        let open = try TestApp { $0.allowClientClassCreation = true }
        _ = try await open.create("Game", ["a": 1], in: open.context())
        #expect(try await open.find("Game", in: open.context()).count == 1)
        await expectRefusal(.invalidJSON, "schema class name does not revalidate") {
            _ = try await test.create("1bad", ["a": 1])
        }
    }

    @Test(
        arguments: [
            (["objectId": "mine"], ParseErrorCode.invalidKeyName, "objectId is an invalid field name."),
            (["id": "mine"], .invalidKeyName, "id is an invalid field name."),
            (["_bad": 1], .invalidKeyName, "Invalid field name: _bad."),
            (
                ["a": ["b.c": 1]], .invalidNestedKey,
                "Nested keys should not contain the '$' or '.' characters"
            ),
            (["a": "x\u{0}y"], .invalidJSON, "Text cannot contain the character NUL."),
            (["a": ["__type": "Date"]], .incorrectType, "This is not a valid Date"),
            (
                ["createdAt": "2020-01-01T00:00:00.000Z"], .incorrectType,
                "schema mismatch for Game.createdAt; expected Date but got String"
            ),
            (
                [
                    "a": ["__type": "GeoPoint", "latitude": 1, "longitude": 1],
                    "b": ["__type": "GeoPoint", "latitude": 1, "longitude": 1],
                ], .incorrectType,
                "there can only be one geopoint field in a class"
            ),
            (
                ["score": "ten"], .incorrectType,
                "schema mismatch for Game.score; expected Number but got String"
            ),
        ] as [(JSONObject, ParseErrorCode, String)]
    )
    func `a body that cannot be is refused`(
        _ body: JSONObject,
        _ code: ParseErrorCode,
        _ message: String
    ) async throws {
        let test = try TestApp()
        try await test.apply(.addField(className: "Game", field: "score", type: .number))
        await expectRefusal(code, message) { _ = try await test.create("Game", body) }
    }

    @Test func `ids of clients`() async throws {
        let test = try TestApp { $0.allowCustomObjectId = true }
        #expect(try await test.newID("Game", ["objectId": "mine", "a": 1]) == "mine")
        await expectRefusal(.duplicateValue, ParseError.duplicateValue.message) {
            _ = try await test.create("Game", ["objectId": "mine"])
        }
        await expectRefusal(.missingObjectID, "objectId must not be empty, null or undefined") {
            _ = try await test.create("Game", ["objectId": ""])
        }
        for id in ["a/b", "*", "..", "a b", "\u{7F}", "ü"] as [JSONValue] {
            await expectRefusal(.invalidKeyName, "objectId is an invalid field name.") {
                _ = try await test.create("Game", ["objectId": id])
            }
        }
        try await test.change("Game", "mine", ["objectId": "mine", "a": 2])
        await expectRefusal(.invalidKeyName, "objectId is an invalid field name.") {
            try await test.change("Game", "mine", ["objectId": "other"])
        }
    }

    @Test func `what is not there cannot be changed, read or deleted`() async throws {
        let test = try TestApp()
        _ = try await test.create("Game", ["a": 1])
        let missing = ParseError.objectNotFound
        for className in ["Game", "Nothing"] {
            await expectRefusal(missing.code, missing.message) { _ = try await test.get(className, "none") }
            await expectRefusal(missing.code, missing.message) {
                try await test.change(className, "none", ["a": 1])
            }
            await expectRefusal(missing.code, missing.message) {
                _ = try await DeleteObject(className: className, objectID: "none").run(
                    in: test.context(.master)
                )
            }
        }
    }

    @Test func `defaults fill what is absent, and required fields must be there`() async throws {
        let test = try TestApp()
        try await test.apply(
            .addField(className: "Task", field: "name", type: .string),
            .addField(className: "Task", field: "done", type: .boolean),
            .setOptions(className: "Task", field: "name", FieldOptions(isRequired: true)),
            .setOptions(className: "Task", field: "done", FieldOptions(defaultValue: false))
        )
        for body in [[:], ["name": ""], ["name": .null], ["name": ["__op": "Delete"]]] as [JSONObject] {
            await expectRefusal(.validationError, "name is required") {
                _ = try await test.create("Task", body)
            }
        }
        let reply = try await test.create("Task", ["name": "wash"])
        #expect(reply["done"] == false)
        let id = try #require(reply["objectId"]?.stringValue)
        #expect(try await test.get("Task", id)["done"] == false)
        let explicit = try await test.newID("Task", ["name": "dry", "done": .null])
        #expect(try await test.get("Task", explicit)["done"] == .null)
        for value in ["", .null, ["__op": "Delete"]] as [JSONValue] {
            await expectRefusal(.validationError, "name is required") {
                try await test.change("Task", id, ["name": value])
            }
        }
        try await test.change("Task", id, ["done": true])
    }

    @Test func `the list of an object is kept, locked, and given by the class`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("anna")
        let own = try await test.context(token: user.token)
        let id = try await test.newID(
            "Note",
            [
                "a": 1,
                "ACL": [
                    "*": ["read": true, "write": false], .init(stringLiteral: user.id): ["write": true],
                ],
            ]
        )
        #expect(try await test.get("Note", id)["ACL"] == ["*": ["read": true], user.id: ["write": true]])
        try await test.change("Note", id, ["a": 2, "ACL": .null], in: own)
        #expect(try await test.get("Note", id)["ACL"]?[user.id] != nil)
        try await test.change("Note", id, ["ACL": ["__op": "Delete"]], in: own)
        #expect(try await test.get("Note", id)["ACL"] == [:])
        await expectRefusal(.objectNotFound, "Object not found.") {
            _ = try await test.get("Note", id, in: own)
        }

        let permissions: JSONObject = [
            "create": ["*": true], "ACL": ["currentUser": ["read": true, "write": true]],
        ]
        try await test.apply(.setPermissions(className: "Note", ClassPermissions(permissions)))
        let reply = try await test.create("Note", ["a": 1], in: own)
        #expect(reply["ACL"] == [user.id: ["read": true, "write": true]])
        #expect(try await test.create("Note", ["a": 1])["ACL"] == [:], "there is no user to give it to")
        #expect(try await test.create("Note", ["a": 1, "ACL": ["*": ["read": true]]], in: own)["ACL"] == nil)
    }

    @Test func `a request whose session ended on the way writes nothing`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("anna")
        let id = try await test.newID("Note", ["a": 1])
        let context = try await test.context(token: user.token)
        _ = try await LogOut().run(in: context)
        let dead = ParseError.invalidSessionToken
        await expectRefusal(dead.code, dead.message) {
            _ = try await test.create("Note", ["a": 1], in: context)
        }
        await expectRefusal(dead.code, dead.message) {
            try await test.change("Note", id, ["a": 2], in: context)
        }
        await expectRefusal(dead.code, dead.message) {
            _ = try await DeleteObject(className: "Note", objectID: id).run(in: context)
        }
        #expect(try await test.find("Note").count == 1)
    }
}

@Suite struct IncludeTests {
    private let test: TestApp
    private let player: String
    private let team: String
    private let town: String

    init() async throws {
        test = try TestApp()
        town = try await test.newID("Town", ["name": "Bonn", "secret": "s"])
        team = try await test.newID("Team", ["name": "Reds", "town": FieldValue.pointerJSON("Town", town)])
        player = try await test.newID(
            "Player",
            [
                "nick": "ann", "team": FieldValue.pointerJSON("Team", team),
                "teams": [FieldValue.pointerJSON("Team", team), FieldValue.pointerJSON("Team", "gone"), 5],
                "info": [
                    "home": FieldValue.pointerJSON("Town", town),
                    "other": FieldValue.pointerJSON("Town", town),
                ],
            ]
        )
    }

    @Test func `pointers are followed level by level`() async throws {
        let plain = try await test.get("Player", player)
        #expect(plain["team"] == FieldValue.pointerJSON("Team", team))
        let found = try await test.get("Player", player, ["include": "team.town"])
        #expect(found["team"]?["__type"] == "Object" && found["team"]?["className"] == "Team")
        #expect(found["team"]?["name"] == "Reds" && found["team"]?["town"]?["name"] == "Bonn")
        #expect(found["teams"]?.arrayValue?.count == 3, "it was not asked for")
    }

    @Test func `elements of arrays are followed, and those that lead nowhere are left out`() async throws {
        let found = try await test.get("Player", player, ["include": "teams"])
        let teams = try #require(found["teams"]?.arrayValue)
        #expect(teams.count == 2 && teams[0]["name"] == "Reds" && teams[1] == 5)
    }

    @Test func `a path leads through plain objects, and touches nothing beside it`() async throws {
        let found = try await test.get("Player", player, ["include": "info.home"])
        #expect(found["info"]?["home"]?["name"] == "Bonn")
        #expect(found["info"]?["other"] == FieldValue.pointerJSON("Town", town))
    }

    @Test func `keys and excludeKeys reach into included objects`() async throws {
        let keys = try await test.get("Player", player, ["keys": "nick,team.name"])
        #expect(Set(keys.keys) == ["objectId", "createdAt", "updatedAt", "nick", "team"])
        #expect(keys["team"]?["name"] == "Reds" && keys["team"]?["town"] == nil)
        let excluded = try await test.get("Player", player, ["excludeKeys": "team.name"])
        #expect(excluded["team"]?["__type"] == "Object" && excluded["team"]?["name"] == nil)
        #expect(excluded["nick"] == "ann")
    }

    @Test(arguments: [["include": "*"], ["includeAll": true]] as [JSONObject])
    func `all pointers of the first level at once`(_ parameters: JSONObject) async throws {
        let context = test.context(.master)
        let options = try FindOptions(parameters, by: .master)
        let reply = try await FindObjects(className: "Player", options: options).run(in: context)
        let found = try #require(reply["results"]?.arrayValue?.first)
        #expect(found["team"]?["name"] == "Reds" && found["team"]?["town"]?["__type"] == "Pointer")
        #expect(found["teams"]?.arrayValue?.count == 2)
    }

    @Test func `what may not be read disappears`() async throws {
        try await test.change("Town", town, ["ACL": [:]])
        let found = try await test.get("Player", player, ["include": "team.town"], in: test.context())
        #expect(found["team"]?["name"] == "Reds" && found["team"]?["town"] == nil)
        try await test.apply(.setPermissions(className: "Team", ClassPermissions(["get": [:]])))
        await expectRefusal(.operationForbidden, "Permission denied for action get on class Team.") {
            _ = try await test.get("Player", player, ["include": "team"], in: test.context())
        }
    }

    @Test func `cycles end where the path ends`() async throws {
        try await test.change("Team", team, ["captain": FieldValue.pointerJSON("Player", player)])
        let path = Array(repeating: "team.captain", count: 8).joined(separator: ".")
        let found = try await test.get("Player", player, ["include": .string(path)])
        #expect(found["team"]?["captain"]?["team"]?["captain"]?["nick"] == "ann")
        await expectRefusal(.invalidQuery, "A path of a query has at most 16 parts.") {
            _ = try await test.get("Player", player, ["include": .string(path + ".team")])
        }
    }

    @Test func `what included objects come to is bounded`() async throws {
        let big = try await test.newID("Big", ["text": .string(String(repeating: "x", count: 900_000))])
        for _ in 0..<50 { _ = try await test.create("Small", ["big": FieldValue.pointerJSON("Big", big)]) }
        await expectRefusal(.objectTooLarge, "The included objects are too large: ask for fewer at once.") {
            _ = try await test.find("Small", ["include": "big"])
        }
        #expect(try await test.find("Small", ["include": "big", "limit": 10]).count == 10)
    }
}
