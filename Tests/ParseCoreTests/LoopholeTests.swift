import JSON
import Locking
import ParseCore
import ParseWire
import Testing

/// Ways around a rule that were found, and closed.
@Suite struct LoopholeTests {
    @Test func `data for a provider may not hold prohibited keys either`() async throws {
        let test = try TestApp()
        let body: JSONObject = ["authData": ["anonymous": ["id": "x", "constructor": 1]]]
        let error = await refusal { _ = try await SignUp(body: body).run(in: test.context()) }
        #expect(error?.code == .invalidKeyName)
        #expect(error?.message == #"Prohibited keyword in request data: {"key":"constructor"}."#)
        #expect(try await test.rows(SystemClasses.user).isEmpty)

        let user = try await test.signUp("alice")
        let context = try await test.context(token: user.token)
        let update = await refusal { try await test.update(user.id, body, in: context) }
        #expect(update?.code == .invalidKeyName)
    }

    @Test(arguments: ["a@b.c\nBcc: x@y.z", "\r\na@b.c", "a@b\u{2028}c"])
    func `an address with a line break is none`(address: String) async throws {
        let test = try TestApp()
        let error = await refusal { try await test.signUp("alice", ["email": .string(address)]) }
        #expect(error == .invalidEmail)
    }

    @Test func `a session made by the master key replaces the one of that installation`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("alice", installation: "phone")
        let body: JSONObject = [
            "user": FieldValue.pointerJSON("_User", user.id), "installationId": "phone",
        ]
        _ = try await CreateSession(body: body).run(in: test.context(.master))
        #expect(try await test.sessions(of: user.id).count == 1)
        let error = await refusal { _ = try await test.app.authenticate(token: user.token) }
        #expect(error == .invalidSessionToken)
    }

    @Test func `the reply to an increment inside a field holds that part alone`() async throws {
        let test = try TestApp()
        let user = try await test.signUp(
            "alice",
            ["stats": ["wins": 1, "losses": 2, "deep": ["a": 1, "b": 2]]]
        )
        let context = try await test.context(token: user.token)
        var reply = try await test.update(
            user.id,
            [
                "stats.wins": ["__op": "Increment", "amount": 2],
                "stats.deep.a": ["__op": "Increment", "amount": 1],
            ],
            in: context
        )
        reply["updatedAt"] = nil
        #expect(reply == ["stats": ["wins": 3, "deep": ["a": 2]]])
    }

    @Test func `a provider log-in ends when the account is taken off the user meanwhile`() async throws {
        let test = try TestApp()
        let authData: JSONObject = ["authData": ["anonymous": ["id": "known-id"]]]
        let made = try await SignUp(body: authData).run(in: test.context())
        let id = try #require(made.body["objectId"]?.stringValue)
        let token = try #require(made.body["sessionToken"]?.stringValue)
        // The conversion commits between the moment the owner is looked up and the moment the session is stored.
        let racing = HookStorage(test.storage)
        let app = App(
            id: "test",
            credentials: test.app.credentials,
            options: test.app.options,
            storage: racing,
            environment: test.app.environment
        )
        racing.afterUsersLookUp.withLock { hook in
            hook = {
                let owner = try await test.context(token: token)
                try await test.update(id, ["username": "frank", "password": "pw"], in: owner)
            }
        }
        let context = RequestContext(
            app: app,
            principal: .nobody,
            sessionToken: nil,
            installationID: nil,
            lane: nil
        )
        let error = await refusal { _ = try await SignUp(body: authData).run(in: context) }
        #expect(error == .accountAlreadyLinked)
        #expect(try await test.sessions(of: id).count == 1)
    }

    @Test(arguments: ["caf\u{e9}", "*", "me", "..", "a/b", "a b", "role:\u{301}x", "\u{212A}"])
    func `a custom id is plain and means nothing else`(id: String) async throws {
        let test = try TestApp { $0.allowCustomObjectId = true }
        let error = await refusal { try await test.signUp("alice", ["objectId": .string(id)]) }
        #expect(error?.code == .invalidKeyName)
        #expect(try await test.signUp("bob", ["objectId": "Plain-id_1"]).id == "Plain-id_1")
    }

    @Test func `a name is another's address in other spelling, and each still logs in`() async throws {
        let test = try TestApp()
        _ = try await test.signUp(
            "e\u{301}1@x.y",
            password: "attacker",
            ["email": "\u{e9}1@x.y"]
        )
        let victim = try await test.signUp("\u{e9}1@x.y", password: "victim")
        let reply = try await test.logIn("\u{e9}1@x.y", password: "victim")
        #expect(reply["objectId"]?.stringValue == victim.id)
        let error = await refusal { _ = try await test.logIn("\u{e9}1@x.y", password: "attacker") }
        #expect(error == .invalidCredentials)
    }

    @Test func `a new password ends a token from before revocable sessions, and a lock bars it`() async throws
    {
        let test = try TestApp()
        let user = try await test.signUp("alice")
        let legacy: JSONObject = ["_session_token": "legacy-token"]
        try await test.update(user.id, legacy, in: test.context(.maintenance))
        try await test.update(user.id, ["password": "new"], in: test.context(.master))
        let error = await refusal {
            _ = try await UpgradeSession().run(in: test.context(.nobody, token: "legacy-token"))
        }
        #expect(error?.message == "invalid legacy session token")

        try await test.update(user.id, legacy, in: test.context(.maintenance))
        try await test.update(user.id, ["ACL": [:]], in: test.context(.master))
        let locked = await refusal {
            _ = try await UpgradeSession().run(in: test.context(.nobody, token: "legacy-token"))
        }
        #expect(locked?.message == "invalid legacy session token")
    }

    @Test func `an object has a largest size, whether it comes at once or grows`() async throws {
        let test = try TestApp()
        let text = String(repeating: "x", count: ObjectSize.limit - 100)
        let user = try await test.signUp("alice", ["note": .string(text)])
        let context = try await test.context(token: user.token)
        let grown = await refusal {
            try await test.update(
                user.id,
                ["list": ["__op": "Add", "objects": [.string(String(repeating: "y", count: 200))]]],
                in: context
            )
        }
        #expect(grown?.code == .objectTooLarge)
        let large = await refusal { try await test.signUp("bob", ["note": .string(text + text)]) }
        #expect(large?.code == .objectTooLarge)
        #expect(try await test.rows(SystemClasses.user).count == 1)
    }

    @Test func `changes inside a large field are bounded together`() async throws {
        let test = try TestApp()
        let object = JSONObject((0..<5000).map { JSONObject.Member(key: "k\($0)", value: 1) })
        let user = try await test.signUp("alice", ["o": .object(object)])
        let context = try await test.context(token: user.token)
        var few = JSONObject()
        for index in 0..<50 { few.append("o.k\(index)", 2) }
        try await test.update(user.id, few, in: context)
        var many = JSONObject()
        for index in 0..<500 { many.append("o.k\(index)", 3) }
        let error = await refusal { try await test.update(user.id, many, in: context) }
        #expect(error?.code == .exceededQuota)
        #expect(try await test.user(user.id).fields["o"]?.objectValue?["k0"] == 2)
    }

    @Test func `a long list is searched in an array at once`() async throws {
        let test = try TestApp()
        let elements = (0..<100_000).map { JSONValue.number(Double($0)) }
        let user = try await test.signUp("alice", ["arr": .array(elements)])
        let context = try await test.context(token: user.token)
        func find(_ values: [JSONValue]) async throws -> Int {
            let options = try FindOptions(
                ["where": ["arr": ["$in": .array(values)]]],
                by: context.principal
            )
            let reply = try await FindObjects(className: SystemClasses.user, options: options).run(
                in: context
            )
            return reply["results"]?.arrayValue?.count ?? -1
        }
        let strangers = (0..<1900).map { JSONValue.number(Double(-1 - $0)) }
        #expect(try await find(strangers) == 0)
        #expect(try await find(strangers + [99_999]) == 1)
        #expect(try await find(["99999", true]) == 0)
    }
}
