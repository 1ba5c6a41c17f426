import JSON
import Cryptography
import EventLoop
import FileStorage
package import HTTP
import Locking
package import Logging
package import ParseCore
import ParseREST
package import ParseWire

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The whole server in one process: data folder, apps, HTTP.
package final class MartletServer: Sendable {
    package static let version = "0.1.0"

    private let lock: FolderLock?
    private let store: any DataStore
    private let registry: AppRegistry
    private let loops: EventLoopGroup
    private let http: HTTPServer
    private let passwords: PasswordHashingPool
    private let files: LocalFileStore
    private let pinned: AppRecord?
    private let options: ServerOptions
    private let logger: Logger
    private let now: @Sendable () -> Timestamp
    private let isFirstRun: Bool
    private let signals = Locked<SignalSource?>(nil)

    /// Takes the data folder and reads what is in it; nothing listens yet.
    ///
    /// - Throws: ``ConfigurationError``: one line that says what is wrong.
    package init(
        folder: DataFolder,
        options: ServerOptions,
        logger: Logger,
        providers: [any AuthProvider] = [],
        tune: (inout HTTPServerConfiguration) -> Void = { _ in },
        hashQueueLimit: Int = 1024,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) async throws {
        self.options = options
        self.logger = logger
        pinned = try options.pinnedApp()
        loops = try EventLoopGroup()
        if let url = options.databaseURL {
            // The folder holds files alone, and processes may share it.
            lock = nil
            try folder.prepare()
            store = try await PostgresStore(url: url, loops: loops.loops)
        } else {
            try folder.prepare()
            lock = try folder.lock()
            store = try FolderStore(folder)
        }
        self.now = now
        let records = try await store.apps()
        isFirstRun = records.isEmpty && pinned == nil
        let apps = Self.records(records, pinned, options)
        for app in apps { try ServerOptions.check(app) }
        for id in options.appsByID.keys.sorted() where !apps.contains(where: { $0.id == id }) {
            logger.warning("the configuration names an app that does not exist", [("app", .string(id))])
        }
        passwords = PasswordHashingPool(
            threads: PasswordHashingPool.defaultThreads,
            queueLimit: hashQueueLimit,
            algorithm: options.passwordAlgorithm
        )
        files = try folder.openFiles()
        let environment = CoreEnvironment(now: now, passwords: passwords, logger: logger, files: files)
        registry = AppRegistry(
            store: store,
            records: apps,
            options: options,
            providers: providers,
            environment: environment
        )
        var configuration = HTTPServerConfiguration(host: options.host, port: options.port)
        configuration.onProblem = { [logger] in logger.warning("http", [("problem", .string($0))]) }
        tune(&configuration)
        http = HTTPServer(
            group: loops,
            configuration: configuration,
            handler: RESTService(
                apps: registry,
                defaults: options.app,
                optionsByApp: { options.options(ofApp: $0) },
                logger: logger
            )
        )
    }

    /// The signals that ask the process to end, from the moment ``start()`` returns; until then they end it at once.
    ///
    /// To be called before ``start()``.
    package func terminations() -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream<Int32>.makeStream(bufferingPolicy: .bufferingOldest(1))
        // The listener opens on the same loop after this, so whoever sees the server answer can stop it.
        let source = SignalSource(loop: loops.loops[0], signals: [SIGTERM, SIGINT]) { continuation.yield($0) }
        signals.withLock { $0 = source }
        return stream
    }

    /// Listens.
    ///
    /// - Returns: The port, also where the options leave it to the system.
    package func start() async throws -> Int {
        do {
            return try await http.start()
        } catch {
            throw ConfigurationError("Cannot \(error).")
        }
    }

    /// On an empty folder, unless an app is pinned by the options: makes an app, which works at once.
    ///
    /// Done when the server listens, so that a start that fails does not swallow the one chance to see its keys.
    ///
    /// - Returns: The app with its keys; `nil` when it is not the first run.
    package func makeFirstApp() async throws -> NewAppKeys? {
        guard isFirstRun else { return nil }
        let app = try await store.createFirstApp(named: "My App", at: now())
        await registry.update(Self.records(try await store.apps(), pinned, options))
        return app
    }

    /// Looks after things until cancelled: apps that commands make, change or delete; apps that are idle;
    /// sessions that ended long ago.
    package func maintain() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.store.run() }
            group.addTask { await self.followApps() }
            group.addTask { await self.repeatedly(every: .seconds(300)) { await self.closeIdleApps() } }
            group.addTask {
                await self.repeatedly(every: .seconds(600)) { await self.sweep() }
            }
        }
    }

    /// Closes the apps that nobody has asked for since the last call.
    package func closeIdleApps() async {
        await registry.closeIdle()
    }

    /// Stops accepting, finishes what is in flight, and closes the databases.
    ///
    /// - Parameter grace: How long requests may take to finish.
    package func shutdown(grace: Duration = .seconds(10)) async {
        await http.shutdown(grace: grace)
        signals.withLock { $0 }?.cancel()
        await registry.closeAll()
        passwords.shutdown()
        await store.close()
        files.shutdown()
        await loops.shutdown()
    }

    private static func records(
        _ stored: [AppRecord],
        _ pinned: AppRecord?,
        _ options: ServerOptions
    ) -> [AppRecord] {
        let known = stored.filter { $0.id != pinned?.id }.map { record in
            AppRecord(
                id: record.id,
                name: record.name,
                credentials: options.credentials(ofApp: record.id, record.credentials)
            )
        }
        return known + (pinned.map { [$0] } ?? [])
    }

    private func followApps() async {
        var seen: Int64?
        var isFailing = false
        await repeatedly(every: .milliseconds(250)) {
            defer { isFailing = seen == nil }
            do {
                let counter = try await self.store.changeCounter()
                guard counter != seen else { return }
                seen = counter
                await self.registry.update(
                    Self.records(try await self.store.apps(), self.pinned, self.options)
                )
            } catch {
                seen = nil
                // Told once, and not four times a second.
                guard !isFailing, !Task.isCancelled else { return }
                self.logger.error(
                    "the apps cannot be read",
                    [("error", .string(String(describing: error)))]
                )
            }
        }
    }

    private func sweep() async {
        for app in registry.openApps {
            do {
                let count = try await SweepSessions().run(in: app)
                if count > 0 {
                    logger.info(
                        "ended sessions removed",
                        [("app", .string(app.id)), ("count", .number(Double(count)))]
                    )
                }
                try await SweepRequests().run(in: app)
            } catch {
                logger.error("sweep failed", [("error", .string(String(describing: error)))])
            }
        }
    }

    private func repeatedly(every interval: Duration, _ body: () async -> Void) async {
        while !Task.isCancelled {
            await body()
            try? await Task.sleep(for: interval)
        }
    }
}

extension Timestamp {
    /// The present moment by the system's clock.
    package static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
