import JSON
import ParseCore
import ParsePostgres
import ParseWire
import TestSupport
import Testing

/// Names and values that would be something else in SQL if they ever got into its text as they are.
@Suite(.enabled(if: PostgresServer.isInstalled)) struct InjectionTests {
    private static let sly = [
        "'", "\"", "\\", ";", "a'); DROP TABLE \"_User\";--", "a\"; DROP TABLE \"_User\";--", "--", "/*",
        "$1", "$meta",
        "a\nb", "%", "pg_class", "ctid", "_row", "index~0~1", "a\u{301}", "É", "x~2", "a.b,c",
    ]

    @Test(arguments: sly)
    func `names of classes and fields are only names`(_ name: String) async throws {
        let test = try await TestDatabase()
        let row = TestDatabase.row(name, [name: .string(name)])
        try await test.store(name, [(name, .string), (name + "2", .relation(name))], [row])
        #expect(try await test.find(name) == [row])
        guard !name.contains(".") else { return }
        #expect(try await test.ids(name, .equal(name, .string(name))) == [name])
        #expect(try await test.ids(name, .notEqual(name, .string(name))) == [])
        let order = [SortKey(field: name), SortKey(field: name + ".x", isDescending: true)]
        let query = RowQuery(className: name, predicate: .exists(name, true), order: order)
        #expect(try await test.storage.find(query) == [row])
        #expect(try await test.storage.distinct(query, path: name) == [.string(name)])
        try await test.change(.addIndex(className: name, name: name, IndexDefinition(keys: [name: 1])))
        try await test.relate(name, name + "2", name, [name])
        #expect(
            try await test.ids(name, .related(ownerClass: name, ownerID: name, field: name + "2")) == [name]
        )
        try await test.change(.removeField(className: name, field: name))
        #expect(try await test.find(name) == [TestDatabase.row(name)])
        #expect(test.storage.schema["_User"] != nil)
        try await test.write(.insert(className: "_User", TestDatabase.row("u")))
    }

    @Test(arguments: ["", "a\0b", "\0"])
    func `a name that SQL cannot have is refused`(_ name: String) async throws {
        let test = try await TestDatabase()
        await #expect(throws: StorageError.self) { try await test.change(.addClass(name)) }
        await #expect(throws: StorageError.self) {
            try await test.change(.addField(className: "C", field: name, type: .string))
        }
        #expect(test.storage.schema["C"] == nil)
        try await test.change(.addClass("C"))
        #expect(try await test.ids("C", .equal(name, .string("x"))) == [])
        let query = RowQuery(className: "C", predicate: .everything, order: [SortKey(field: name)])
        #expect(try await test.storage.find(query) == [])
    }

    @Test(arguments: sly)
    func `values are only values`(_ text: String) async throws {
        let test = try await TestDatabase()
        let row = TestDatabase.row(
            text,
            ["s": .string(text), "a": .array([.string(text)]), "o": .object([text: .string(text)])],
            acl: AccessControlList(readers: [text])
        )
        try await test.store(
            "C",
            [("s", .string), ("a", .array), ("o", .object)],
            [row, TestDatabase.row("other", ["s": .string("a"), "a": .array(["a"])])]
        )
        let predicates: [Predicate] = [
            .id(text), .equal("s", .string(text)), .among("s", [.string(text)]),
            .among("objectId", [.string(text)]),
            .equal("a", .string(text)), .among("a", [.string(text)]),
            .equal("o", .object([text: .string(text)])),
            .compare("s", .greaterOrEqual, .string(text)).and(.compare("s", .lessOrEqual, .string(text))),
            .containedBy("a", [.string(text)]).and(.exists("o", true)),
            .amongValues(
                "s",
                Subquery(className: "C", predicate: .id(text), access: .unrestricted),
                path: "a"
            ),
        ]
        for predicate in predicates {
            #expect(try await test.ids("C", predicate) == [text], "\(predicate)")
        }
        let mine = RowQuery(className: "C", predicate: .exists("o", true), access: .group([text]))
        #expect(try await test.storage.find(mine) == [row])
    }

    @Test(arguments: ["a\0b", "\0"])
    func `text that PostgreSQL cannot hold is refused when it is written and matches nothing`(_ text: String)
        async throws
    {
        let test = try await TestDatabase()
        let fields: [(String, FieldType)] = [("s", .string), ("a", .array), ("o", .object)]
        try await test.store("C", fields, [TestDatabase.row("x", ["s": .string("a"), "a": .array(["a"])])])
        let rows = [
            TestDatabase.row(text), TestDatabase.row("y", ["s": .string(text)]),
            TestDatabase.row("y", ["a": .array([[.string(text)]])]),
            TestDatabase.row("y", ["o": .object([text: 1])]),
            TestDatabase.row("y", acl: AccessControlList(readers: [text])),
        ]
        for row in rows {
            do {
                try await test.write(.insert(className: "C", row))
                Issue.record("\(row) was taken")
            } catch StorageError.refused(let error) {
                #expect(error.code == .incorrectType)
            }
        }
        let nothing: [Predicate] = [
            .id(text), .equal("s", .string(text)), .among("s", [.string(text)]), .equal("a", .string(text)),
            .among("a", [.string(text)]), .equal("o", .object([text: 1])), .equal("o.k", .string(text)),
            .usernameKey(text),
            .related(ownerClass: "C", ownerID: text, field: "r"),
        ]
        for predicate in nothing { #expect(try await test.ids("C", predicate) == [], "\(predicate)") }
        let isBehind = text != "\0"
        #expect(try await test.ids("C", .compare("s", .less, .string(text))) == (isBehind ? ["x"] : []))
        #expect(
            try await test.ids("C", .compare("s", .greaterOrEqual, .string(text))) == (isBehind ? [] : ["x"])
        )
        let access = RowQuery(className: "C", predicate: .everything, access: .group([text]))
        #expect(try await test.storage.count(access) == 1)
        #expect(try await test.storage.roles(ofUser: text) == [])
        #expect(try await test.storage.users(owning: [ProviderIdentity(provider: text, id: text)]) == [])
    }
}
