import JSON
import ParseCore
import ParseWire
import Testing

@Suite struct ObjectBodyTests {
    let test: TestApp

    init() throws {
        test = try TestApp()
    }

    private func body(_ json: JSONObject, _ kind: ObjectBody.Kind = .create, of className: String = "_User")
        throws -> ObjectBody
    {
        try ObjectBody(json, className: className, kind: kind, in: test.app)
    }

    @Test(
        arguments: [
            ("username", 1, "String", "Number"), ("email", true, "String", "Boolean"),
            ("emailVerified", "yes", "Boolean", "String"), ("username", ["a": 1], "String", "Object"),
            ("username", [1], "String", "Array"),
            ("username", ["__op": "Increment", "amount": 1], "String", "Number"),
            ("createdAt", "2024-10-24T21:13:17.123Z", "Date", "String"), ("updatedAt", 5, "Date", "Number"),
            ("ACL", "public", "ACL", "String"), ("ACL", [1], "ACL", "Array"),
            (
                "username", ["__type": "Pointer", "className": "_User", "objectId": "x"], "String",
                "Pointer<_User>"
            ),
        ] as [(String, JSONValue, String, String)]
    )
    func `a value of another type names both types`(
        _ field: String,
        _ json: JSONValue,
        _ expected: String,
        _ got: String
    ) {
        expectRefusalNow(
            .incorrectType,
            "schema mismatch for _User.\(field); expected \(expected) but got \(got)"
        ) {
            _ = try body([field: json])
        }
    }

    @Test func `a pointer to another class is another type`() {
        let message = "schema mismatch for _Session.user; expected Pointer<_User> but got Pointer<_Role>"
        expectRefusalNow(.incorrectType, message) {
            _ = try body(
                ["user": ["__type": "Pointer", "className": "_Role", "objectId": "x"]],
                of: "_Session"
            )
        }
    }

    @Test(arguments: [
        "_hashed_password", "_session_token", "_email_verify_token", "_token_hash", "__proto__", "9a", "a-b",
        "",
        "length", "className", "_SessionToken", "a.b", "a b", "ä", "$where",
    ])
    func `a name that cannot be a field is refused with 105, whatever its value`(_ name: String) {
        for value in [JSONValue.number(1), .null, ["__op": "Delete"]] {
            expectRefusalNow(.invalidKeyName, "Invalid field name: \(name).") { _ = try body([name: value]) }
        }
    }

    @Test func `a name may have 255 bytes and not more`() throws {
        let longest = String(repeating: "a", count: 255)
        #expect(try body([longest: 1]).changes.count == 1)
        expectRefusalNow(.invalidKeyName, "Invalid field name: \(longest)a.") {
            _ = try body([longest + "a": 1])
        }
    }

    @Test func `a new field is a change of the schema, and null is none`() throws {
        let body = try body(["score": 1, "nothing": nil, "gone": ["__op": "Delete"]])
        #expect(body.schemaChanges == [.addField(className: "_User", field: "score", type: .number)])
        #expect(body.changes.map(\.field) == ["score"])
    }

    @Test func `a class may have 1000 fields and not more`() throws {
        let present = try #require(test.app.storage.schema["_User"]).fieldNames.count
        var json = JSONObject()
        for number in 0..<(ObjectBody.fieldLimit - present) { json.append("f\(number)", 1) }
        #expect(try body(json).schemaChanges.count == ObjectBody.fieldLimit - present)
        json.append("oneMore", 1)
        expectRefusalNow(.exceededQuota, "The class _User cannot have more than 1000 fields.") {
            _ = try body(json)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `two hundred thousand new fields are refused without being looked at one by one`() {
        var json = JSONObject()
        json.reserveCapacity(200_000)
        let members = (0..<200_000).map { JSONObject.Member(key: "f\($0)", value: 1) }
        json = JSONObject(members)
        let start = ContinuousClock.now
        expectRefusalNow(.exceededQuota, "The class _User cannot have more than 1000 fields.") {
            _ = try body(json)
        }
        #expect(start.duration(to: .now) < .seconds(10))
    }

    @Test func `one geo point a class and not more`() throws {
        let point: JSONValue = ["__type": "GeoPoint", "latitude": 1, "longitude": 2]
        #expect(try body(["place": point]).changes.count == 1)
        expectRefusalNow(.incorrectType, "there can only be one geopoint field in a class") {
            _ = try body(["place": point, "other": point])
        }
    }

    @Test func `a path changes a part of an object`() throws {
        let body = try body(["stats.wins": ["__op": "Increment", "amount": 1], "stats.a.b": 2], .update)
        #expect(body.changes.map(\.field) == ["stats", "stats"])
        #expect(body.changes[0].change == .path(["wins"], .increment(1)))
        #expect(body.changes[1].change == .path(["a", "b"], .set(.number(2))))
        #expect(body.schemaChanges == [.addField(className: "_User", field: "stats", type: .object)])
    }

    @Test func `a path may have 32 parts and not more`() throws {
        let longest = (["stats"] + [String](repeating: "a", count: 31)).joined(separator: ".")
        #expect(try body([longest: 1], .update).changes.count == 1)
        expectRefusalNow(.invalidKeyName, "Invalid field name for update: \(longest).a") {
            _ = try body([longest + ".a": 1], .update)
        }
    }

    @Test func `a save may have 1000 changes at paths and not more`() throws {
        var json = JSONObject()
        for number in 0..<1000 { json.append("stats.f\(number)", 1) }
        #expect(try body(json, .update).changes.count == 1000)
        json.append("stats.oneMore", 1)
        expectRefusalNow(.exceededQuota, "A save cannot change more than 1000 parts of fields.") {
            _ = try body(json, .update)
        }
    }

    @Test(arguments: [
        "stats.", ".stats", "stats..a", "_x.a", "authData.anonymous.id", "stats.$a", "authData.x",
    ])
    func `a malformed path, or one into authData, is refused with 105`(_ path: String) {
        expectRefusalNow(.invalidKeyName, "Invalid field name for update: \(path)") {
            _ = try body([path: 1], .update)
        }
    }

    @Test(arguments: [
        ("username.a", "String"), ("ACL.*", "ACL"), ("emailVerified.x", "Boolean"), ("createdAt.x", "Date"),
        ("password.x", "String"), ("objectId.x", "String"),
    ])
    func `a path into a field that is no object is refused with 111`(_ path: String, _ type: String) {
        let root = FieldName.root(of: path)
        expectRefusalNow(.incorrectType, "schema mismatch for _User.\(root); expected \(type) but got Object")
        {
            _ = try body([path: 1], .update)
        }
    }

    @Test(
        arguments: [
            (["constructor": 1], #"{"key":"constructor"}"#),
            (["myconstructor": 1], #"{"key":"constructor"}"#),
            (["a": ["b": ["constructor": 1]]], #"{"key":"constructor"}"#),
            (["a": [1, ["__proto__": 1]]], #"{"key":"__proto__"}"#),
            (["a": ["_bsontype": "Code"]], #"{"key":"_bsontype","value":"Code"}"#),
        ] as [(JSONObject, String)]
    )
    func `a prohibited keyword is refused at any depth, by its rule`(_ json: JSONObject, _ rule: String) {
        for kind in [ObjectBody.Kind.create, .update] {
            expectRefusalNow(.invalidKeyName, "Prohibited keyword in request data: \(rule).") {
                _ = try body(json, kind)
            }
        }
    }

    @Test func `the common fields are no fields`() throws {
        let body = try body([
            "objectId": "x", "createdAt": ["__type": "Date", "iso": "2024-01-01T00:00:00.000Z"],
            "ACL": ["*": ["read": true]],
        ])
        #expect(body.changes.isEmpty)
        #expect(body.createdAt?.iso8601 == "2024-01-01T00:00:00.000Z")
        #expect(body.acl?.readers == ["*"])
    }

    @Test func `an ACL of null says nothing, and deleting it locks the object`() throws {
        #expect(try body(["ACL": nil]).acl == nil)
        #expect(try body(["ACL": ["__op": "Delete"]]).acl?.isLocked == true)
    }

    @Test func `operations on a row that does not exist yet`() throws {
        let body = try body([
            "n": ["__op": "Increment", "amount": 3], "a": ["__op": "Add", "objects": [1]],
            "u": ["__op": "AddUnique", "objects": [1, 1]], "r": ["__op": "Remove", "objects": [1]],
        ])
        let values = try body.initialValues()
        #expect(values == ["n": .number(3), "a": .array([1]), "u": .array([1, 1]), "r": .array([])])
        #expect(body.resultFields(of: values) == ["n": 3, "a": [1], "u": [1, 1], "r": []])
    }
}

@Suite struct AccessControlListTests {
    @Test(
        arguments: [
            ([:], [:]), (["*": ["read": true]], ["*": ["read": true]]),
            (["*": ["read": true, "write": false]], ["*": ["read": true]]),
            (["u": ["read": false]], [:]), (["u": [:]], [:]),
            (
                ["role:A": ["write": true], "u": ["read": true, "write": true]],
                ["u": ["read": true, "write": true], "role:A": ["write": true]]
            ),
            (["u": ["read": nil, "write": true]], ["u": ["write": true]]),
        ] as [(JSONObject, JSONValue)]
    )
    func `only rights that are given are kept`(_ json: JSONObject, _ kept: JSONValue) throws {
        #expect(try AccessControlList(json).json == kept)
    }

    @Test(
        arguments: [
            ["*unresolved": ["read": true]], ["u": true], ["u": nil], ["u": ["read": 1]],
            ["u": ["read": "true"]],
            ["u": ["delete": true]], ["": ["read": true]], ["a\u{1F}*": ["read": true]],
            ["\n": ["read": true]],
            ["a\0": ["read": true]], ["u": [["read": true]]],
        ] as [JSONObject]
    )
    func `a malformed list is refused with 123`(_ json: JSONObject) {
        expectRefusalNow(.invalidACL, "Invalid ACL.") { _ = try AccessControlList(json) }
    }

    @Test func `a list is asked by group`() throws {
        let list = try AccessControlList(["u": ["read": true], "role:A": ["write": true]])
        #expect(list.allowsReading(by: ["*", "u"]))
        #expect(!list.allowsReading(by: ["*"]))
        #expect(!list.allowsWriting(by: ["*", "u"]))
        #expect(list.allowsWriting(by: ["role:A"]))
        #expect(!list.allowsReading(by: []))
    }

    @Test func `granting all adds what is missing once`() {
        var list = AccessControlList(readers: ["u"])
        list.grantAll(to: "u")
        #expect(list.readers == ["u"])
        #expect(list.writers == ["u"])
        #expect(!list.isLocked)
        #expect(AccessControlList().isLocked)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a list of a hundred thousand entries is written in passing`() throws {
        let members = (0..<100_000).map {
            JSONObject.Member(key: "user\($0)", value: ["read": true, "write": true])
        }
        let json = JSONObject(members)
        let list = try AccessControlList(json)
        let start = ContinuousClock.now
        #expect(list.json == .object(json))
        #expect(start.duration(to: .now) < .seconds(10))
    }

    @Test(arguments: [(false, false), (false, true), (true, false)])
    func `a class is made by the master, and by a client where the app allows it`(
        _ isAllowed: Bool,
        _ isMaster: Bool
    ) async throws {
        let test = try TestApp { $0.allowClientClassCreation = isAllowed }
        func body() throws -> ObjectBody {
            try ObjectBody(["score": 1], className: "Game", kind: .create, in: test.app, isMaster: isMaster)
        }
        guard isAllowed || isMaster else {
            let error = await refusal { _ = try body() }
            #expect(error?.code == .operationForbidden)
            #expect(error?.message == "This user is not allowed to access non-existent class: Game")
            return
        }
        let made = try body()
        #expect(
            made.schemaChanges == [
                .addClass("Game"), .addField(className: "Game", field: "score", type: .number),
            ]
        )
        let now = test.clock.now
        let row = StoredRow(
            objectID: "g1",
            createdAt: now,
            updatedAt: now,
            fields: try made.initialValues()
        )
        var transaction = Transaction(schemaChanges: made.schemaChanges)
        transaction.add(.insert(className: "Game", row))
        _ = try await test.app.commit(transaction)
        #expect(try await test.rows("Game").first?.fields == ["score": .number(1)])
        #expect(test.storage.schema["Game"]?.type(of: "score") == .number)
    }
}
