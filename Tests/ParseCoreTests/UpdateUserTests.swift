import JSON
import ParseCore
import ParseWire
import Testing

@Suite struct UpdateUserTests {
    @Test func `the order of checks, by what a nobody hears`() async throws {
        let test = try TestApp()
        try await test.signUp("taken", ["email": "t@x"])
        let id = try await test.signUp("u").id
        let cases: [(JSONObject, ParseErrorCode, String)] = [
            (
                ["authData": nil, "emailVerified": true], .unsupportedService,
                "This authentication method is unsupported."
            ),
            (
                ["emailVerified": true, "a-b": 1], .operationForbidden,
                "Clients aren't allowed to manually update email verification."
            ),
            (["a-b": 1, "username": "taken"], .invalidKeyName, "Invalid field name: a-b."),
            (
                ["username": 5, "email": "bad"], .incorrectType,
                "schema mismatch for _User.username; expected String but got Number"
            ),
            (["username": "", "email": "bad"], .usernameMissing, "bad or missing username"),
            (["username": nil], .usernameMissing, "bad or missing username"),
            (["username": ["__op": "Delete"]], .usernameMissing, "bad or missing username"),
            (["password": ""], .passwordMissing, "password is required"),
            (["password": nil], .passwordMissing, "password is required"),
            (["password": ["__op": "Delete"]], .passwordMissing, "password is required"),
            (
                ["username": "TAKEN", "email": "bad"], .usernameTaken,
                "Account already exists for this username."
            ),
            (["email": "bad"], .invalidEmailAddress, "Email address format is invalid."),
            (["email": "T@X"], .emailTaken, "Account already exists for this email address."),
            (["nick": "x"], .sessionMissing, "Cannot modify user \(id)."),
            ([:], .sessionMissing, "Cannot modify user \(id)."),
        ]
        let before = try await test.user(id)
        for (body, code, message) in cases {
            await expectRefusal(code, message) { try await test.update(id, body, in: test.context()) }
        }
        #expect(try await test.user(id) == before)
    }

    @Test func `who may change whom`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u", ["ACL": ["*": ["read": true]]])
        let other = try await test.signUp("v")
        let otherContext = try await test.context(token: other.token)
        for id in [user.id, "unknown", "me"] {
            await expectRefusal(.sessionMissing, "Insufficient auth.") {
                try await test.update(id, ["nick": "x"], in: otherContext)
            }
        }
        await expectRefusal(.objectNotFound, "Object not found.") {
            try await test.update("unknown", [:], in: test.context(.master))
        }
        await expectRefusal(
            .operationForbidden,
            "read-only masterKey isn't allowed to perform the update operation."
        ) {
            try await test.update(user.id, ["nick": "x"], in: test.context(.readOnlyMaster))
        }
        let own = try await test.context(token: user.token)
        #expect(try await test.update(user.id, ["nick": "x"], in: own).keys == ["updatedAt"])
        try await test.update(user.id, ["nick": "y", "emailVerified": true], in: test.context(.master))
        #expect(try await test.user(user.id).fields["nick"] == .string("y"))
    }

    @Test func `another user's password is not to be had by an id or an address`() async throws {
        let test = try TestApp()
        let victim = try await test.signUp("victim", ["email": "v@x"])
        let thief = try await test.signUp("thief")
        let context = try await test.context(token: thief.token)
        for body: JSONObject in [
            ["password": "mine"], ["objectId": .string(thief.id), "password": "mine"],
            ["authData": ["anonymous": ["id": "mine"]]],
            ["ACL": ["*": ["write": true]]], ["_hashed_password": "x"],
        ] {
            let error = await refusal { try await test.update(victim.id, body, in: context) }
            #expect(error != nil)
        }
        _ = try await test.token("victim")
        #expect(try await test.user(victim.id).fields["authData"] == nil)
    }

    @Test func `a new password ends every session and gives the owner a new one`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u", installation: "a")
        let second = try await test.token("u", installation: "b")
        let context = try await test.context(token: user.token, installation: "a")
        let reply = try await test.update(user.id, ["password": "new"], in: context)
        #expect(reply.keys == ["updatedAt", "sessionToken"])
        for token in [user.token, second] {
            await expectRefusal(.invalidSessionToken, "Invalid session token") {
                _ = try await test.app.authenticate(token: token)
            }
        }
        let fresh = try #require(reply["sessionToken"]?.stringValue)
        #expect(try await test.app.authenticate(token: fresh).userID == user.id)
        let row = try #require(try await test.sessions(of: user.id).first)
        #expect(row.fields["createdWith"] == nil && row.fields["installationId"] == .string("a"))
        await expectRefusal(.objectNotFound, "Invalid username/password.") { _ = try await test.logIn("u") }
        _ = try await test.logIn("u", password: "new")
    }

    @Test func `the master key gets no token for a new password`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u")
        #expect(
            try await test.update(user.id, ["password": "new"], in: test.context(.master)).keys == [
                "updatedAt"
            ]
        )
        #expect(try await test.sessions(of: user.id).isEmpty)
    }

    @Test func `sessions stay where the option says so`() async throws {
        let test = try TestApp { $0.revokeSessionOnPasswordReset = false }
        let user = try await test.signUp("u", installation: "a")
        let context = try await test.context(token: user.token, installation: "b")
        let reply = try await test.update(user.id, ["password": "new"], in: context)
        #expect(reply["sessionToken"] != nil)
        #expect(try await test.app.authenticate(token: user.token).userID == user.id)
        #expect(try await test.sessions(of: user.id).count == 2)
    }

    @Test func `a change whose session ends meanwhile is refused with 209 and changes nothing`() async throws
    {
        let hook = HookProvider()
        let test = try TestApp(providers: [hook])
        let user = try await test.signUp("u")
        let context = try await test.context(token: user.token)
        hook.act { _ = try await LogOut().run(in: context) }
        let before = try await test.user(user.id)
        await expectRefusal(.invalidSessionToken, "Invalid session token") {
            try await test.update(
                user.id,
                ["password": "new", "nick": "x", "authData": ["hook": ["id": "1"]]],
                in: context
            )
        }
        #expect(hook.count == 1)
        #expect(try await test.user(user.id) == before)
        #expect(try await test.rows("_Session").isEmpty)
        #expect(try await test.storage.users(owning: [ProviderIdentity(provider: "hook", id: "1")]).isEmpty)
        #expect(test.storage.schema["_User"]?.type(of: "nick") == nil)
    }

    @Test func `an anonymous user with a password is anonymous no more`() async throws {
        let test = try TestApp()
        let body: JSONObject = ["authData": ["anonymous": ["id": "known"]]]
        let made = try await SignUp(body: body).run(in: test.context()).body
        let id = try #require(made["objectId"]?.stringValue)
        let token = try #require(made["sessionToken"]?.stringValue)
        let context = try await test.context(token: token)
        let reply = try await test.update(id, ["username": "u", "password": "p"], in: context)
        #expect(reply.keys == ["updatedAt", "sessionToken"])
        #expect(try await test.user(id).fields["authData"] == nil)
        #expect(
            try await test.storage.users(owning: [ProviderIdentity(provider: "anonymous", id: "known")])
                .isEmpty
        )
        let again = try await SignUp(body: body).run(in: test.context())
        #expect(again.isNew)
        #expect(again.body["objectId"] != .string(id))
    }

    @Test func `a provider's account is linked, kept, taken off, and never two users'`() async throws {
        let hook = HookProvider()
        let test = try TestApp(providers: [hook])
        let user = try await test.signUp("u")
        let other = try await test.signUp("v")
        let context = try await test.context(token: user.token)
        let data: JSONObject = ["authData": ["hook": ["id": "1", "t": 1]]]
        #expect(try await test.update(user.id, data, in: context).keys == ["updatedAt", "authDataResponse"])
        #expect(hook.count == 1)
        try await test.update(user.id, data, in: context)
        #expect(hook.count == 1, "an identical object is not validated again")
        try await test.update(user.id, ["authData": ["hook": ["id": "1", "t": 2]]], in: context)
        #expect(hook.count == 2)
        await expectRefusal(.accountAlreadyLinked, "this auth is already used") {
            try await test.update(other.id, data, in: try await test.context(token: other.token))
        }
        #expect(hook.count == 3, "the provider is asked before anybody hears that the id is taken")
        try await test.update(user.id, ["authData": ["hook": nil]], in: context)
        #expect(try await test.user(user.id).fields["authData"] == nil)
        try await test.update(other.id, data, in: try await test.context(token: other.token))
        #expect(
            try await test.storage.users(owning: [ProviderIdentity(provider: "hook", id: "1")]).map(
                \.objectID
            ) == [other.id]
        )
    }

    @Test func `results of operations are answered, and nobody locks himself out`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u", ["n": 1])
        let context = try await test.context(token: user.token)
        let reply = try await test.update(
            user.id,
            ["n": ["__op": "Increment", "amount": 2], "ACL": [:], "objectId": "other", "createdAt": nil],
            in: context
        )
        #expect(reply["n"] == 3)
        let row = try await test.user(user.id)
        #expect(row.acl == AccessControlList(readers: [user.id], writers: [user.id]))
    }

    @Test func `an address is taken off by null, by nothing and by deletion`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u", ["email": "a@b"])
        let context = try await test.context(token: user.token)
        for (gone, left) in [(JSONValue.null, nil), (["__op": "Delete"], nil), ("", FieldValue.string(""))] {
            try await test.update(user.id, ["email": "a@b"], in: context)
            try await test.update(user.id, ["email": gone], in: context)
            #expect(try await test.user(user.id).fields["email"] == left)
        }
        try await test.signUp("v", ["email": "A@B"])
    }
}

@Suite struct DeleteUserTests {
    @Test func `who may delete whom`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u")
        let other = try await test.signUp("v")
        func delete(_ id: String, _ context: RequestContext) async throws {
            _ = try await DeleteUser(userID: id).run(in: context)
        }
        await expectRefusal(.sessionMissing, "Insufficient auth to delete user") {
            try await delete(user.id, test.context())
        }
        await expectRefusal(.sessionMissing, "Insufficient auth.") {
            try await delete(user.id, try await test.context(token: other.token))
        }
        await expectRefusal(
            .operationForbidden,
            "read-only masterKey isn't allowed to perform the delete operation."
        ) {
            try await delete(user.id, test.context(.readOnlyMaster))
        }
        await expectRefusal(.objectNotFound, "Object not found.") {
            try await delete("unknown", test.context(.master))
        }
        #expect(try await test.rows("_User").count == 2)
    }

    @Test func `sessions and accounts end with the user, in one transaction`() async throws {
        let test = try TestApp()
        let body: JSONObject = ["authData": ["anonymous": ["id": "i"]]]
        let made = try await SignUp(body: body).run(in: test.context()).body
        let id = try #require(made["objectId"]?.stringValue)
        let token = try #require(made["sessionToken"]?.stringValue)
        let context = try await test.context(token: token)
        _ = try await DeleteUser(userID: id).run(in: context)
        await expectRefusal(.invalidSessionToken, "Invalid session token") {
            _ = try await test.app.authenticate(token: token)
        }
        #expect(try await test.sessions(of: id).isEmpty)
        #expect(
            try await test.storage.users(owning: [ProviderIdentity(provider: "anonymous", id: "i")]).isEmpty
        )
        await expectRefusal(.invalidSessionToken, "Invalid session token") {
            _ = try await DeleteUser(userID: id).run(in: context)
        }
    }
}

@Suite struct ReadUsersTests {
    @Test func `who sees what of a user`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u", ["email": "a@b", "ACL": ["*": ["read": true]]])
        let other = try await test.signUp("v")
        func read(_ context: RequestContext) async throws -> JSONObject {
            try await GetUser(userID: user.id, selection: Selection()).run(in: context)
        }
        for context in [test.context(), try await test.context(token: other.token)] {
            let seen = try await read(context)
            #expect(seen["email"] == nil && seen["sessionToken"] == nil && seen["username"] == "u")
        }
        let own = try await read(try await test.context(token: user.token))
        #expect(own["email"] == "a@b" && own["sessionToken"] == .string(user.token))
        for principal in [Principal.master, .readOnlyMaster] {
            let seen = try await read(test.context(principal, token: user.token))
            #expect(seen["email"] == "a@b" && seen["sessionToken"] == nil && seen["_hashed_password"] == nil)
        }
        let seen = try await read(test.context(.maintenance))
        #expect(seen["_hashed_password"]?.stringValue?.hasPrefix("$argon2id$") == true)
        await expectRefusal(.objectNotFound, "Object not found.") {
            _ = try await GetUser(userID: other.id, selection: Selection()).run(in: test.context())
        }
    }

    @Test func `what may not be seen may not be searched or sorted by`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u", ["email": "a@b"])
        let client = try await test.context(token: user.token)
        func find(_ parameters: JSONObject, _ context: RequestContext) async throws -> JSONObject {
            try await FindObjects(
                className: SystemClasses.user,
                options: FindOptions(parameters, by: context.principal)
            ).run(in: context)
        }
        let filters: [(JSONObject, String)] = [
            (["email": "a@b"], "email"), (["$or": [["email": ["$exists": true]]]], "email"),
            (["$nor": [["$and": [["email": ["$ne": "x"]]]]]], "email"),
            (["authData": ["$exists": true]], "authData"),
            (["authData.anonymous.id": "x"], "authData.anonymous.id"), (["email.x": 1], "email.x"),
        ]
        for (filter, path) in filters {
            for context in [client, test.context()] {
                await expectRefusal(
                    .operationForbidden,
                    "This user is not allowed to query \(path) on class _User"
                ) {
                    _ = try await find(["where": .object(filter)], context)
                }
            }
        }
        for name in ["email", "-email", "authData", "authData.anonymous.id"] {
            let path = name.hasPrefix("-") ? String(name.dropFirst()) : name
            await expectRefusal(
                .operationForbidden,
                "This user is not allowed to sort by \(path) on class _User"
            ) {
                _ = try await find(["order": .string(name)], client)
            }
        }
        let own = try await find(["where": ["objectId": .string(user.id), "email": "a@b"]], client)
        #expect(own["results"]?.arrayValue?.count == 1)
        let secret: JSONObject = ["where": ["objectId": .string(user.id), "authData": ["$exists": true]]]
        #expect(await refusal { _ = try await find(secret, client) }?.code == .operationForbidden)
        let master = try await find(
            ["where": ["email": "a@b"], "count": 1, "limit": 0],
            test.context(.master)
        )
        #expect(master == ["results": [], "count": 1])
    }

    @Test func `hidden columns answer no question`() async throws {
        let test = try TestApp()
        try await test.signUp("u", ["ACL": ["*": ["read": true]]])
        for name in ["_hashed_password", "_session_token", "_readers", "_username_key"] {
            await expectRefusal(.invalidKeyName, "Invalid key name: \(name)") {
                let options = try FindOptions(["where": [name: ["$exists": true]]], by: .master)
                _ = try await FindObjects(className: SystemClasses.user, options: options).run(
                    in: test.context(.master)
                )
            }
        }
        for filter: JSONObject in [
            ["password": "secret"], ["password": ["$gt": ""]], ["password": ["$exists": true]],
        ] {
            let options = try FindOptions(["where": .object(filter)], by: .nobody)
            let found = try await FindObjects(className: SystemClasses.user, options: options).run(
                in: test.context()
            )
            #expect(found == ["results": []])
        }
    }

    @Test func `rows that may not be read are not found or counted`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u")
        try await test.signUp("v", ["ACL": ["*": ["read": true]]])
        let options = try FindOptions(["count": true], by: .nobody)
        #expect(
            try await FindObjects(className: SystemClasses.user, options: options).run(in: test.context())[
                "count"
            ] == 1
        )
        let own = try await test.context(token: user.token)
        #expect(
            try await FindObjects(className: SystemClasses.user, options: options).run(in: own)["count"] == 2
        )
        #expect(
            try await FindObjects(className: SystemClasses.user, options: options).run(
                in: test.context(.master)
            )["count"] == 2
        )
    }

    @Test func `the current user`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u", ["email": "a@b"])
        func me(_ context: RequestContext) async throws -> JSONValue {
            try JSONValue.parse(try await CurrentUser().run(in: context).encoded)
        }
        let own = try await me(try await test.context(token: user.token))
        #expect(own["sessionToken"] == .string(user.token) && own["email"] == "a@b" && own["__type"] == nil)
        for context in [
            test.context(), test.context(.master), test.context(.master, token: "r:unknown"),
            test.context(.master, token: "x"),
        ] {
            await expectRefusal(.invalidSessionToken, "Invalid session token") { _ = try await me(context) }
        }
        #expect(try await me(test.context(.master, token: user.token))["objectId"] == .string(user.id))
        try await test.update(user.id, ["ACL": [:]], in: test.context(.master))
        await expectRefusal(.invalidSessionToken, "Invalid session token") {
            _ = try await me(try await test.context(token: user.token))
        }
    }
}
