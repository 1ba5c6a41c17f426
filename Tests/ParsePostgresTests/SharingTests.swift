import Cryptography
import JSON
import Locking
import ParseCore
import ParsePostgres
import ParseWire
import Postgres
import TestSupport
import Testing

/// Several processes, or what looks like them, on one database.
@Suite(.enabled(if: PostgresServer.isInstalled), .timeLimit(.minutes(3)))
struct SharingTests {
    private static func increment(_ id: String, _ field: String) -> WriteStep {
        .update(RowUpdate(className: "C", predicate: .id(id), changes: [(field, .increment(1))]))
    }

    @Test func `increments at the same time all count, on one process or two`() async throws {
        let one = try await TestDatabase()
        try await one.store("C", [("n", .number), ("a", .array)], [TestDatabase.row("x")])
        let two = try await one.again()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                let test = number % 2 == 0 ? one : two
                group.addTask {
                    let add = FieldChange.addUnique([.number(Double(number))])
                    try await test.write(
                        Self.increment("x", "n"),
                        .update(RowUpdate(className: "C", predicate: .id("x"), changes: [("a", add)]))
                    )
                }
            }
            try await group.waitForAll()
        }
        let row = try await two.find("C")[0]
        #expect(row.fields["n"] == .number(60))
        guard case .array(let elements) = row.fields["a"] else { return #expect(Bool(false)) }
        #expect(Set(elements).count == 60)
        await two.database.close()
    }

    @Test func `of fifty sign-ups with one name on two processes one is taken`() async throws {
        let one = try await TestDatabase()
        let two = try await one.again()
        let taken = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                let test = number % 2 == 0 ? one : two
                group.addTask {
                    let name = number % 3 == 0 ? "ÄNNE" : "änne"
                    do {
                        try await test.write(
                            .insert(
                                className: "_User",
                                TestDatabase.row("u\(number)", ["username": .string(name)])
                            ),
                            .link(ProviderIdentity(provider: "p", id: "\(number)"), userID: "u\(number)")
                        )
                        taken.withLock { $0 += 1 }
                    } catch StorageError.duplicate(let value) {
                        #expect(value == .username)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(taken.withLock { $0 } == 1)
        #expect(try await one.ids("_User", .usernameKey("Änne")).count == 1)
        await two.database.close()
    }

    @Test func `a field that one process adds is soon known to the other`() async throws {
        let one = try await TestDatabase()
        let two = try await one.again()
        #expect(two.storage.schema["C"] == nil)
        try await one.store("C", [("f", .string)], [TestDatabase.row("x", ["f": .string("v")])])
        // A class that nobody told us of is looked for.
        #expect(try await two.find("C").map(\.objectID) == ["x"])
        try await one.change(.addField(className: "C", field: "g", type: .number))
        let start = ContinuousClock.now
        while two.storage.schema["C"]?.type(of: "g") == nil, start.duration(to: .now) < .seconds(5) {
            try await Task.sleep(for: .milliseconds(2))
        }
        #expect(two.storage.schema["C"] == one.storage.schema["C"])
        // Both add the same field with different types at the same time: one wins, the other hears of it.
        let types: [(TestDatabase, FieldType)] = [(one, .string), (two, .number)]
        let conflicts = try await withThrowingTaskGroup(of: Int.self) { group in
            for (test, type) in types {
                group.addTask {
                    do {
                        try await test.change(.addField(className: "C", field: "h", type: type))
                        return 0
                    } catch StorageError.schemaConflict(let conflict) {
                        #expect(conflict.field == "h" && conflict.requested == type)
                        return 1
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(conflicts == 1)
        await two.database.close()
    }

    @Test func `an app that is opened again while it is closed stays open`() async throws {
        let test = try await TestDatabase()
        let again = try await test.database.storage(ofApp: test.applicationID)
        await test.storage.close()
        _ = try await again.write(WritePlan(schemaChanges: [.addClass("C")], steps: []))
        await again.close()
        await #expect(throws: StorageError.self) {
            try await again.count(RowQuery(className: "C", predicate: .everything))
        }
        let third = try await test.database.storage(ofApp: test.applicationID)
        #expect(try await third.count(RowQuery(className: "C", predicate: .everything)) == 0)
        await third.close()
    }

    @Test(arguments: [90_624, 140_012, 149_999]) func `an old server is refused by its version`(
        version: Int64
    ) {
        #expect {
            try PostgresDatabase.check(serverVersion: version)
        } throws: {
            guard case StorageError.failed(let text) = $0 else { return false }
            return text == "PostgreSQL 15 or later is needed, this is \(version / 10_000)"
        }
        #expect(throws: Never.self) { try PostgresDatabase.check(serverVersion: 150_000) }
    }

    @Test func `notices reach the others in order, and not oneself`() async throws {
        let one = try await TestDatabase()
        let two = try await one.again()
        let stranger = try await TestDatabase()
        let heard = Locked<[String: [ChangeNotice]]>([:])
        for (name, test) in [("one", one), ("two", two), ("stranger", stranger)] {
            test.storage.observe { notice in heard.withLock { $0[name, default: []].append(notice) } }
        }
        let many = (0..<1000).map { ChangeNotice.user("u\($0)") }
        for notices in [[.user("a"), .roles], [.user("b\"'é")], [.everything], many] as [[ChangeNotice]] {
            _ = try await one.storage.write(WritePlan(steps: [], notices: notices))
        }
        // One that fails is never heard of.
        let failing = WritePlan(
            steps: [.require(className: "_User", .id("unknown"))],
            notices: [.user("never")]
        )
        await #expect(throws: StorageError.self) { try await one.storage.write(failing) }
        let expected: [ChangeNotice] = [.user("a"), .roles, .user("b\"'é"), .everything, .everything]
        let start = ContinuousClock.now
        while heard.withLock({ $0["two"]?.count ?? 0 }) < 5, start.duration(to: .now) < .seconds(5) {
            try await Task.sleep(for: .milliseconds(2))
        }
        #expect(heard.withLock { $0["two"] } == expected)
        #expect(heard.withLock { $0["one"] ?? [] } == [])
        #expect(heard.withLock { $0["stranger"] ?? [] } == [])
        await two.database.close()
    }

    @Test func `when the server is gone the storage says so, and is itself again after`() async throws {
        let server = try await PostgresServer()
        let test = try await TestDatabase("app", in: try await TestDatabase.open(server.url()))
        try await test.store("C", [("n", .number)], [TestDatabase.row("x")])
        let heard = Locked<[ChangeNotice]>([])
        test.storage.observe { notice in heard.withLock { $0.append(notice) } }
        #expect(test.storage.isCoherent)
        try await server.kill()
        let start = ContinuousClock.now
        while test.storage.isCoherent, start.duration(to: .now) < .seconds(5) {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(start.duration(to: .now) < .seconds(2))
        for _ in 0..<2 {
            do {
                _ = try await test.find("C")
                Issue.record("it answered")
            } catch StorageError.unavailable {}
        }
        do {
            try await test.write(Self.increment("x", "n"))
            Issue.record("it answered")
        } catch StorageError.unavailable {}
        try await server.start()
        while !test.storage.isCoherent, start.duration(to: .now) < .seconds(30) {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(heard.withLock { $0 } == [.everything])
        while (try? await test.write(Self.increment("x", "n"))) == nil,
            start.duration(to: .now) < .seconds(30)
        {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try await test.find("C")[0].fields["n"] == .number(1))
        await test.database.close()
    }

    @Test func `a write that waits for another sees what that has done`() async throws {
        let one = try await TestDatabase()
        try await one.store("C", [("n", .number)], [TestDatabase.row("x", ["n": .number(0)])])
        // Each takes the row from one state to the next only if it is still in the first.
        let winners = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let update = RowUpdate(
                        className: "C",
                        predicate: .id("x").and(.equal("n", .number(0))),
                        changes: [("n", .set(.number(1)))]
                    )
                    do {
                        try await one.write(.update(update))
                        winners.withLock { $0 += 1 }
                    } catch StorageError.noMatch(let step) {
                        #expect(step == 0)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(winners.withLock { $0 } == 1)
    }

    @Test(arguments: [
        "plain", "Ünï\"cödé'; DROP SCHEMA public", String(repeating: "x", count: 300), "with space", "~", "A",
        "a",
    ])
    func `an app of any id has a place of its own`(_ id: String) async throws {
        let database = try await TestDatabase().database
        let id = id + SecureRandom.alphanumeric(8)
        let other = try await TestDatabase(id + "x", in: database)
        let test = try await TestDatabase(id, in: database)
        try await test.store("C", [("s", .string)], [TestDatabase.row("x")])
        #expect(other.storage.schema["C"] == nil)
        #expect(try await test.again().find("C").map(\.objectID) == ["x"])
        try await database.deleteApp(id)
        let anew = try await TestDatabase(id, in: database)
        #expect(anew.storage.schema["C"] == nil)
        #expect(other.storage.schema["_User"] != nil)
    }

    @Test func `a value that is too long for an index is refused`() async throws {
        let test = try await TestDatabase()
        // Random, so that it cannot be made shorter.
        let name = SecureRandom.alphanumeric(9000)
        do {
            try await test.write(
                .insert(className: "_User", TestDatabase.row("u", ["username": .string(name)]))
            )
            Issue.record("it was taken")
        } catch StorageError.refused {}
    }

    @Test func `a result that is too large is refused, and the next is read`() async throws {
        let test = try await TestDatabase()
        try await test.store("C", [("s", .string), ("o", .object)], [])
        let text = String(repeating: "x", count: 900_000)
        for number in 0..<40 {
            let fields: [String: FieldValue] =
                number % 2 == 0 ? ["s": .string(text)] : ["o": .object(["k": .string(text)])]
            try await test.write(.insert(className: "C", TestDatabase.row("r\(number)", fields)))
        }
        func refusal(_ body: () async throws -> Void) async throws -> ParseErrorCode? {
            do {
                try await body()
                return nil
            } catch StorageError.refused(let error) {
                return error.code
            }
        }
        #expect(try await refusal { _ = try await test.find("C") } == .objectTooLarge)
        #expect(
            try await refusal {
                _ = try await test.storage.distinct(
                    RowQuery(className: "C", predicate: .everything),
                    path: "o.k"
                )
            } == nil
        )
        let few = RowQuery(className: "C", predicate: .everything, limit: 30)
        #expect(try await test.storage.find(few).count == 30)
        let narrow = RowQuery(className: "C", predicate: .everything, limit: 1000, fields: [])
        #expect(try await test.storage.find(narrow).count == 40)
    }
}
