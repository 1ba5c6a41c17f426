import Cryptography
import JSON
import Locking
import Logging
import ParseCore
import ParseSQLite
import ParseWire
import TestSupport
import Testing

/// A clock that a test moves.
final class TestClock: Sendable {
    private let state = Locked(Timestamp(milliseconds: 1_700_000_000_000))

    var now: Timestamp {
        state.withLock { $0 }
    }

    func advance(seconds: Double) {
        state.withLock { $0 = $0.adding(seconds: seconds) }
    }
}

/// Numbers, each once.
final class TestCounter: Sendable {
    private let state = Locked(0)

    func next() -> Int {
        state.withLock { state in
            state += 1
            return state
        }
    }
}

/// One app with a real database in a folder of its own, cheap password hashes and a clock that stands still.
final class TestApp: Sendable {
    let app: App
    let storage: any AppStorage
    let clock: TestClock
    let passwords: PasswordHashingPool
    private let folder: TemporaryFolder

    static let cheapHash = PasswordAlgorithm.argon2id(memoryKiB: 8, passes: 1)

    init(
        providers: [any AuthProvider] = [],
        algorithm: PasswordAlgorithm = TestApp.cheapHash,
        _ change: (inout AppOptions) -> Void = { _ in }
    ) throws {
        var options = AppOptions()
        change(&options)
        let clock = TestClock()
        folder = try TemporaryFolder()
        storage = try SQLiteAppStorage(path: folder.path + "/app.db")
        passwords = PasswordHashingPool(threads: 2, algorithm: algorithm)
        self.clock = clock
        app = App(
            id: "test",
            credentials: AppCredentials(masterKeyHash: SHA256.hash("master")),
            options: options,
            storage: storage,
            providers: providers,
            environment: CoreEnvironment(now: { clock.now }, passwords: passwords, logger: .disabled)
        )
    }

    /// A context with no session, unless a principal is given.
    func context(_ principal: Principal = .nobody, token: String? = nil, installation: String? = nil)
        -> RequestContext
    {
        RequestContext(
            app: app,
            principal: principal,
            sessionToken: token,
            installationID: installation,
            lane: HashingLane()
        )
    }

    /// The context of a request with that token, authenticated now.
    func context(token: String, installation: String? = nil) async throws -> RequestContext {
        context(.user(try await app.authenticate(token: token)), token: token, installation: installation)
    }

    struct SignedUp: Sendable {
        let id: String
        let token: String
    }

    @discardableResult
    func signUp(
        _ name: String,
        password: String = "secret",
        installation: String? = nil,
        _ more: JSONObject = [:]
    ) async throws -> SignedUp {
        var body: JSONObject = ["username": .string(name), "password": .string(password)]
        for member in more { body[member.key] = member.value }
        let reply = try await SignUp(body: body).run(in: context(installation: installation))
        return SignedUp(
            id: try #require(reply.body["objectId"]?.stringValue),
            token: try #require(reply.body["sessionToken"]?.stringValue)
        )
    }

    func logIn(_ name: String, password: String = "secret", installation: String? = nil) async throws
        -> JSONObject
    {
        let credentials = Credentials(username: .string(name), email: nil, password: .string(password))
        return try await LogIn(credentials: credentials, authData: nil).run(
            in: context(installation: installation)
        )
    }

    func token(_ name: String, password: String = "secret", installation: String? = nil) async throws
        -> String
    {
        try #require(
            try await logIn(name, password: password, installation: installation)["sessionToken"]?.stringValue
        )
    }

    @discardableResult
    func update(_ id: String, _ body: JSONObject, in context: RequestContext) async throws -> JSONObject {
        try await UpdateUser(userID: id, body: body).run(in: context).body
    }

    func rows(_ className: String, _ predicate: Predicate = .everything) async throws -> [StoredRow] {
        try await storage.find(RowQuery(className: className, predicate: predicate, limit: 100_000))
    }

    func sessions(of userID: String) async throws -> [StoredRow] {
        try await rows(SystemClasses.session, .pointsTo(user: userID))
    }

    func user(_ id: String) async throws -> StoredRow {
        try #require(try await app.user(id: id))
    }
}

/// What the client is told of the error that `body` throws; `nil` when it throws none.
func refusal(_ body: () async throws -> Void) async -> ParseError? {
    do {
        try await body()
        return nil
    } catch let error as ParseError {
        return error
    } catch {
        Issue.record("an error that no client may see: \(error)")
        return nil
    }
}

/// Expects a refusal with that code and text.
func expectRefusal(
    _ code: ParseErrorCode?,
    _ message: String?,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    let error = await refusal(body)
    #expect(error != nil, "nothing was refused", sourceLocation: sourceLocation)
    guard let error else { return }
    #expect(error.code == code, sourceLocation: sourceLocation)
    #expect(error.message == message, sourceLocation: sourceLocation)
}

/// As ``expectRefusal(_:_:sourceLocation:_:)``, for what does not wait.
func expectRefusalNow(
    _ code: ParseErrorCode?,
    _ message: String?,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) {
    do {
        try body()
        Issue.record("nothing was refused", sourceLocation: sourceLocation)
    } catch let error as ParseError {
        #expect(error.code == code, sourceLocation: sourceLocation)
        #expect(error.message == message, sourceLocation: sourceLocation)
    } catch {
        Issue.record("an error that no client may see: \(error)", sourceLocation: sourceLocation)
    }
}

/// A sign-in provider that vouches for everything, and does something first: what happens between the reading
/// of a request and its write.
final class HookProvider: AuthProvider {
    private let state = Locked<(action: (@Sendable () async throws -> Void)?, count: Int)>((nil, 0))

    var name: String { "hook" }

    var count: Int {
        state.withLock { $0.count }
    }

    func act(_ action: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.action = action }
    }

    func validate(_ data: JSONObject) async throws -> ProviderVerdict {
        let action = state.withLock { state in
            state.count += 1
            defer { state.action = nil }
            return state.action
        }
        try await action?()
        return ProviderVerdict()
    }
}
