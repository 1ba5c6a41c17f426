import JSON
import Locking
import TestSupport
import Testing

/// A session that has ended is refused by the next request, however many are under way.
@Suite(.serialized)
struct SessionEndTests {
    enum Ending: String, CaseIterable, CustomTestStringConvertible {
        case logOut, deletion, passwordChange, userDeletion

        var testDescription: String { rawValue }

        /// Rounds; those that hash passwords are fewer.
        var rounds: Int {
            switch self {
            case .logOut, .deletion: 35
            case .passwordChange, .userDeletion: 15
            }
        }
    }

    @Test(arguments: Ending.allCases)
    func `no read that begins after a session's end is answered`(ending: Ending) async throws {
        let server = try await TestServer.start()
        let readers = (0..<8).map { _ in server.connect() }
        for round in 0..<ending.rounds {
            let account = try await Self.account(round, ending, server.api)
            let ended = Locked<ContinuousClock.Instant?>(nil)
            let successes = Locked([Int](repeating: 0, count: readers.count))
            let latest = try await withThrowingTaskGroup(of: ContinuousClock.Instant.self) { group in
                for (number, reader) in readers.enumerated() {
                    group.addTask {
                        try await Self.read(account.token, reader, until: ended) {
                            successes.withLock { $0[number] += 1 }
                        }
                    }
                }
                while successes.withLock({ $0.contains(0) }) { try await Task.sleep(for: .milliseconds(1)) }
                try await Self.end(account, ending, server.api)
                ended.withLock { $0 = .now }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let moment = try #require(ended.withLock { $0 })
            #expect(latest.allSatisfy { $0 <= moment }, "round \(round)")
        }
        await server.process.stop()
    }

    /// Reads without pause until refused.
    ///
    /// - Returns: When the last read that was answered 200 began.
    private static func read(
        _ token: String,
        _ api: API,
        until ended: Locked<ContinuousClock.Instant?>,
        onSuccess: () -> Void
    ) async throws -> ContinuousClock.Instant {
        var last = ContinuousClock.now
        while true {
            let began = ContinuousClock.now
            let reply = try await api.call("GET", "/users/me", token: token)
            guard reply.status == 200 else {
                #expect(reply.refusal == "400/209 Invalid session token")
                return last
            }
            last = began
            onSuccess()
            // A token that does not die at all must not keep the test running.
            if let moment = ended.withLock({ $0 }), moment.duration(to: began) > .seconds(1) { return last }
        }
    }

    private static func account(_ round: Int, _ ending: Ending, _ api: API) async throws -> Account {
        if round == 0 || ending == .userDeletion {
            return try await api.signUp("\(ending.rawValue)-\(round)")
        }
        let name = "\(ending.rawValue)-0"
        // A password change of an earlier round left another password.
        let password = ending == .passwordChange ? "password-\(round - 1)" : name + "-password"
        let body: JSONValue = ["username": .string(name), "password": .string(password)]
        let reply = try await api.call("POST", "/login", body)
        guard let id = reply["objectId"]?.stringValue, let token = reply["sessionToken"]?.stringValue else {
            throw Unexpected(reply)
        }
        return Account(id: id, name: name, password: password, token: token)
    }

    private static func end(_ account: Account, _ ending: Ending, _ api: API) async throws {
        let reply: HTTPReply
        switch ending {
        case .logOut:
            reply = try await api.call("POST", "/logout", token: account.token)
        case .deletion:
            let session = try await api.call("GET", "/sessions/me", token: account.token)
            guard let id = session["objectId"]?.stringValue else { throw Unexpected(session) }
            reply = try await api.call("DELETE", "/sessions/\(id)", token: account.token)
        case .passwordChange:
            let number =
                account.password.hasSuffix("-password") ? 0 : (Int(account.password.dropFirst(9)) ?? 0) + 1
            reply = try await api.call(
                "PUT",
                "/users/\(account.id)",
                ["password": .string("password-\(number)")],
                token: account.token
            )
        case .userDeletion:
            reply = try await api.call("DELETE", "/users/\(account.id)", token: account.token)
        }
        guard reply.status == 200 else { throw Unexpected(reply) }
    }
}
