import Cryptography
import Logging
import ParseCore
import ParseWire
import TestSupport
import Testing

@testable import Martlet

@Suite struct DataFolderTests {
    @Test func `one holder at a time`() throws {
        let folder = DataFolder(path: try TemporaryFolder().path + "/a/b")
        try folder.prepare()
        var lock: FolderLock? = try folder.lock()
        let error = #expect(throws: ConfigurationError.self) { try folder.lock() }
        #expect(error?.description.contains("is in use by another martlet (process ") == true)
        #expect(lock != nil)
        lock = nil
        #expect(throws: Never.self) { try folder.lock() }
    }

    @Test func `a folder with other things in it is left alone`() throws {
        let temporary = try TemporaryFolder()
        try DataFolder(path: temporary.path + "/inner").prepare()
        #expect(throws: ConfigurationError.self) { try DataFolder(path: temporary.path).prepare() }
    }

    @Test(arguments: [
        ("app", "app.db"), ("a/../b", "a_2f_2e_2e_2fb.db"), ("", ".db"), ("a b", "a_20b.db"),
        ("a_b", "a_5fb.db"), ("aB", "a_42.db"), ("é", "_c3_a9.db"), ("a\0", "a_00.db"), ("..", "_2e_2e.db"),
    ])
    func `an app's file stays in the folder, whatever its id`(_ id: String, _ name: String) {
        #expect(DataFolder(path: "/d/").database(ofApp: id) == "/d/apps/" + name)
    }
}

@Suite struct ControlDatabaseTests {
    private let temporary: TemporaryFolder

    init() throws {
        temporary = try TemporaryFolder()
    }

    private func make() throws -> ControlDatabase {
        let folder = DataFolder(path: temporary.path + "/data")
        try folder.prepare()
        return try ControlDatabase(folder)
    }

    @Test func `an app is made, found, given a new key and forgotten`() throws {
        let control = try make()
        let app = try control.createApp(named: "A", at: Timestamp(milliseconds: 1))
        #expect(try control.apps() == [app.record])
        #expect(try control.app(id: app.record.id)?.credentials.kind(ofMasterKey: app.masterKey) == .master)
        let rotated = try #require(try control.rotateMasterKey(ofApp: app.record.id))
        let stored = try #require(try control.app(id: app.record.id)).credentials
        #expect(
            stored.kind(ofMasterKey: app.masterKey) == nil
                && stored.kind(ofMasterKey: rotated.masterKey) == .master
        )
        #expect(try control.rotateMasterKey(ofApp: "none") == nil)
        #expect(try control.deleteApp(id: app.record.id))
        #expect(try !control.deleteApp(id: app.record.id))
        for name in ["", String(repeating: "a", count: 201), "a\nb"] {
            #expect(throws: ConfigurationError.self) {
                try control.createApp(named: name, at: Timestamp(milliseconds: 1))
            }
        }
        #expect(throws: Never.self) {
            try control.createApp(named: String(repeating: "a", count: 200), at: Timestamp(milliseconds: 1))
        }
    }
}

@Suite struct AppRegistryTests {
    private let temporary: TemporaryFolder

    init() throws {
        temporary = try TemporaryFolder()
    }

    private func make() throws -> (AppRegistry, AppRecord) {
        let store = try FolderStore(DataFolder(path: temporary.path + "/data"))
        let record = AppRecord(
            id: "a",
            name: "A",
            credentials: AppCredentials(masterKeyHash: SHA256.hash("m"))
        )
        let environment = CoreEnvironment(
            now: { Timestamp(milliseconds: 0) },
            passwords: PasswordHashingPool(threads: 1),
            logger: .disabled
        )
        let registry = AppRegistry(
            store: store,
            records: [record],
            options: ServerOptions(),
            providers: [],
            environment: environment
        )
        return (registry, record)
    }

    @Test func `twenty that come at once get one app`() async throws {
        let (registry, _) = try make()
        let apps = try await withThrowingTaskGroup(of: App?.self) { group in
            for _ in 0..<20 { group.addTask { try await registry.acquire(id: "a") } }
            return try await group.reduce(into: [App]()) { if let app = $1 { $0.append(app) } }
        }
        #expect(apps.count == 20 && Set(apps.map(ObjectIdentifier.init)).count == 1)
        #expect(try await registry.acquire(id: "unknown") == nil)
        await registry.closeAll()
    }

    @Test func `an app in use stays open, an idle one is closed and opened again`() async throws {
        let (registry, _) = try make()
        let app = try #require(try await registry.acquire(id: "a"))
        for _ in 0..<3 { await registry.closeIdle() }
        #expect(registry.openApps.count == 1)
        registry.release(app)
        #expect(try await registry.acquire(id: "a") === app)
        registry.release(app)
        await registry.closeIdle()
        #expect(registry.openApps.count == 1, "it was used since the last call")
        await registry.closeIdle()
        #expect(registry.openApps.isEmpty)
        let again = try #require(try await registry.acquire(id: "a"))
        #expect(again !== app)
        #expect(try await again.user(id: "none") == nil)
        await registry.closeAll()
    }

    @Test func `a new master key holds at once, and a deleted app is gone`() async throws {
        let (registry, record) = try make()
        let app = try #require(try await registry.acquire(id: "a"))
        var changed = record
        changed.credentials.masterKeyHash = SHA256.hash("new")
        await registry.update([changed])
        #expect(
            app.credentials.kind(ofMasterKey: "m") == nil
                && app.credentials.kind(ofMasterKey: "new") == .master
        )
        await registry.update([])
        #expect(try await registry.acquire(id: "a") == nil)
        await #expect(throws: (any Error).self) { try await app.user(id: "none") }
        await registry.closeAll()
    }
}
