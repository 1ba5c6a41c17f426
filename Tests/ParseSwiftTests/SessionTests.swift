import Foundation
import Testing

@testable import ParseSwift

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension SDK {
    @Suite struct SessionTests {
        @Test func `a failed log-in leaves the former user in place and sends no token`() throws {
            let box = try Sandbox()
            try box.logIn()
            box.server.answer { _ in .error(101, "Invalid username/password.", status: 404) }
            let error = #expect(throws: ParseError.self) {
                try User.login(username: "ann", password: "wrong")
            }
            #expect(error?.code == .objectNotFound)
            #expect(error?.message == "Invalid username/password.")
            #expect(User.current?.objectId == "u1")
            #expect(box.server.requests.last?.header("X-Parse-Session-Token") == nil)
        }

        @Test func `a user is found again after a restart, also by another model`() throws {
            let box = try Sandbox()
            let user = try box.logIn(#","nick":"A""#)
            box.start()
            #expect(User.current == user)
            #expect(OtherUser.current?.nick == "A")
            #expect(box.store.text("_currentUser")?.contains(#""sessionToken":"r:1""#) == true)
        }

        @Test func `the item of an older version of the SDK is understood`() throws {
            let box = try Sandbox()
            box.store.put(
                #"{"currentUser":{"objectId":"u5","username":"old","createdAt":"#
                    + #"{"__type":"Date","iso":"2020-01-01T00:00:00.000Z"}},"sessionToken":"r:5"}"#,
                "_currentUser"
            )
            box.start()
            #expect(User.current?.username == "old")
            #expect(User.current?.createdAt == Date(timeIntervalSince1970: 1_577_836_800))
            #expect(User.current?.sessionToken == "r:5")
        }

        @Test(arguments: Form.allCases)
        func `log-out clears and reports the same in each form`(form: Form) async throws {
            let box = try Sandbox()
            for (answer, expected) in [
                (MockServer.Response.json("{}"), nil),
                (.error(209, "Invalid session token"), nil),
                (.error(1, "Internal server error.", status: 500), ParseError.Code.internalServer),
                (.json("<html>", status: 404), .unknownError),
            ] {
                try box.logIn()
                box.server.answer { _ in answer }
                let result = await User.logout(form)
                #expect(result.error?.code == expected)
                #expect(User.current == nil)
                #expect(box.store.text("_currentUser") == nil)
                #expect(box.server.requests.last?.header("X-Parse-Session-Token") == "r:1")
            }
        }

        @Test(arguments: Form.allCases)
        func `log-out without a server clears and says that it was not reached`(form: Form) async throws {
            let box = try Sandbox()
            try box.logIn()
            ParseSwift.initialize(
                applicationId: "app",
                serverURL: try closedPort(),
                keyValueStore: AppStore(recording: box.store)
            )
            #expect(User.current != nil)
            let result = await User.logout(form)
            #expect(result.error?.code == .connectionFailed)
            #expect(User.current == nil)
            box.start()
            #expect(User.current == nil)
        }

        @Test func `log-out of nobody asks no server`() async throws {
            let box = try Sandbox()
            try await User.logout()
            #expect(box.server.requests.isEmpty)
        }

        @Test func `a cancelled log-out clears all the same`() async throws {
            let box = try Sandbox()
            try box.logIn()
            let task = Task { try await User.logout() }
            task.cancel()
            _ = await task.result
            // The clearing is queued before the task ends, and so is this.
            _ = try? await User.sessionToken()
            #expect(User.current == nil)
            #expect(box.store.text("_currentUser") == nil)
        }

        @Test func `log-out keeps the installation`() async throws {
            let box = try Sandbox()
            try box.logIn()
            let id = Installation.current?.installationId
            try await User.logout()
            #expect(Installation.current?.installationId == id)
            box.start()
            #expect(Installation.current?.installationId == id)
        }

        @Test func `a second sign-up registers another user and leaves the first alone`() throws {
            let box = try Sandbox()
            try box.logIn()
            box.server.answer { _ in
                .json(
                    #"{"objectId":"u2","createdAt":"2024-10-24T21:13:17.123Z","sessionToken":"r:2"}"#,
                    status: 201
                )
            }
            let user = try User.signup(username: "ben", password: "pw")
            let request = try #require(box.server.requests.last)
            #expect("\(request.method) \(request.path)" == "POST /parse/users")
            #expect(request.json == #"{"password":"pw","username":"ben"}"#)
            #expect(request.header("X-Parse-Session-Token") == nil)
            #expect(user.objectId == "u2")
            #expect(User.current?.username == "ben")
            #expect(user.sessionToken == "r:2")
        }

        @Test func `a sign-up that gets no session logs nobody in`() throws {
            let box = try Sandbox { _ in
                .json(#"{"objectId":"u2","createdAt":"2024-10-24T21:13:17.123Z"}"#, status: 201)
            }
            #expect(try User.signup(username: "ben", password: "pw").objectId == "u2")
            #expect(User.current == nil)
            #expect(box.store.text("_currentUser") == nil)
        }

        @Test func `an answer with only an objectId is a user`() throws {
            _ = try Sandbox { _ in .json(#"{"objectId":"u2","sessionToken":"r:2","__type":"Object"}"#) }
            #expect(try User.login(username: "ben", password: "pw").objectId == "u2")
            #expect(User.current?.objectId == "u2")
        }

        @Test func `an answer without objectId is an error and logs nobody in`() throws {
            _ = try Sandbox { _ in .json(#"{"username":"ben","sessionToken":"r:2"}"#) }
            let error = #expect(throws: ParseError.self) { try User.login(username: "ben", password: "pw") }
            #expect(error?.message == "The server's answer has no objectId of a user.")
            #expect(User.current == nil)
        }

        @Test func `a value that does not fit is named by class and key`() throws {
            _ = try Sandbox { _ in .json(#"{"objectId":"u2","sessionToken":"r:2","age":"old"}"#) }
            let error = #expect(throws: ParseError.self) { try User.login(username: "ben", password: "pw") }
            #expect(
                error?.message
                    == #"_User could not be decoded: "age" should be Int, but the server sent something else."#
            )
            #expect(error?.swift is DecodingError)
        }

        @Test func `authData that is not made of strings is shown as JSON text`() throws {
            let box = try Sandbox()
            let user = try box.logIn(
                #","authData":{"mfa":{"status":"enabled","on":true,"more":{"a":[1,2.5]}},"gone":null}"#
            )
            #expect(
                user.authData?["mfa"] == ["status": "enabled", "on": "true", "more": #"{"a":[1,2.5]}"#]
            )
            box.start()
            #expect(User.current?.isLinked(with: "mfa") == true)
            #expect(User.current?.isLinked(with: "gone") == false)
        }

        @Test func `an anonymous user becomes a named one and keeps the id`() throws {
            let box = try Sandbox { _ in
                .json(
                    #"{"objectId":"a1","createdAt":"2024-10-24T21:13:17.123Z","username":"x","#
                        + #""sessionToken":"r:a","authDataResponse":{}}"#,
                    status: 201
                )
            }
            let anonymous = try User.anonymous.login()
            #expect(anonymous.objectId == "a1")
            #expect(User.anonymous.isLinked)
            let id = try #require(User.current?.authData?["anonymous"]??["id"])
            #expect(id == id.lowercased() && UUID(uuidString: id) != nil)
            #expect(box.server.requests.last?.json == #"{"authData":{"anonymous":{"id":"\#(id)"}}}"#)

            box.server.answer { _ in
                .json(#"{"updatedAt":"2024-10-25T21:13:17.123Z","sessionToken":"r:b","authDataResponse":{}}"#)
            }
            let named = try User.signup(username: "ann", password: "pw")
            let request = try #require(box.server.requests.last)
            #expect("\(request.method) \(request.path)" == "PUT /parse/users/a1")
            #expect(request.header("X-Parse-Session-Token") == "r:a")
            #expect(
                request.json == #"{"authData":{"anonymous":null},"password":"pw","username":"ann"}"#
            )
            #expect(named.objectId == "a1")
            #expect(named.username == "ann")
            #expect(named.password == nil)
            #expect(User.current?.authData == nil)
            #expect(User.current?.sessionToken == "r:b")
            #expect(!User.anonymous.isLinked)
        }

        @Test func `a second anonymous log-in is the same anonymous user`() throws {
            let box = try Sandbox { _ in .json(Sandbox.user(id: "a1")) }
            try User.anonymous.login(authData: ["id": "one"]).description.isEmpty ? () : ()
            _ = try User.anonymous.login()
            #expect(box.server.requests.map(\.json).last == #"{"authData":{"anonymous":{"id":"one"}}}"#)
        }

        @Test func `a password change takes the new token`() async throws {
            let box = try Sandbox()
            var user = try box.logIn()
            box.server.answer { _ in
                .json(#"{"updatedAt":"2024-10-25T21:13:17.123Z","sessionToken":"r:new"}"#)
            }
            user.password = "better"
            let saved = try await user.save()
            #expect(saved.password == nil)
            #expect(box.server.requests.last?.json == #"{"password":"better"}"#)
            #expect(User.current?.sessionToken == "r:new")
            #expect(User.current?.updatedAt == saved.updatedAt)
            #expect(box.store.text("_currentUser")?.contains("better") == false)
            box.start()
            #expect(User.current?.sessionToken == "r:new")
        }

        @Test func `an error 209 for the current session logs out and is reported`() async throws {
            let box = try Sandbox()
            let user = try box.logIn()
            var events = ParseSwift.sessionEvents().makeAsyncIterator()
            box.server.answer { _ in .error(209, "Invalid session token") }
            let error = await #expect(throws: ParseError.self) { try await user.fetch() }
            #expect(error?.code == .invalidSessionToken)
            guard case .invalidated("u1", let reason)? = await events.next() else {
                Issue.record("no event")
                return
            }
            #expect(reason.code == .invalidSessionToken)
            #expect(User.current == nil)
            #expect(box.store.text("_currentUser") == nil)
        }

        @Test func `an error 209 while the password is being changed does not log out`() async throws {
            let box = try Sandbox()
            let user = try box.logIn()
            let gate = Gate()
            box.server.answer { request in
                guard request.method == "PUT" else { return .error(209, "Invalid session token") }
                var response = MockServer.Response.json(
                    #"{"updatedAt":"2024-10-25T21:13:17.123Z","sessionToken":"r:new"}"#
                )
                response.gate = gate
                return response
            }
            let change = Task { try await user.set(\.password, to: "better").save() }
            try await box.server.received { $0.method == "PUT" }
            await #expect(throws: ParseError.self) { try await user.fetch() }
            #expect(User.current?.sessionToken == "r:1")
            gate.open()
            _ = try await change.value
            #expect(User.current?.sessionToken == "r:new")
            // After it, also a refused change of the password says that the session is over.
            box.server.answer { _ in .error(209, "Invalid session token") }
            await #expect(throws: ParseError.self) { try await user.set(\.password, to: "x").save() }
            #expect(User.current == nil)
        }

        @Test func `an error 209 is no end when another process has logged in anew`() async throws {
            let box = try Sandbox()
            let user = try box.logIn()
            box.store.put(#"{"currentUser":{"objectId":"u1"},"sessionToken":"r:other"}"#, "_currentUser")
            box.server.answer { _ in .error(209, "Invalid session token") }
            await #expect(throws: ParseError.self) { try await user.fetch() }
            #expect(User.current?.sessionToken == "r:other")
        }

        @Test func `an error 209 for another token changes nothing`() throws {
            let box = try Sandbox()
            let user = try box.logIn()
            box.server.answer { _ in .error(209, "Invalid session token") }
            #expect(throws: ParseError.self) { try user.fetch(options: [.sessionToken("r:other")]) }
            #expect(throws: ParseError.self) { try user.become(sessionToken: "r:dead") }
            #expect(User.current == user)
            #expect(box.server.requests.last?.header("X-Parse-Session-Token") == "r:dead")
        }

        @Test func `become takes the user of a token`() async throws {
            let box = try Sandbox()
            try box.logIn()
            box.server.answer { _ in .json(Sandbox.user(id: "u7", token: nil)) }
            let user = try await User.become(sessionToken: "r:7")
            let request = try #require(box.server.requests.last)
            #expect("\(request.method) \(request.path)" == "GET /parse/users/me")
            #expect(request.header("X-Parse-Session-Token") == "r:7")
            #expect(user.objectId == "u7")
            #expect(User.current?.objectId == "u7")
            #expect(User.current?.sessionToken == "r:7")
        }

        @Test func `a late answer about an earlier user is not written back`() async throws {
            let box = try Sandbox()
            let user = try box.logIn()
            let gate = Gate()
            box.server.answer { request in
                var response = MockServer.Response.json(Sandbox.user(#","age":99"#, token: "r:late"))
                if request.method == "GET" { response.gate = gate }
                return response
            }
            async let late = user.fetch()
            try await box.server.received { $0.method == "GET" }
            box.server.answer { _ in .json(Sandbox.user(id: "u2", token: "r:2")) }
            try await User.login(username: "ben", password: "pw")
            gate.open()
            #expect(try await late.objectId == "u1")
            #expect(User.current?.objectId == "u2")
            #expect(User.current?.sessionToken == "r:2")
        }

        @Test func `a late answer of an earlier session of the same user is not written back`() async throws {
            let box = try Sandbox()
            let user = try box.logIn()
            let gate = Gate()
            box.server.answer { request in
                var response = MockServer.Response.json(
                    #"{"objectId":"u1","username":"late","sessionToken":"r:late","#
                        + #""updatedAt":"2030-01-01T00:00:00.000Z"}"#
                )
                response.gate = gate
                return response
            }
            let late = Task { try await user.fetch() }
            try await box.server.received { $0.method == "GET" }
            box.server.answer { request in
                request.path.hasSuffix("login") ? .json(Sandbox.user(token: "r:2")) : .json("{}")
            }
            try await User.logout()
            try await User.login(username: "ann", password: "secret")
            gate.open()
            #expect(try await late.value.username == "late")
            #expect(User.current?.username == "ann")
            #expect(User.current?.sessionToken == "r:2")
            #expect(box.store.text("_currentUser")?.contains("late") == false)
        }

        @Test func `a log-in that is overtaken by a log-out does not log in, and its session is ended`()
            async throws
        {
            let box = try Sandbox()
            let gate = Gate()
            box.server.answer { request in
                var response = MockServer.Response.json(Sandbox.user(token: "r:late"))
                if request.path.hasSuffix("login") { response.gate = gate }
                return response
            }
            let late = Task { try await User.login(username: "ann", password: "secret") }
            try await box.server.received()
            try await User.logout()
            gate.open()
            await #expect(throws: ParseError.self) { try await late.value }
            #expect(User.current == nil)
            try await box.server.received { $0.path == "/parse/logout" }
            #expect(box.server.requests.last?.path == "/parse/logout")
            #expect(box.server.requests.last?.header("X-Parse-Session-Token") == "r:late")
        }

        @Test func `an answer of before a new initialize does not touch the new user`() async throws {
            let box = try Sandbox()
            let gate = Gate()
            box.server.answer { _ in
                var response = MockServer.Response.json(Sandbox.user(token: "r:old"))
                response.gate = gate
                return response
            }
            let late = Task { try await User.login(username: "ann", password: "secret") }
            try await box.server.received()
            let other = try Sandbox()
            gate.open()
            await #expect(throws: ParseError.self) { try await late.value }
            #expect(User.current == nil)
            #expect(other.store.text("_currentUser") == nil)
            #expect(box.store.text("_currentUser") == nil)
        }

        @Test func `a store that cannot be read logs nobody out`() async throws {
            let box = try Sandbox()
            try box.logIn()
            let kept = box.store.text("_currentUser")
            box.store.fail(with: POSIXError(.EIO))
            box.start()
            #expect(User.current == nil)
            let error = await #expect(throws: ParseError.self) { try await User.current() }
            #expect(error?.code == .otherCause)
            #expect(error?.message.hasPrefix("The stored user cannot be read now") == true)
            box.store.fail(with: nil)
            #expect(box.store.text("_currentUser") == kept)
            #expect(User.current?.objectId == "u1")
        }

        @Test func `nobody logged in is told apart from not knowing`() async throws {
            _ = try Sandbox()
            let error = await #expect(throws: ParseError.self) { try await User.current() }
            #expect(error?.code == .userCannotBeAlteredWithoutSession)
            #expect(error?.message == "Nobody is logged in.")
            await #expect(throws: ParseError.self) { try await User.sessionToken() }
        }

        @Test func `a damaged item stays until the next log-in`() throws {
            let box = try Sandbox()
            box.store.put(#"{"currentUser":"#, "_currentUser")
            box.start()
            #expect(User.current == nil)
            #expect(box.store.text("_currentUser") == #"{"currentUser":"#)
            try box.logIn()
            box.start()
            #expect(User.current?.objectId == "u1")
        }

        @Test func `a store that cannot be written is reported and the log-in holds`() async throws {
            let box = try Sandbox()
            _ = User.current
            var events = ParseSwift.sessionEvents().makeAsyncIterator()
            box.store.fail(with: POSIXError(.ENOSPC))
            try await User.login(username: "ann", password: "x", failingIfNoUser: box)
            #expect(User.current?.objectId == "u1")
            guard case .notPersisted? = await events.next() else {
                Issue.record("no event")
                return
            }
        }

        @Test func `before initialize everything says so and nothing traps`() async throws {
            ParseClient.uninstall()
            #expect(User.current == nil)
            #expect(Installation.current == nil)
            #expect(User().sessionToken == nil)
            #expect(ParseSwift.configuration.applicationId == "")
            ParseSwift.updateAuthentication(nil)
            ParseSwift.clearCache()
            for form in Form.allCases {
                #expect(await User.login(form).error == .notInitialized)
                #expect(await User.logout(form).error == .notInitialized)
            }
            await #expect(throws: ParseError.notInitialized) { try await User.current() }
            await #expect(throws: ParseError.notInitialized) { try await Installation.current() }
            #expect(throws: ParseError.notInitialized) { try ParseACL.defaultACL() }
        }

        @Test func `deleting the current user logs out, deleting another does not`() throws {
            let box = try Sandbox()
            let user = try box.logIn()
            box.server.answer { _ in .json("{}") }
            try User(objectId: "u2").delete()
            #expect(User.current == user)
            try user.delete()
            #expect(box.server.requests.last?.method == "DELETE")
            #expect(User.current == nil)
        }

        @Test func `a fetch refreshes the current user, an old answer does not`() throws {
            let box = try Sandbox()
            let user = try box.logIn()
            box.server.answer { _ in
                .json(
                    #"{"objectId":"u1","username":"ann","emailVerified":true,"updatedAt":"2024-10-26T00:00:00.000Z"}"#
                )
            }
            #expect(try user.fetch().emailVerified == true)
            #expect(User.current?.emailVerified == true)
            box.server.answer { _ in
                .json(#"{"objectId":"u1","username":"old","updatedAt":"2024-10-25T00:00:00.000Z"}"#)
            }
            #expect(try user.fetch().username == "old")
            #expect(User.current?.username == "ann")
        }

        @Test func `the password calls send what the server wants`() async throws {
            let box = try Sandbox()
            try box.logIn()
            box.server.answer { _ in .json("{}") }
            try await User.passwordReset(email: "a@b.c")
            try await User.verificationEmail(email: "a@b.c")
            box.server.answer { _ in .json(Sandbox.user(token: nil)) }
            try await User.verifyPassword(password: "secret")
            try await User.verifyPassword(password: "secret", usingPost: true)
            let requests = box.server.requests.dropFirst()
            #expect(requests.map(\.method) == ["POST", "POST", "POST", "POST"])
            #expect(
                requests.map(\.target) == [
                    "/parse/requestPasswordReset", "/parse/verificationEmailRequest", "/parse/verifyPassword",
                    "/parse/verifyPassword",
                ]
            )
            #expect(
                requests.map(\.json) == [
                    #"{"email":"a@b.c"}"#, #"{"email":"a@b.c"}"#,
                    #"{"_method":"GET","password":"secret","username":"ann"}"#,
                    #"{"password":"secret","username":"ann"}"#,
                ]
            )
            #expect(User.current?.sessionToken == "r:1")
        }

        @Test func `log-in by address with more authData`() async throws {
            let box = try Sandbox { _ in .json(Sandbox.user()) }
            try await User.login(email: "a@b.c", password: "pw", authData: ["mfa": ["token": "123456"]])
            #expect(
                box.server.requests.last?.json
                    == #"{"authData":{"mfa":{"token":"123456"}},"email":"a@b.c","password":"pw"}"#
            )
        }

        @Test func `providers are linked and unlinked`() async throws {
            let box = try Sandbox()
            try box.logIn()
            box.server.answer { _ in .json(#"{"updatedAt":"2024-10-26T00:00:00.000Z","authDataResponse":{}}"#)
            }
            let linked = try await User.link("google", authData: ["id": "g", "id_token": "t"])
            #expect(linked.isLinked(with: "google"))
            #expect(User.current?.isLinked(with: "google") == true)
            #expect(User.current?.sessionToken == "r:1")
            #expect(linked.strip("google").isLinked(with: "google") == false)
            let unlinked = try await linked.unlink("google")
            #expect(!unlinked.isLinked(with: "google"))
            #expect(box.server.requests.last?.json == #"{"authData":{"google":null}}"#)
            await #expect(throws: ParseError.self) { try await User.anonymous.link(authData: ["id": "x"]) }
        }

        @Test func `updating the challenge handler keeps the user`() async throws {
            let box = try Sandbox()
            try box.logIn()
            ParseSwift.updateAuthentication { _, done in done(.performDefaultHandling, nil) }
            #expect(User.current?.objectId == "u1")
            try await User.login(username: "ann", password: "secret")
        }
    }
}

/// Another model of the same user.
struct OtherUser: ParseUser {
    var authData: [String: [String: String]?]?
    var objectId: String?
    var createdAt: Date?
    var updatedAt: Date?
    var ACL: ParseACL?
    var username: String?
    var email: String?
    var emailVerified: Bool?
    var password: String?
    var nick: String?
}

extension User {
    fileprivate static func login(username: String, password: String, failingIfNoUser box: Sandbox)
        async throws
    {
        box.server.answer { _ in .json(Sandbox.user()) }
        try await login(username: username, password: password)
    }
}
