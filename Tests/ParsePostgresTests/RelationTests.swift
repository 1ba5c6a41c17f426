import Cryptography
import JSON
import ParseCore
import ParsePostgres
import ParseWire
import TestSupport
import Testing

@Suite(.enabled(if: PostgresServer.isInstalled)) struct RelationTests {
    private static func pointer(_ id: String, _ className: String = "D") -> FieldValue {
        .pointer(className: className, objectID: id)
    }

    private func database() async throws -> TestDatabase {
        let test = try await TestDatabase()
        try await test.store(
            "D",
            [("n", .number)],
            ["x", "y", "z"].map { TestDatabase.row($0, ["n": .number(1)]) }
        )
        try await test.store("C", [("r", .relation("D"))], ["a", "b", "c"].map { TestDatabase.row($0) })
        try await test.relate("C", "r", "a", ["x", "y", "gone"])
        try await test.relate("C", "r", "b", ["y"])
        return test
    }

    @Test func `links are there once, and going twice is no error`() async throws {
        let test = try await database()
        try await test.relate("C", "r", "a", ["x", "x"])
        #expect(try await test.ids("D", .related(ownerClass: "C", ownerID: "a", field: "r")) == ["x", "y"])
        try await test.relate("C", "r", "a", ["x", "unknown"], remove: true)
        try await test.relate("C", "r", "a", ["x"], remove: true)
        #expect(try await test.ids("D", .related(ownerClass: "C", ownerID: "a", field: "r")) == ["y"])
        #expect(try await test.find("C").allSatisfy { $0.fields.isEmpty })
    }

    @Test(
        arguments: [
            (Predicate.equal("r", pointer("y")), ["a", "b"]), (.equal("r", pointer("x")), ["a"]),
            (.equal("r", pointer("y", "E")), []), (.equal("r", .null), []), (.equal("r", .string("y")), []),
            (.notEqual("r", pointer("y")), ["c"]), (.among("r", [pointer("x"), pointer("z"), .null]), ["a"]),
            (.notAmong("r", [pointer("x")]), ["b", "c"]), (.exists("r", true), []), (.exists("r", false), []),
            (.compare("r", .greater, pointer("a")), []), (.containedBy("r", [pointer("y")]), []),
            (
                .amongObjects("r", Subquery(className: "D", predicate: .id("x"), access: .unrestricted)),
                ["a"]
            ),
            (.amongObjects("r", Subquery(className: "C", predicate: .everything, access: .unrestricted)), []),
        ] as [(Predicate, [String])]
    )
    func `a relation is asked for what it leads to, and nothing else`(_ predicate: Predicate, _ ids: [String])
        async throws
    {
        let test = try await database()
        #expect(try await test.ids("C", predicate) == ids)
    }

    @Test(arguments: [
        Predicate.related(ownerClass: "C", ownerID: "c", field: "r"),
        .related(ownerClass: "C", ownerID: "a", field: "unknown"),
        .related(ownerClass: "Unknown", ownerID: "a", field: "r"),
        .related(ownerClass: "D", ownerID: "x", field: "n"),
    ])
    func `nothing is linked where there is no link`(_ predicate: Predicate) async throws {
        let test = try await database()
        #expect(try await test.ids("D", predicate) == [])
    }

    @Test func `a subquery finds only what its caller may read`() async throws {
        let test = try await database()
        let secret = TestDatabase.row("s", acl: AccessControlList(readers: ["u"]))
        try await test.write(.insert(className: "D", secret))
        try await test.relate("C", "r", "c", ["s"])
        for (group, ids) in [(["*"], ["a", "b"]), (["*", "u"], ["a", "b", "c"])] {
            let subquery = Subquery(className: "D", predicate: .everything, access: .group(group))
            #expect(try await test.ids("C", .amongObjects("r", subquery)) == ids)
        }
    }

    @Test func `all links are read in parts`() async throws {
        let test = try await database()
        let relation = RelationField(className: "C", field: "r")
        var found: [String] = []
        var last: RelationLink?
        while true {
            let part = try await test.storage.links(of: relation, after: last, limit: 2)
            guard let end = part.last else { break }
            #expect(part.count <= 2)
            found += part.map { $0.ownerID + $0.relatedID }
            last = end
        }
        #expect(found == ["agone", "ax", "ay", "by"])
        let none = RelationField(className: "D", field: "n")
        #expect(try await test.storage.links(of: none, after: nil, limit: 2) == [])
    }
}

@Suite(.enabled(if: PostgresServer.isInstalled)) struct RoleTests {
    private func role(_ test: TestDatabase, _ name: String, users: [String] = [], roles: [String] = [])
        async throws
    {
        let row = TestDatabase.row("id-\(name)", ["name": .string(name)])
        try await test.write(.insert(className: "_Role", row))
        try await test.relate("_Role", "users", row.objectID, users)
        try await test.relate("_Role", "roles", row.objectID, roles.map { "id-\($0)" })
    }

    @Test func `users of a child have the rights of its parents, however far up`() async throws {
        let test = try await TestDatabase()
        try await role(test, "Child", users: ["u"])
        try await role(test, "Parent", roles: ["Child"])
        try await role(test, "Grand", users: ["v"], roles: ["Parent"])
        try await role(test, "Other", users: ["v"])
        #expect(try await test.storage.roles(ofUser: "u") == ["Child", "Grand", "Parent"])
        #expect(try await test.storage.roles(ofUser: "v") == ["Grand", "Other"])
        #expect(try await test.storage.roles(ofUser: "w") == [])
    }

    @Test func `circles end, and what is found twice is there once`() async throws {
        let test = try await TestDatabase()
        try await role(test, "A", users: ["u"], roles: ["C", "A"])
        try await role(test, "B", users: ["u"], roles: ["A"])
        try await role(test, "C", roles: ["B", "A"])
        #expect(try await test.storage.roles(ofUser: "u") == ["A", "B", "C"])
    }

    @Test func `a role that is gone passes nothing on`() async throws {
        let test = try await TestDatabase()
        try await role(test, "Child", users: ["u"])
        try await role(test, "Middle", roles: ["Child"])
        try await role(test, "Top", roles: ["Middle"])
        try await test.write(.delete(RowDeletion(className: "_Role", predicate: .id("id-Middle"))))
        #expect(try await test.storage.roles(ofUser: "u") == ["Child"])
    }

    @Test func `a session is read with its user and the user's roles`() async throws {
        let test = try await TestDatabase()
        let hash: [UInt8] = Array(repeating: 7, count: 32)
        var session = TestDatabase.row("s", ["user": .pointer(className: "_User", objectID: "u")])
        session.hidden[HiddenField.tokenHash] = .binary(hash)
        try await role(test, "R", users: ["u"])
        try await test.write(
            .insert(className: "_User", TestDatabase.row("u", ["username": .string("n")])),
            .insert(className: "_Session", session)
        )
        let digest = try #require(Digest256(bytes: hash))
        let record = try await test.storage.session(tokenHash: digest)
        #expect(record?.session.objectID == "s" && record?.user?.objectID == "u" && record?.roles == ["R"])
        let unknown = try #require(Digest256(bytes: Array(repeating: 8, count: 32)))
        #expect(try await test.storage.session(tokenHash: unknown)?.session == nil)
        try await test.write(.delete(RowDeletion(className: "_User", predicate: .id("u"))))
        let orphan = try await test.storage.session(tokenHash: digest)
        #expect(orphan?.session.objectID == "s" && orphan?.user == nil && orphan?.roles == [])
    }
}
