package import ParseWire
import Locking

/// One app of the server, open and ready.
package final class App: Sendable {
    package let id: String
    package let options: AppOptions
    package let storage: any AppStorage
    package let sessions: SessionCache
    package let providers: [String: any AuthProvider]
    package let environment: CoreEnvironment
    private let keys: Locked<AppCredentials>

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
        keys = Locked(credentials)
        var known: [String: any AuthProvider] = [:]
        if options.enableAnonymousUsers { known[AnonymousProvider.name] = AnonymousProvider() }
        for provider in providers { known[provider.name] = provider }
        self.providers = known
    }

    /// The keys in force; a new master key holds from the next request on.
    package var credentials: AppCredentials {
        get { keys.withLock { $0 } }
        set { keys.withLock { $0 = newValue } }
    }

    package var now: Timestamp {
        environment.now()
    }
}

/// Finds the app that a request names.
package protocol AppResolver: Sendable {
    /// The app of that id, opened if it was not; `nil` when there is none.
    ///
    /// The app stays open at least until ``release(_:)``.
    func acquire(id: String) async throws -> App?

    /// Says that a request is done with its app.
    func release(_ app: App)
}
