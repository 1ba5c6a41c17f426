import JSON
import ParseCore
import ParseSQLite
import ParseWire
import Testing

/// Updates that ask for the row back, and such that do not and need not read it.
@Suite(.serialized) struct UpdateTests {
    private func update(
        _ changes: [(String, FieldChange)],
        returnsRow: Bool,
        access: RowAccess = .unrestricted
    ) -> WriteStep {
        .update(
            RowUpdate(
                className: "C",
                predicate: .id("x"),
                access: access,
                changes: changes.map { (field: $0.0, change: $0.1) },
                returnsRow: returnsRow
            )
        )
    }

    private func database(_ row: StoredRow = TestDatabase.row("x")) async throws -> TestDatabase {
        let test = try TestDatabase()
        try await test.store("C", [("s", .string), ("t", .string), ("n", .number), ("a", .array)], [row])
        return test
    }

    @Test(arguments: [true, false])
    func `an object does not grow beyond its limit, one field after the other`(_ returnsRow: Bool)
        async throws
    {
        let test = try await database()
        let half = FieldValue.string(String(repeating: "x", count: ObjectSize.limit / 2))
        try await test.write(update([("s", .set(half))], returnsRow: returnsRow))
        do {
            try await test.write(update([("t", .set(half))], returnsRow: returnsRow))
            Issue.record("nothing was refused")
        } catch StorageError.refused(let error) {
            #expect(error.code == .objectTooLarge)
        }
        #expect(try await test.find("C").map(\.fields) == [["s": half]])
        try await test.write(update([("s", .unset), ("t", .set(half))], returnsRow: returnsRow))
        #expect(try await test.find("C").map(\.fields) == [["t": half]])
    }

    @Test(arguments: [true, false])
    func `a field may be set again and again, however often`(_ returnsRow: Bool) async throws {
        let test = try await database()
        for number in 0..<12 {
            let text = FieldValue.string(String(repeating: "x", count: ObjectSize.limit / 4 + number))
            try await test.write(update([("s", .set(text))], returnsRow: returnsRow))
            #expect(try await test.find("C").map(\.fields) == [["s": text]])
        }
    }

    @Test(arguments: [true, false])
    func `explicit nulls come and go`(_ returnsRow: Bool) async throws {
        let test = try await database(TestDatabase.row("x", ["s": .null, "n": .number(1)]))
        func fields(_ changes: [(String, FieldChange)]) async throws -> [String: FieldValue] {
            try await test.write(update(changes, returnsRow: returnsRow))
            return try await test.find("C")[0].fields
        }
        #expect(try await fields([("n", .unset)]) == ["s": .null])
        #expect(
            try await fields([("s", .set(.string("a"))), ("t", .set(.null))]) == [
                "s": .string("a"), "t": .null,
            ]
        )
        #expect(try await fields([("s", .unset), ("t", .unset)]) == [:])
        #expect(
            try await fields([("s", .set(.string("a"))), ("s", .unset), ("n", .increment(2))]) == [
                "n": .number(2)
            ]
        )
        #expect(
            try await fields([("a", .set(.array([nil]))), ("n", .set(.null))]) == [
                "a": .array([nil]), "n": .null,
            ]
        )
    }

    @Test(arguments: [true, false])
    func `what does not match, or may not be written, is not changed`(_ returnsRow: Bool) async throws {
        let test = try await database(TestDatabase.row("x", acl: AccessControlList(writers: ["u"])))
        let change: [(String, FieldChange)] = [("s", .set(.string("a")))]
        do {
            try await test.write(update(change, returnsRow: returnsRow, access: .group(["*"])))
            Issue.record("nothing was refused")
        } catch StorageError.noMatch(let step) {
            #expect(step == 0)
        }
        #expect(try await test.find("C")[0].fields == [:])
        try await test.write(update(change, returnsRow: returnsRow, access: .group(["*", "u"])))
        #expect(try await test.find("C")[0].fields == ["s": .string("a")])
    }

    @Test func `many rows are changed at once, each by what it is`() async throws {
        let test = try TestDatabase()
        let rows = (0..<5).map {
            TestDatabase.row("r\($0)", $0 == 2 ? ["s": .null] : ["n": .number(Double($0))])
        }
        try await test.store("C", [("s", .string), ("n", .number)], rows)
        let all = RowUpdate(
            className: "C",
            predicate: .everything,
            changes: [("n", .set(.number(9)))],
            returnsRow: false
        )
        let outcome = try await test.storage.write(WritePlan(steps: [.update(all)]))
        #expect(outcome.counts == [5])
        #expect(try await test.ids("C", .equal("n", .number(9))).count == 5)
        #expect(try await test.ids("C", .exists("s", true)) == ["r2"])
    }
}
