import JSON
import ParseCore
import ParsePostgres
import ParseWire
import TestSupport
import TestSupport
import Testing

@Suite(.enabled(if: PostgresServer.isInstalled)) struct StorageTests {
    private static let fields: [(String, FieldType, FieldValue)] = [
        ("text", .string, .string("a\u{1F}\"'\\é")), ("number", .number, .number(-0.1)),
        ("flag", .boolean, .bool(false)),
        ("date", .date, .date(Timestamp(milliseconds: -1))),
        ("owner", .pointer("_User"), .pointer(className: "_User", objectID: "u")),
        ("place", .geoPoint, .geoPoint(latitude: -90, longitude: 180)),
        ("photo", .file, .file(name: "a.png")),
        ("blob", .bytes, .bytes(base64: "AA==")), ("list", .array, .array([1, nil, "x", ["a": [true]]])),
        ("map", .object, .object(["b": 1, "a": nil])),
        ("area", .polygon, .polygon([[0, 0], [0, 1], [1, 1], [0, 0]])),
    ]

    @Test func `every type survives the way in, out and through a new opening`() async throws {
        let test = try await TestDatabase()
        let values = Dictionary(uniqueKeysWithValues: Self.fields.map { ($0.0, $0.2) })
        let nulls = values.mapValues { _ in FieldValue.null }
        let list = AccessControlList(readers: ["*", "role:A"], writers: ["u"])
        let rows = [
            TestDatabase.row("values", values, acl: list),
            TestDatabase.row("nulls", nulls, acl: AccessControlList()), TestDatabase.row("absent"),
        ]
        try await test.store("C", Self.fields.map { ($0.0, $0.1) }, rows)
        #expect(try await test.find("C") == rows)
        let schema = test.storage.schema
        await test.storage.close()
        let again = try await test.again().storage
        #expect(try await again.find(RowQuery(className: "C", predicate: .everything)) == rows)
        #expect(again.schema["C"] == schema["C"])
        #expect(again.schema.version == schema.version)
    }

    @Test func `null and absent are two states`() async throws {
        let test = try await TestDatabase()
        try await test.store(
            "C",
            [("f", .string)],
            [
                TestDatabase.row("null", ["f": .null]), TestDatabase.row("absent"),
                TestDatabase.row("x", ["f": .string("x")]),
            ]
        )
        #expect(try await test.ids("C", .equal("f", .null)) == ["null", "absent"])
        #expect(try await test.ids("C", .exists("f", true)) == ["null", "x"])
        #expect(try await test.ids("C", .exists("f", false)) == ["absent"])
        #expect(try await test.ids("C", .notEqual("f", .string("x"))) == ["null", "absent"])
        let change = WriteStep.update(
            RowUpdate(className: "C", predicate: .id("null"), changes: [("f", .unset)])
        )
        _ = try await test.storage.write(WritePlan(steps: [change]))
        #expect(try await test.ids("C", .exists("f", true)) == ["x"])
    }

    @Test func `names that differ by case, or that SQL gives a meaning, are different columns`()
        async throws
    {
        let test = try await TestDatabase()
        let names = [
            "score", "Score", "SCORE", "rowid", "ROWID", "oid", "select", "order", "table", "a_b", "latitude",
            "group",
        ]
        var row = TestDatabase.row("x")
        for (number, name) in names.enumerated() { row.fields[name] = .number(Double(number)) }
        for className in ["Table", "table", "TABLE", "Order"] {
            try await test.store(className, names.map { ($0, .number) }, [TestDatabase.row("first"), row])
            #expect(try await test.find(className) == [TestDatabase.row("first"), row])
            for (number, name) in names.enumerated() {
                #expect(try await test.ids(className, .equal(name, .number(Double(number)))) == ["x"])
            }
        }
    }

    @Test func `a class of a thousand fields`() async throws {
        let test = try await TestDatabase()
        let names = (0..<990).map { "f\($0)" }
        try await test.store("C", names.map { ($0, .number) }, [TestDatabase.row("x", ["f989": .number(1)])])
        #expect(try await test.ids("C", .equal("f989", .number(1))) == ["x"])
    }

    @Test func `a field of another type is a conflict, the same again is none`() async throws {
        let test = try await TestDatabase()
        try await test.store("C", [("f", .string)], [])
        try await test.store("C", [("f", .string)], [])
        let version = test.storage.schema.version
        do {
            try await test.store("C", [("new", .number), ("f", .pointer("D"))], [TestDatabase.row("x")])
            Issue.record("nothing was refused")
        } catch StorageError.schemaConflict(let conflict) {
            #expect(
                conflict
                    == SchemaConflict(className: "C", field: "f", existing: .string, requested: .pointer("D"))
            )
        }
        #expect(test.storage.schema.version == version)
        #expect(test.storage.schema["C"]?.type(of: "new") == nil)
        #expect(try await test.find("C").isEmpty)
        try await test.store("C", [("new", .string)], [])
    }

    @Test func `a step that fails takes the others and the schema with it`() async throws {
        let test = try await TestDatabase()
        try await test.store("C", [("f", .string)], [TestDatabase.row("x")])
        let failing: [WriteStep] = [
            .require(className: "C", .id("unknown")), .insert(className: "C", TestDatabase.row("x")),
            .update(RowUpdate(className: "C", predicate: .id("unknown"))),
            .delete(RowDeletion(className: "C", predicate: .id("unknown"))),
            .update(
                RowUpdate(
                    className: "C",
                    predicate: .id("x"),
                    changes: [("f", .set(.string("a"))), ("f", .increment(1))]
                )
            ),
        ]
        for step in failing {
            let plan = WritePlan(
                schemaChanges: [.addClass("New"), .addField(className: "C", field: "g", type: .number)],
                steps: [
                    .insert(className: "C", TestDatabase.row("y", ["g": .number(1)])),
                    .link(ProviderIdentity(provider: "p", id: "1"), userID: "u"), step,
                ]
            )
            await #expect(throws: StorageError.self) { try await test.storage.write(plan) }
            #expect(try await test.ids("C", .everything) == ["x"])
            #expect(test.storage.schema["C"]?.type(of: "g") == nil && test.storage.schema["New"] == nil)
            #expect(try await test.storage.users(owning: [ProviderIdentity(provider: "p", id: "1")]).isEmpty)
        }
    }

    @Test func `schema changes of one commit group see each other`() async throws {
        let test = try await TestDatabase()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    try await test.store(
                        "C",
                        [("f\(number % 7)", .number)],
                        [TestDatabase.row("r\(number)", ["f\(number % 7)": .number(1)])]
                    )
                }
            }
            try await group.waitForAll()
        }
        #expect(try await test.find("C").count == 60)
        #expect(test.storage.schema["C"]?.fieldNames.count == 11)
    }

    @Test func `what must be unique is`() async throws {
        let test = try await TestDatabase()
        func user(_ id: String, _ name: String, _ email: String? = nil) -> WritePlan {
            var fields: [String: FieldValue] = ["username": .string(name)]
            if let email { fields["email"] = .string(email) }
            return WritePlan(steps: [.insert(className: "_User", TestDatabase.row(id, fields))])
        }
        func duplicate(_ plan: WritePlan) async -> UniqueValue? {
            do {
                _ = try await test.storage.write(plan)
                return nil
            } catch .duplicate(let value) {
                return value
            } catch {
                Issue.record("\(error)")
                return nil
            }
        }
        #expect(await duplicate(user("a", "Ünal", "A@x")) == nil)
        #expect(await duplicate(user("b", "üNAL")) == .username)
        #expect(await duplicate(user("b", "b", "a@X")) == .email)
        #expect(await duplicate(user("a", "c")) == .objectID)
        #expect(await duplicate(user("b", "b", "")) == nil)
        #expect(await duplicate(user("c", "c", "")) == nil)
        let account = ProviderIdentity(provider: "p", id: "1")
        #expect(
            await duplicate(WritePlan(steps: [.link(account, userID: "a"), .link(account, userID: "a")]))
                == nil
        )
        #expect(
            await duplicate(WritePlan(steps: [.link(account, userID: "b")]))
                == .providerAccount(provider: "p")
        )
        #expect(
            await duplicate(
                WritePlan(steps: [.unlink(userID: "a", providers: nil), .link(account, userID: "b")])
            ) == nil
        )
        #expect(try await test.ids("_User", .equal("username", .string("Ünal"))) == ["a"])
        #expect(try await test.ids("_User", .equal("username", .string("ünal"))).isEmpty)
        #expect(try await test.ids("_User", .usernameKey("ÜNAL")) == ["a"])
        #expect(try await test.ids("_User", .equal("email", .string(""))) == ["b", "c"])
    }

    @Test func `rows are found and written only by who may`() async throws {
        let test = try await TestDatabase()
        let rows = [
            TestDatabase.row("public"), TestDatabase.row("locked", acl: AccessControlList()),
            TestDatabase.row("read", acl: AccessControlList(readers: ["*"])),
            TestDatabase.row("mine", acl: AccessControlList(readers: ["ab"], writers: ["ab"])),
            TestDatabase.row("theirs", acl: AccessControlList(readers: ["b", "xaby"], writers: ["b"])),
        ]
        try await test.store("C", [("n", .number)], rows)
        func visible(_ access: RowAccess) async throws -> [String] {
            try await test.storage.find(RowQuery(className: "C", predicate: .everything, access: access)).map(
                \.objectID
            )
        }
        #expect(try await visible(.group(["*"])) == ["public", "read"])
        #expect(try await visible(.group(["*", "ab"])) == ["public", "read", "mine"])
        #expect(try await visible(.group(["*", "a"])) == ["public", "read"])
        #expect(try await visible(.unrestricted).count == 5)
        // A filter that holds for every row opens no door beside the list.
        let sly = RowQuery(className: "C", predicate: .any([.everything, .none([])]), access: .group(["*"]))
        #expect(try await test.storage.count(sly) == 2)
        let update = RowUpdate(
            className: "C",
            predicate: .any([.everything]),
            access: .group(["*", "ab"]),
            changes: [("n", .set(.number(1)))]
        )
        let outcome = try await test.storage.write(WritePlan(steps: [.update(update)]))
        #expect(outcome.updatedRows[0].map(\.objectID) == ["public", "mine"])
        let deletion = RowDeletion(className: "C", predicate: .id("theirs"), access: .group(["*", "ab"]))
        await #expect(throws: StorageError.self) {
            try await test.storage.write(WritePlan(steps: [.delete(deletion)]))
        }
    }

    @Test func `absent values sort lowest, and what is equal stays in order`() async throws {
        let test = try await TestDatabase()
        let rows = [
            TestDatabase.row("a", ["n": .number(2)]), TestDatabase.row("b"),
            TestDatabase.row("c", ["n": .number(1)]), TestDatabase.row("d", ["n": .null]),
            TestDatabase.row("e", ["n": .number(1)]),
        ]
        try await test.store("C", [("n", .number)], rows)
        func order(_ keys: [SortKey], skip: Int = 0, limit: Int = 10) async throws -> [String] {
            try await test.storage.find(
                RowQuery(className: "C", predicate: .everything, order: keys, limit: limit, skip: skip)
            ).map(\.objectID)
        }
        #expect(try await order([SortKey(field: "n")]) == ["b", "d", "c", "e", "a"])
        #expect(try await order([SortKey(field: "n", isDescending: true)]) == ["a", "c", "e", "b", "d"])
        #expect(
            try await order(
                [SortKey(field: "unknown"), SortKey(field: "objectId", isDescending: true)],
                skip: 1,
                limit: 2
            ) == ["d", "c"]
        )
        #expect(try await order([], limit: 0).isEmpty)
    }

    @Test func `a filter of two thousand conditions`() async throws {
        let test = try await TestDatabase()
        try await test.store(
            "C",
            [("s", .string)],
            [TestDatabase.row("x", ["s": .string("s1999")]), TestDatabase.row("y")]
        )
        let parts = (0..<2000).map { Predicate.equal("s", .string("s\($0)")) }
        #expect(try await test.ids("C", .any(parts)) == ["x"])
        #expect(try await test.ids("C", .none(parts)) == ["y"])
        #expect(try await test.ids("C", .all(parts)).isEmpty)
        #expect(try await test.ids("C", .among("s", (0..<20_000).map { .string("s\($0)") })) == ["x"])
        let other = Predicate.equal("s", .string("other"))
        let deep = (0..<16).reduce(Predicate.equal("s", .string("s1999"))) { inner, level in
            level.isMultiple(of: 2) ? .none([other, inner]) : .none([inner, other])
        }
        #expect(try await test.ids("C", deep) == ["x"])
        let mixed = (0..<16).reduce(Predicate.equal("s", .string("s1999"))) { inner, level in
            level.isMultiple(of: 2) ? .any([other, other, inner]) : .all([.notEqual("s", .null), inner])
        }
        #expect(try await test.ids("C", mixed) == ["x"])
    }

    @Test func `a closed database says so`() async throws {
        let test = try await TestDatabase()
        await test.storage.close()
        do {
            _ = try await test.find("_User")
            Issue.record("it answered")
        } catch StorageError.closed {}
    }
}
