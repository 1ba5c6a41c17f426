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
}
