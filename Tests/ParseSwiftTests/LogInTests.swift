import Foundation
import Testing

@testable import ParseSwift

extension SDK {
    @Suite struct LogInTests {
        @Test func `log-in posts name and password and makes the user current`() throws {
            let box = try Sandbox()
            let user = try box.logIn()
            #expect(user.username == "ann")
            #expect(user.age == 30)
            #expect(User.current == user)
            #expect(user.sessionToken == "r:1")
            let request = try #require(box.server.requests.first)
            #expect(request.method == "POST")
            #expect(request.path == "/parse/login")
            #expect(request.json == #"{"password":"secret","username":"ann"}"#)
            #expect(request.header("X-Parse-Application-Id") == "app")
            #expect(request.header("X-Parse-Client-Key") == "client")
            #expect(request.header("X-Parse-Session-Token") == nil)
            #expect(request.header("X-Parse-Request-Id")?.count == 36)
            #expect(request.header("X-Parse-Installation-Id") == Installation.current?.installationId)
            #expect(request.header("Content-Type") == "application/json")
        }

        /// A user that points to others, as an app would declare it.
        private struct Member: ParseUser {
            var authData: [String: [String: String]?]?
            var originalData: Data?
            var objectId: String?
            var createdAt: Date?
            var updatedAt: Date?
            var ACL: ParseACL?
            var username: String?
            var email: String?
            var emailVerified: Bool?
            var password: String?
            var friends: [Pointer<User>]?
            var guests: [User]?
        }

        @Test func `arrays of pointers in the answer do not break a log-in`() throws {
            let box = try Sandbox()
            let pointer = #"{"__type":"Pointer","className":"_User","objectId":"u7"}"#
            let full = #"{"__type":"Object","className":"_User","objectId":"u8","username":"eve"}"#
            box.server.answer { _ in
                .json(Sandbox.user(#","friends":[\#(pointer),\#(full)],"guests":[\#(pointer),\#(full)]"#))
            }
            let member = try Member.login(username: "ann", password: "secret")
            #expect(member.friends?.map(\.objectId) == ["u7", "u8"])
            #expect(member.guests?.map(\.objectId) == ["u7", "u8"])
            #expect(member.guests?.last?.username == "eve")
            #expect(Member.current?.friends?.count == 2)
        }

        @Test func `the three forms of log-in give the same`() async throws {
            let box = try Sandbox { _ in .json(Sandbox.user()) }
            func blocking() throws -> User { try User.login(username: "ann", password: "secret") }
            let first = try blocking()
            let second = try await User.login(username: "ann", password: "secret")
            let third = try await withCheckedThrowingContinuation { continuation in
                User.login(username: "ann", password: "secret") { continuation.resume(with: $0) }
            }
            #expect(first == second)
            #expect(second == third)
            #expect(Set(box.server.requests.compactMap { $0.header("X-Parse-Request-Id") }).count == 3)
        }

        @Test func `sign-up registers and log-out ends`() async throws {
            let box = try Sandbox { request in
                request.path.hasSuffix("users")
                    ? .json(
                        #"{"objectId":"u9","createdAt":"2024-10-24T21:13:17.123Z","sessionToken":"r:9"}"#,
                        status: 201
                    )
                    : .json("{}")
            }
            var new = User(username: "ben", email: "ben@example.org", password: "pw")
            new.age = 25
            let user = try await new.signup()
            #expect(user.objectId == "u9")
            #expect(user.age == 25)
            #expect(user.password == nil)
            #expect(user.updatedAt == user.createdAt)
            #expect(User.current == user)
            try await User.logout()
            #expect(User.current == nil)
            #expect(
                box.server.requests.map { "\($0.method) \($0.path)" } == [
                    "POST /parse/users", "POST /parse/logout",
                ]
            )
            #expect(
                box.server.requests[0].json
                    == #"{"age":25,"email":"ben@example.org","password":"pw","username":"ben"}"#
            )
            #expect(box.server.requests[1].header("X-Parse-Session-Token") == "r:9")
        }
    }
}
