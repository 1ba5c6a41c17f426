import JSON
import Logging
package import ParseCore
import Locking

/// The apps of the server: which there are, and which are open.
///
/// An app is opened when it is first asked for and closed when it has been idle for a while, so that many small
/// apps cost little.
package final class AppRegistry: AppResolver {
    private let store: any DataStore
    private let options: ServerOptions
    private let environment: CoreEnvironment
    private let providers: [any AuthProvider]
    private let state: Locked<State>

    private struct State {
        var records: [String: AppRecord]
        var open: [String: App] = [:]
        var opening: [String: Task<App, any Error>] = [:]
    }

    init(
        store: any DataStore,
        records: [AppRecord],
        options: ServerOptions,
        providers: [any AuthProvider],
        environment: CoreEnvironment
    ) {
        self.store = store
        self.options = options
        self.environment = environment
        self.providers = providers
        state = Locked(
            State(records: Dictionary(records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first }))
        )
    }

    package nonisolated(nonsending) func acquire(id: String) async throws -> App? {
        while true {
            enum Found {
                case open(App)
                case opening(Task<App, any Error>)
                case unknown
            }
            let found: Found = state.withLock { state in
                if let app = state.open[id] {
                    app.usage.begin()
                    return .open(app)
                }
                guard let record = state.records[id] else { return .unknown }
                if let task = state.opening[id] { return .opening(task) }
                let task = Task { try await self.open(record) }
                state.opening[id] = task
                return .opening(task)
            }
            switch found {
            case .open(let app): return app
            case .unknown: return nil
            case .opening(let task): _ = try await task.value
            }
        }
    }

    package func release(_ app: App) {
        app.usage.end()
    }

    /// Takes over what the control database says now.
    func update(_ records: [AppRecord]) async {
        let gone = state.withLock { state in
            let previous = state.records
            state.records = Dictionary(records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            var gone: [App] = []
            for (id, app) in state.open {
                guard let record = state.records[id] else {
                    gone.append(app)
                    state.open[id] = nil
                    continue
                }
                if record != previous[id] { app.credentials = record.credentials }
            }
            return gone
        }
        for app in gone { await app.storage.close() }
    }

    /// Closes apps that nobody has asked for since the last call.
    func closeIdle() async {
        let idle = state.withLock { state in
            let idle = state.open.values.filter { $0.usage.isIdle() }
            for app in idle { state.open[app.id] = nil }
            return idle
        }
        for app in idle { await app.storage.close() }
    }

    /// The apps that are open at this moment.
    var openApps: [App] {
        state.withLock { Array($0.open.values) }
    }

    /// Closes everything; requests that still run fail.
    func closeAll() async {
        let apps = state.withLock { state in
            let apps = Array(state.open.values)
            state.open = [:]
            state.records = [:]
            return apps
        }
        for app in apps { await app.storage.close() }
    }

    private func open(_ record: AppRecord) async throws -> App {
        do {
            let storage = try await store.openStorage(ofApp: record.id)
            let app = App(
                id: record.id,
                credentials: record.credentials,
                options: options.options(ofApp: record.id),
                storage: storage,
                providers: providers,
                environment: environment
            )
            storage.observe { [weak app] in app?.forget($0) }
            let isStillThere = state.withLock { state in
                state.opening[record.id] = nil
                guard let current = state.records[record.id] else { return false }
                app.credentials = current.credentials
                state.open[record.id] = app
                return true
            }
            if !isStillThere { await storage.close() }
            return app
        } catch {
            state.withLock { $0.opening[record.id] = nil }
            environment.logger.error(
                "an app cannot be opened",
                [("app", .string(record.id)), ("error", .string(String(describing: error)))]
            )
            throw error
        }
    }
}
