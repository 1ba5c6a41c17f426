package import ParseWire
import Locking
import Synchronization

/// One app of the server, open and ready.
package final class App: Sendable {
    package let id: String
    package let options: AppOptions
    package let storage: any AppStorage
    package let sessions: SessionCache
    package let providers: [String: any AuthProvider]
    package let environment: CoreEnvironment
    package let schemaGate = SchemaGate()
    /// How many requests use the app at this moment, and whether any has since somebody last asked.
    package let usage = AppUsage()
    let encoders = ObjectEncoders()
    /// In a box, so that a request takes one reference and not a copy of every key.
    private let keys: Locked<CredentialsBox>

    package init(
        id: String,
        credentials: AppCredentials,
        options: AppOptions,
        storage: any AppStorage,
        providers: [any AuthProvider] = [],
        environment: CoreEnvironment
    ) {
        self.id = id
        self.options = options
        self.storage = storage
        self.environment = environment
        sessions = SessionCache(capacity: 20_000)
        keys = Locked(CredentialsBox(credentials))
        var known: [String: any AuthProvider] = [:]
        if options.enableAnonymousUsers { known[AnonymousProvider.name] = AnonymousProvider() }
        for provider in providers { known[provider.name] = provider }
        self.providers = known
    }

    /// The keys in force; a new master key holds from the next request on.
    package var credentials: AppCredentials {
        get { keys.withLock { $0 }.value }
        set { keys.withLock { $0 = CredentialsBox(newValue) } }
    }

    /// Gives `body` the keys in force.
    package func withCredentials<Result>(_ body: (borrowing AppCredentials) -> Result) -> Result {
        body(keys.withLock { $0 }.value)
    }

    package var now: Timestamp {
        environment.now()
    }
}

private final class CredentialsBox: Sendable {
    let value: AppCredentials

    init(_ value: AppCredentials) {
        self.value = value
    }
}

/// Counts the requests of an app, so that an idle one can be closed.
package final class AppUsage: Sendable {
    private let requests = Atomic<Int>(0)
    private let wasUsed = Atomic<Bool>(true)

    package init() {}

    package func begin() {
        requests.add(1, ordering: .relaxed)
        wasUsed.store(true, ordering: .relaxed)
    }

    package func end() {
        requests.subtract(1, ordering: .relaxed)
    }

    /// Whether no request is under way and none came since the last call.
    package func isIdle() -> Bool {
        let used = wasUsed.exchange(false, ordering: .relaxed)
        return !used && requests.load(ordering: .relaxed) == 0
    }
}

/// Finds the app that a request names.
package protocol AppResolver: Sendable {
    /// The app of that id, opened if it was not; `nil` when there is none.
    ///
    /// The app stays open at least until ``release(_:)``.
    nonisolated(nonsending) func acquire(id: String) async throws -> App?

    /// Says that a request is done with its app.
    func release(_ app: App)
}
