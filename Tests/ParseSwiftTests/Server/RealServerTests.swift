import Foundation
import TestSupport
import Testing

@testable import ParseSwift

extension SDK {
    /// The SDK against the real server, each test with a server of its own.
    @Suite struct RealServerTests {
        @Test func `a person signs up, is remembered, logs out, and the session is dead`() async throws {
            let server = try await RealServer()
            var new = User(username: "alice", email: "alice@example.com", password: "first secret")
            new.age = 25
            let signedUp = try await new.signup()
            let token = try #require(signedUp.sessionToken)
            #expect(User.current?.username == "alice")
            #expect(try await server.sessionCount() == 1)

            server.start()
            #expect(User.current?.objectId == signedUp.objectId)
            #expect(User.current?.age == 25)
            let fetched = try await User.current?.fetch()
            #expect(fetched?.email == "alice@example.com")
            #expect(fetched?.age == 25)

            try await User.logout()
            #expect(User.current == nil)
            #expect(try await server.sessionCount() == 0)
            let reply = try await server.get("users/me", token: token)
            #expect(reply.status == 400)
            #expect(String(decoding: reply.body, as: UTF8.self).contains("209"))
        }

        @Test func `the three forms of each call work`() async throws {
            let server = try await RealServer()
            try Self.signUpAndOutSynchronously()
            let logged: User = try await withCheckedThrowingContinuation { continuation in
                User.login(username: "sync", password: "pw", callbackQueue: .global()) {
                    continuation.resume(with: $0)
                }
            }
            #expect(logged.username == "sync")
            let fetched: User = try await withCheckedThrowingContinuation { continuation in
                logged.fetch(callbackQueue: .global()) { continuation.resume(with: $0) }
            }
            #expect(fetched.objectId == logged.objectId)
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                User.logout(callbackQueue: .global()) { continuation.resume(with: $0.mapError { $0 }) }
            }
            let again = try await User.login(username: "sync", password: "pw")
            #expect(again.objectId == logged.objectId)
            let verified = try await User.verifyPassword(password: "pw")
            #expect(verified.objectId == again.objectId)
            try await User.logout()
            #expect(try await server.sessionCount() == 0)
        }

        private static func signUpAndOutSynchronously() throws {
            let user = try User.signup(username: "sync", password: "pw")
            #expect(User.current == user)
            try User.logout()
            #expect(User.current == nil)
        }

        @Test(arguments: [
            ("alice", "wrong", ParseError.Code.objectNotFound, "Invalid username/password."),
            ("nobody", "first secret", .objectNotFound, "Invalid username/password."),
            ("", "first secret", .usernameMissing, "username/email is required."),
            ("alice", "", .userPasswordMissing, "password is required."),
        ])
        func `a refused log-in says why and leaves nobody logged in`(
            name: String,
            password: String,
            code: ParseError.Code,
            message: String
        ) async throws {
            let server = try await RealServer()
            defer { withExtendedLifetime(server) {} }
            _ = try await User.signup(username: "alice", password: "first secret")
            try await User.logout()
            let error = try await #require(throws: ParseError.self) {
                try await User.login(username: name, password: password)
            }
            #expect(error.code == code)
            #expect(error.message == message)
            #expect(User.current == nil)
        }

        @Test func `a taken name is refused with a message to show`() async throws {
            let server = try await RealServer()
            defer { withExtendedLifetime(server) {} }
            _ = try await User.signup(username: "alice", password: "pw")
            try await User.logout()
            let error = try await #require(throws: ParseError.self) {
                try await User.signup(username: "Alice", password: "pw")
            }
            #expect(error.code == .usernameTaken)
            #expect(error.message == "Account already exists for this username.")
        }

        @Test func `a new password gives a new session, which the SDK keeps`() async throws {
            let server = try await RealServer()
            _ = try await User.signup(username: "alice", password: "old")
            let oldToken = try #require(User.current?.sessionToken)
            var user = try #require(User.current)
            user.password = "new"
            _ = try await user.save()
            let newToken = try #require(User.current?.sessionToken)
            #expect(newToken != oldToken)
            #expect(try await server.get("users/me", token: oldToken).status == 400)
            _ = try await User.current?.fetch()
            try await User.logout()
            await #expect(throws: ParseError.self) {
                try await User.login(username: "alice", password: "old")
            }
            _ = try await User.login(username: "alice", password: "new")
        }

        @Test func `a save changes what changed, removes what was set to nil, and nothing else`() async throws
        {
            let server = try await RealServer()
            var new = User(username: "alice", email: "alice@example.com", password: "pw")
            new.age = 25
            _ = try await new.signup()
            var user = try #require(User.current)
            user.age = nil
            _ = try await user.save()
            let id = try #require(user.objectId)
            let row = String(decoding: try await server.get("users/\(id)", master: true).body, as: UTF8.self)
            #expect(!row.contains("\"age\""))
            #expect(row.contains("alice@example.com"))
        }

        @Test func `an anonymous user becomes a real one and keeps its id`() async throws {
            let server = try await RealServer()
            defer { withExtendedLifetime(server) {} }
            let anonymous = try await User.anonymous.login()
            let id = try #require(anonymous.objectId)
            #expect(anonymous.authData?["anonymous"] != nil)
            let real = try await User.signup(username: "frank", password: "pw")
            #expect(real.objectId == id)
            #expect(User.current?.username == "frank")
            try await User.logout()
            let again = try await User.login(username: "frank", password: "pw")
            #expect(again.objectId == id)
            #expect(again.authData?["anonymous"] == nil)
        }

        @Test func `becoming another user by its token makes it the current one`() async throws {
            let server = try await RealServer()
            defer { withExtendedLifetime(server) {} }
            _ = try await User.signup(username: "alice", password: "pw")
            let token = try #require(User.current?.sessionToken)
            _ = try await User.signup(username: "bob", password: "pw")
            #expect(User.current?.username == "bob")
            _ = try await User().become(sessionToken: token)
            #expect(User.current?.username == "alice")
            #expect(User.current?.sessionToken == token)
        }

        @Test func `deleting the current user logs it out`() async throws {
            let server = try await RealServer()
            _ = try await User.signup(username: "alice", password: "pw")
            let token = try #require(User.current?.sessionToken)
            try await User.current?.delete()
            #expect(User.current == nil)
            #expect(try await server.get("users/me", token: token).status == 400)
            #expect(try await server.sessionCount() == 0)
        }

        @Test func `a session that ended elsewhere is noticed at the next call`() async throws {
            let server = try await RealServer()
            _ = try await User.signup(username: "alice", password: "pw")
            let token = try #require(User.current?.sessionToken)
            #expect(try await server.send("POST", "logout", token: token).status == 200)
            let user = try #require(User.current)
            let error = try await #require(throws: ParseError.self) { try await user.fetch() }
            #expect(error.code == .invalidSessionToken)
        }

        @Test func `a log-out succeeds when the session was over already`() async throws {
            let server = try await RealServer()
            _ = try await User.signup(username: "alice", password: "pw")
            let token = try #require(User.current?.sessionToken)
            #expect(try await server.send("POST", "logout", token: token).status == 200)
            try await User.logout()
            #expect(User.current == nil)
        }

        @Test func `a log-out from a server that is gone logs out here and says so`() async throws {
            let server = try await RealServer()
            _ = try await User.signup(username: "alice", password: "pw")
            await server.process.stop()
            let error = try await #require(throws: ParseError.self) { try await User.logout() }
            #expect(error.code == .connectionFailed)
            #expect(User.current == nil)
        }

        @Test func `log-ins on one installation leave one session`() async throws {
            let server = try await RealServer()
            _ = try await User.signup(username: "alice", password: "pw")
            for _ in 0..<3 { _ = try await User.login(username: "alice", password: "pw") }
            #expect(try await server.sessionCount() == 1)
        }

        @Test func `mail calls say that the server sends no mail`() async throws {
            let server = try await RealServer()
            defer { withExtendedLifetime(server) {} }
            for call in [User.passwordReset(email:options:), User.verificationEmail(email:options:)]
                as [(String, API.Options) async throws -> Void]
            {
                let error = try await #require(throws: ParseError.self) {
                    try await call("a@example.com", [])
                }
                #expect(error.code == .internalServer)
                #expect(error.message.hasPrefix("An appName, publicServerURL, and emailAdapter are required"))
            }
        }
    }
}
