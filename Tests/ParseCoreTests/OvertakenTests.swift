import JSON
import Locking
import ParseCore
import ParseWire
import Testing

/// What happens to a request that another one overtakes between what it reads and what it writes.
@Suite struct OvertakenTests {
    private let test: TestApp
    private let storage: HookStorage
    private let app: App

    init() throws {
        test = try TestApp()
        storage = HookStorage(test.storage)
        app = App(
            id: "test",
            credentials: test.app.credentials,
            options: test.app.options,
            storage: storage,
            environment: test.app.environment
        )
    }

    private var master: RequestContext {
        RequestContext(app: app, principal: .master, sessionToken: nil, installationID: nil, lane: nil)
    }

    /// Does something before the next write that comes, once.
    private func overtake(_ action: @escaping @Sendable () async throws -> Void) {
        let storage = storage
        storage.beforeWrite.withLock { hook in
            hook = { _ in
                storage.beforeWrite.withLock { $0 = nil }
                do {
                    try await action()
                } catch {
                    Issue.record("the other request failed: \(error)")
                }
            }
        }
    }

    @Test func `a field that a save adds first is told as one that is there`() async throws {
        _ = try await CreateSchema(className: "Game", body: [:]).run(in: master)
        overtake { [test] in
            _ = try await CreateObject(className: "Game", body: ["x": 1]).run(in: test.context(.master))
        }
        await expectRefusal(.schemaOperation, "Field x exists, cannot update.") {
            let body: JSONObject = ["fields": ["x": ["type": "String"]]]
            _ = try await UpdateSchema(className: "Game", body: body).run(in: master)
        }
        overtake { [test] in
            _ = try await CreateObject(className: "Game", body: ["y": 1]).run(in: test.context(.master))
        }
        let body: JSONObject = ["fields": ["y": ["type": "Number", "required": true]]]
        let reply = try await UpdateSchema(className: "Game", body: body).run(in: master)
        #expect(reply["fields"]?["y"] == ["type": "Number", "required": true])
    }

    @Test func `a mistake that is its own is told at once`() async throws {
        _ = try await CreateSchema(className: "Game", body: [:]).run(in: master)
        await expectRefusal(.incorrectType, "invalid field type: Nope") {
            let body: JSONObject = ["fields": ["x": ["type": "Nope"]]]
            _ = try await UpdateSchema(className: "Game", body: body).run(in: master)
        }
    }

    @Test func `a config whose row comes or goes in between is set all the same`() async throws {
        overtake { [test] in
            _ = try await UpdateConfig(body: ["params": ["a": 1]]).run(in: test.context(.master))
        }
        _ = try await UpdateConfig(body: ["params": ["b": 2]]).run(in: master)
        let read = try await ReadConfig().run(in: master)
        #expect(read["params"] == ["a": 1, "b": 2])
        overtake { [test] in
            _ = try await PurgeClass(className: SystemClasses.config).run(in: test.context(.master))
        }
        _ = try await UpdateConfig(body: ["params": ["c": 3]]).run(in: master)
        #expect(try await ReadConfig().run(in: master)["params"] == ["c": 3])
    }

    @Test func `a class that is dropped while it is purged is no error`() async throws {
        _ = try await CreateSchema(className: "Game", body: [:]).run(in: master)
        overtake { [test] in
            _ = try await DeleteSchema(className: "Game").run(in: test.context(.master))
        }
        #expect(try await PurgeClass(className: "Game").run(in: master) == [:])
    }

    @Test func `an installation that another request makes first is changed`() async throws {
        let body: JSONObject = ["deviceType": "ios", "installationId": "i"]
        overtake { [test] in
            _ = try await CreateInstallation(body: body).run(in: test.context())
        }
        let reply = try await CreateInstallation(body: body).run(in: master)
        #expect(!reply.isNew)
        #expect(try await test.rows(SystemClasses.installation).count == 1)
    }

    @Test func `an installation that goes in between is made again`() async throws {
        let body: JSONObject = ["deviceType": "ios", "installationId": "i"]
        _ = try await CreateInstallation(body: body).run(in: master)
        overtake { [test] in
            _ = try await PurgeClass(className: SystemClasses.installation).run(in: test.context(.master))
        }
        #expect(try await CreateInstallation(body: body).run(in: master).isNew)
    }
}

@Suite struct SchemaGateTests {
    @Test func `one comes after the other, in the order of arrival`() async throws {
        let gate = SchemaGate()
        let inside = Locked((now: 0, most: 0, total: 0))
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<50 {
                group.addTask {
                    try? await gate.run {
                        inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.total + 1) }
                        await Task.yield()
                        inside.withLock { $0.now -= 1 }
                        if index % 7 == 0 { throw ParseError.objectNotFound }
                    }
                }
            }
        }
        #expect(inside.withLock { $0 } == (0, 1, 50))
    }
}
