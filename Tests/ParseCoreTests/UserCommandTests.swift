import Cryptography
import JSON
import ParseCore
import ParseWire
import Testing

/// The order of checks of each command: of several faults the first one is told.
@Suite struct SignUpTests {
    private func signUp(_ body: JSONObject, in test: TestApp, _ context: RequestContext? = nil) async throws
        -> SaveReply
    {
        try await SignUp(body: body).run(in: context ?? test.context())
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let body: JSONObject
        let code: ParseErrorCode
        let message: String

        init(_ body: JSONObject, _ code: ParseErrorCode, _ message: String) {
            self.body = body
            self.code = code
            self.message = message
        }

        var testDescription: String { body.description }
    }

    @Test(arguments: [
        Refused(["objectId": "role:x", "id": "y"], .operationForbidden, "Invalid object ID."),
        Refused(["objectId": "x"], .invalidKeyName, "objectId is an invalid field name."),
        Refused(["id": "x"], .invalidKeyName, "id is an invalid field name."),
        Refused([:], .usernameMissing, "bad or missing username"),
        Refused(["username": 42, "password": 42], .usernameMissing, "bad or missing username"),
        Refused(["username": "", "password": "p"], .usernameMissing, "bad or missing username"),
        Refused(["username": "u"], .passwordMissing, "password is required"),
        Refused(["username": "u", "password": 42], .passwordMissing, "password is required"),
        Refused(["username": "u", "password": ""], .passwordMissing, "password is required"),
        Refused(["authData": [:]], .usernameMissing, "bad or missing username"),
        Refused(["authData": ["anonymous": nil]], .usernameMissing, "bad or missing username"),
        Refused(["authData": ["anonymous": [:]]], .usernameMissing, "bad or missing username"),
        Refused(["authData": ["anonymous": ["id": ""]]], .usernameMissing, "bad or missing username"),
        Refused(["authData": ["anonymous": ["x": 1]]], .usernameMissing, "bad or missing username"),
        Refused(["authData": "text"], .usernameMissing, "bad or missing username"),
        Refused(["authData": nil], .usernameMissing, "bad or missing username"),
        Refused(
            ["username": "u", "password": "p", "authData": nil],
            .unsupportedService,
            "This authentication method is unsupported."
        ),
        Refused(
            ["authData": ["facebook": ["id": "1"]]],
            .unsupportedService,
            "This authentication method is unsupported."
        ),
        Refused(
            ["authData": ["anonymous": ["id": ["$ne": "x"]]]],
            .invalidValue,
            "Invalid authData id for provider 'anonymous'."
        ),
        Refused(
            ["username": "u", "password": "p", "emailVerified": false, "a-b": 1],
            .operationForbidden,
            "Clients aren't allowed to manually update email verification."
        ),
        Refused(
            ["username": "taken", "password": "p", "_x": 1],
            .invalidKeyName,
            "Invalid field name: _x."
        ),
        Refused(
            ["username": "taken", "password": "p", "email": 5],
            .incorrectType,
            "schema mismatch for _User.email; expected String but got Number"
        ),
        Refused(
            ["username": "TAKEN", "password": "p", "email": "bad"],
            .usernameTaken,
            "Account already exists for this username."
        ),
        Refused(
            ["username": "u", "password": "p", "email": "bad"],
            .invalidEmailAddress,
            "Email address format is invalid."
        ),
        Refused(
            ["username": "u", "password": "p", "email": "@x"],
            .invalidEmailAddress,
            "Email address format is invalid."
        ),
        Refused(
            ["username": "u", "password": "p", "email": "T@X.com"],
            .emailTaken,
            "Account already exists for this email address."
        ),
        Refused(
            ["username": "u", "password": "p", "ACL": ["*unresolved": [:]]],
            .invalidACL,
            "Invalid ACL."
        ),
    ])
    func `the first fault is told and nothing is stored`(_ refused: Refused) async throws {
        let test = try TestApp()
        try await test.signUp("taken", ["email": "t@x.com"])
        await expectRefusal(refused.code, refused.message) { _ = try await signUp(refused.body, in: test) }
        #expect(try await test.rows("_User").count == 1)
        #expect(try await test.rows("_Session").count == 1)
    }

    @Test func `a normal sign-up answers three keys, and hides what it must`() async throws {
        let test = try TestApp()
        let reply = try await signUp(
            ["username": "u", "password": "p", "email": "a@b", "authData": [:]],
            in: test
        )
        #expect(reply.isNew)
        #expect(reply.body.keys == ["objectId", "createdAt", "sessionToken"])
        let id = try #require(reply.body["objectId"]?.stringValue)
        #expect(reply.location == .user(id))
        let token = try #require(reply.body["sessionToken"]?.stringValue)
        #expect(token.hasPrefix("r:") && token.count == 34)
        let row = try await test.user(id)
        #expect(row.acl == AccessControlList(readers: [id], writers: [id]))
        #expect(row.fields["password"] == nil && row.fields["authData"] == nil)
        let session = try #require(try await test.sessions(of: id).first)
        #expect(session.fields["createdWith"] == .object(["action": "signup", "authProvider": "password"]))
        #expect(session.fields["installationId"] == nil && session.fields["sessionToken"] == nil)
        #expect(session.fields["expiresAt"] == .date(test.clock.now.adding(seconds: 31_536_000)))
    }

    @Test func `the read-only master key makes no user`() async throws {
        let test = try TestApp()
        await expectRefusal(
            .operationForbidden,
            "read-only masterKey isn't allowed to perform the create operation."
        ) {
            _ = try await signUp(["username": "u", "password": "p"], in: test, test.context(.readOnlyMaster))
        }
    }

    @Test func `a client's ACL keeps the owner's own rights`() async throws {
        let test = try TestApp()
        let id = try await test.signUp("u", ["ACL": ["*": ["read": true]]]).id
        #expect(
            try await test.user(id).acl?.json == ["*": ["read": true], id: ["read": true, "write": true]]
        )
    }

    @Test func `the installation cloud gets no session`() async throws {
        let test = try TestApp()
        let reply = try await signUp(
            ["username": "u", "password": "p"],
            in: test,
            test.context(installation: "cloud")
        )
        #expect(reply.body["sessionToken"] == nil)
        #expect(try await test.rows("_Session").isEmpty)
    }

    @Test func `custom ids where they are allowed`() async throws {
        let test = try TestApp { $0.allowCustomObjectId = true }
        let body: JSONObject = ["username": "u", "password": "p", "objectId": "mine"]
        #expect(try await signUp(body, in: test).body["objectId"] == "mine")
        await expectRefusal(.duplicateValue, "A duplicate value for a field with unique values was provided")
        {
            _ = try await signUp(["username": "v", "password": "p", "objectId": "mine"], in: test)
        }
        await expectRefusal(.missingObjectID, "objectId must not be empty, null or undefined") {
            _ = try await signUp(["username": "w", "password": "p", "objectId": ""], in: test)
        }
        for id in ["a/b", "a b", "a\u{1F}*", "a\0"] {
            await expectRefusal(.invalidKeyName, "objectId is an invalid field name.") {
                _ = try await signUp(["username": "w", "password": "p", "objectId": .string(id)], in: test)
            }
        }
    }

    @Test func `fifty sign-ups with one name at one moment make one user`() async throws {
        let test = try TestApp()
        let outcomes = await withTaskGroup(of: ParseErrorCode?.self) { group in
            for number in 0..<50 {
                group.addTask {
                    await refusal { try await test.signUp(number.isMultiple(of: 2) ? "Same" : "sAME") }?.code
                }
            }
            return await group.reduce(into: [ParseErrorCode?]()) { $0.append($1) }
        }
        #expect(outcomes.filter { $0 == nil }.count == 1)
        #expect(outcomes.filter { $0 == .usernameTaken }.count == 49)
        #expect(try await test.rows("_User").count == 1)
        #expect(try await test.rows("_Session").count == 1)
    }

    @Test func `an anonymous user is known again by its id`() async throws {
        let test = try TestApp()
        let body: JSONObject = ["authData": ["anonymous": ["id": "secret-id"]]]
        let first = try await signUp(body, in: test)
        #expect(first.isNew)
        #expect(first.body["username"]?.stringValue?.count == 25)
        #expect(first.body["authDataResponse"] == [:])
        let second = try await signUp(
            ["authData": ["anonymous": ["id": "secret-id"]], "nick": "x"],
            in: test
        )
        #expect(!second.isNew)
        #expect(second.body["objectId"] == first.body["objectId"])
        #expect(second.body["nick"] == nil)
        #expect(second.body["sessionToken"] != first.body["sessionToken"])
        #expect(try await test.rows("_User").count == 1)
    }

    @Test func `an anonymous user who is locked stays out, and the id stays taken`() async throws {
        let test = try TestApp()
        let body: JSONObject = ["authData": ["anonymous": ["id": "i"]]]
        let id = try #require(try await signUp(body, in: test).body["objectId"]?.stringValue)
        try await test.update(id, ["ACL": [:]], in: test.context(.master))
        await expectRefusal(.accountAlreadyLinked, "this auth is already used") {
            _ = try await signUp(body, in: test)
        }
    }

    @Test func `a row made with the maintenance key may have dates of its own, in order`() async throws {
        let test = try TestApp()
        let context = test.context(.maintenance)
        let old: JSONValue = ["__type": "Date", "iso": "2020-01-01T00:00:00.000Z"]
        let older: JSONValue = ["__type": "Date", "iso": "2019-01-01T00:00:00.000Z"]
        let made = try await signUp(["username": "u", "password": "p", "createdAt": old], in: test, context)
        #expect(made.body["createdAt"] == "2020-01-01T00:00:00.000Z")
        await expectRefusal(.validationError, "updatedAt cannot occur before createdAt") {
            let body: JSONObject = ["username": "v", "password": "p", "createdAt": old, "updatedAt": older]
            _ = try await signUp(body, in: test, context)
        }
        let client = try await signUp(["username": "w", "password": "p", "createdAt": old], in: test)
        #expect(client.body["createdAt"] == .string(test.clock.now.iso8601))
    }
}

@Suite struct LogInTests {
    struct Refused: Sendable, CustomTestStringConvertible {
        let credentials: JSONObject
        let code: ParseErrorCode
        let message: String

        init(_ credentials: JSONObject, _ code: ParseErrorCode, _ message: String) {
            self.credentials = credentials
            self.code = code
            self.message = message
        }

        var testDescription: String { credentials.description }
    }

    private func credentials(_ json: JSONObject) -> Credentials {
        Credentials(username: json["username"], email: json["email"], password: json["password"])
    }

    @Test(arguments: [
        Refused([:], .usernameMissing, "username/email is required."),
        Refused(
            ["username": "", "email": nil, "password": "secret"],
            .usernameMissing,
            "username/email is required."
        ),
        Refused(["username": "u"], .passwordMissing, "password is required."),
        Refused(["username": "u", "password": ""], .passwordMissing, "password is required."),
        Refused(["username": "u", "password": 5], .objectNotFound, "Invalid username/password."),
        Refused(
            ["username": ["$regex": "^u"], "password": "secret"],
            .objectNotFound,
            "Invalid username/password."
        ),
        Refused(["email": ["$ne": ""], "password": "secret"], .objectNotFound, "Invalid username/password."),
        Refused(["username": "u", "password": ["$ne": 1]], .objectNotFound, "Invalid username/password."),
        Refused(["username": "nobody", "password": "secret"], .objectNotFound, "Invalid username/password."),
        Refused(["username": "U", "password": "secret"], .objectNotFound, "Invalid username/password."),
        Refused(["username": "u", "password": "Secret"], .objectNotFound, "Invalid username/password."),
        Refused(
            ["username": "u", "email": "v@x", "password": "secret"],
            .objectNotFound,
            "Invalid username/password."
        ),
        Refused(["username": "locked", "password": "secret"], .objectNotFound, "Invalid username/password."),
        Refused(
            ["username": "passwordless", "password": "x"],
            .objectNotFound,
            "Invalid username/password."
        ),
    ])
    func `the first fault is told, and what exists is not`(_ refused: Refused) async throws {
        let test = try TestApp()
        try await test.signUp("u", ["email": "u@x"])
        try await test.signUp("v", ["email": "v@x"])
        let locked = try await test.signUp("locked")
        try await test.update(locked.id, ["ACL": [:]], in: test.context(.master))
        _ = try await SignUp(body: ["username": "passwordless", "authData": ["anonymous": ["id": "a"]]])
            .run(in: test.context())
        await expectRefusal(refused.code, refused.message) {
            _ = try await LogIn(credentials: credentials(refused.credentials), authData: nil).run(
                in: test.context()
            )
        }
        await expectRefusal(refused.code, refused.message) {
            _ = try await VerifyPassword(credentials: credentials(refused.credentials)).run(
                in: test.context()
            )
        }
        #expect(try await test.rows("_Session").count == 4)
    }

    @Test func `by name, by address as name, by address`() async throws {
        let test = try TestApp()
        let id = try await test.signUp("u", ["email": "u@x", "score": 5]).id
        let ways: [JSONObject] = [
            ["username": "u"], ["username": "u@x"], ["email": "u@x"], ["username": "u", "email": "u@x"],
        ]
        for way in ways {
            var json = way
            json["password"] = "secret"
            let user = try await LogIn(credentials: credentials(json), authData: nil).run(in: test.context())
            #expect(user["objectId"] == .string(id))
            #expect(user["email"] == "u@x" && user["score"] == 5)
            #expect(
                user["password"] == nil && user["_hashed_password"] == nil && user["authDataResponse"] == nil
            )
            #expect(user.members.last?.key == "sessionToken")
        }
    }

    @Test func `a name that is another's address belongs to the one whose name it is`() async throws {
        let test = try TestApp()
        let named = try await test.signUp("x@a.com", password: "of the name")
        try await test.signUp("other", password: "of the address", ["email": "x@a.com"])
        #expect(try await test.logIn("x@a.com", password: "of the name")["objectId"] == .string(named.id))
        await expectRefusal(.objectNotFound, "Invalid username/password.") {
            _ = try await test.logIn("x@a.com", password: "of the address")
        }
    }

    @Test func `ten log-ins at one moment on one installation leave one session, and it works`() async throws
    {
        let test = try TestApp()
        let id = try await test.signUp("u", installation: "phone").id
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<10 { group.addTask { try await test.token("u", installation: "phone") } }
            return try await group.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(try await test.sessions(of: id).count == 1)
        var living = 0
        for token in tokens where await refusal({ _ = try await test.app.authenticate(token: token) }) == nil
        {
            living += 1
        }
        #expect(living == 1)
    }

    @Test func `without an installation sessions add up, and those of others stay`() async throws {
        let test = try TestApp()
        let id = try await test.signUp("u").id
        let other = try await test.signUp("v", installation: "phone").id
        _ = try await test.logIn("u")
        _ = try await test.logIn("u", installation: "")
        _ = try await test.logIn("u", installation: "phone")
        #expect(try await test.sessions(of: id).count == 4)
        #expect(try await test.sessions(of: other).count == 1)
    }

    @Test func `a log-in whose password is changed after it was checked makes no session`() async throws {
        let hook = HookProvider()
        let test = try TestApp(providers: [hook])
        let id = try await test.signUp("u").id
        hook.act { try await test.update(id, ["password": "new"], in: test.context(.master)) }
        let credentials = Credentials(username: "u", email: nil, password: "secret")
        await expectRefusal(.objectNotFound, "Invalid username/password.") {
            _ = try await LogIn(credentials: credentials, authData: ["hook": ["id": "1"]]).run(
                in: test.context()
            )
        }
        #expect(hook.count == 1)
        #expect(try await test.sessions(of: id).isEmpty)
        #expect(try await test.user(id).fields["authData"] == nil)
    }

    @Test func `a log-in whose user is deleted after the password was checked makes no session`() async throws
    {
        let hook = HookProvider()
        let test = try TestApp(providers: [hook])
        let id = try await test.signUp("u").id
        hook.act { _ = try await DeleteUser(userID: id).run(in: test.context(.master)) }
        let credentials = Credentials(username: "u", email: nil, password: "secret")
        await expectRefusal(.objectNotFound, "Invalid username/password.") {
            _ = try await LogIn(credentials: credentials, authData: ["hook": ["id": "1"]]).run(
                in: test.context()
            )
        }
        #expect(try await test.rows("_Session").isEmpty)
    }

    @Test func `a bcrypt hash is replaced at the next log-in`() async throws {
        let test = try TestApp()
        let id = try await test.signUp("u").id
        let imported = try PasswordHash.make("imported", .bcrypt(cost: 4))
        var transaction = Transaction()
        transaction.add(
            .update(
                RowUpdate(
                    className: "_User",
                    predicate: .id(id),
                    hidden: [HiddenField.passwordHash: .string(imported)]
                )
            )
        )
        _ = try await test.app.commit(transaction)
        await expectRefusal(.objectNotFound, "Invalid username/password.") {
            _ = try await test.logIn("u", password: "wrong")
        }
        #expect(try await test.user(id).hidden[HiddenField.passwordHash] == .string(imported))
        for _ in 0..<2 { _ = try await test.logIn("u", password: "imported") }
        let hash = try #require(try await test.user(id).hidden[HiddenField.passwordHash]?.stringValue)
        #expect(hash.hasPrefix("$argon2id$"))
    }

    @Test func `log-in as another needs the master key`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u")
        func logInAs(_ id: JSONValue?, _ context: RequestContext) async throws -> JSONObject {
            try await LogInAs(userID: id).run(in: context)
        }
        let client = try await test.context(token: user.token)
        for context in [test.context(), client, test.context(.maintenance)] {
            await expectRefusal(.operationForbidden, "master key is required") {
                _ = try await logInAs("x", context)
            }
        }
        await expectRefusal(
            .operationForbidden,
            "read-only masterKey isn't allowed to login as another user."
        ) {
            _ = try await logInAs("x", test.context(.readOnlyMaster))
        }
        let master = test.context(.master)
        await expectRefusal(.invalidValue, "userId must not be empty, null, or undefined") {
            _ = try await logInAs("", master)
        }
        for id: JSONValue in ["x", 5, ["$ne": ""]] {
            await expectRefusal(.objectNotFound, "user not found") { _ = try await logInAs(id, master) }
        }
        let token = try #require(try await logInAs(.string(user.id), master)["sessionToken"]?.stringValue)
        #expect(try await test.app.authenticate(token: token).userID == user.id)
    }

    @Test func `the read-only master key logs nobody in`() async throws {
        let test = try TestApp()
        try await test.signUp("u")
        let credentials = Credentials(username: "u", email: nil, password: "secret")
        let error = await refusal {
            _ = try await LogIn(credentials: credentials, authData: nil).run(
                in: test.context(.readOnlyMaster)
            )
        }
        #expect(error?.code == .operationForbidden)
    }
}
