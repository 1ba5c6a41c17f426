import JSON
import ParseCore
import ParsePostgres
import ParseWire
import StorageTestSupport
import TestSupport
import Testing

@Suite(.enabled(if: PostgresServer.isInstalled)) struct QueryTests {
    private func query(_ predicate: Predicate = .everything, _ change: (inout RowQuery) -> Void = { _ in })
        -> RowQuery
    {
        var query = RowQuery(className: "C", predicate: predicate)
        change(&query)
        return query
    }

    @Test func `only the fields that are asked for are read`() async throws {
        let test = try await TestDatabase()
        let list = AccessControlList(readers: ["u"])
        try await test.store(
            "C",
            [("a", .string), ("b", .geoPoint), ("c", .string)],
            [
                TestDatabase.row(
                    "x",
                    ["a": .string("1"), "b": .geoPoint(latitude: 1, longitude: 2), "c": .null],
                    acl: list
                ),
                TestDatabase.row("y", ["a": .null]),
            ]
        )
        let found = try await test.storage.find(query { $0.fields = ["a", "c", "unknown"] })
        #expect(
            found == [
                TestDatabase.row("x", ["a": .string("1"), "c": .null], acl: list),
                TestDatabase.row("y", ["a": .null]),
            ]
        )
        let bare = try await test.storage.find(query { $0.fields = [] })
        #expect(bare == [TestDatabase.row("x", acl: list), TestDatabase.row("y")])
    }

    @Test func `the nearest come first, also across the date line and at the poles`() async throws {
        var random = RandomSource(seed: RandomSource.seed(for: "Nearest"))
        let test = try await TestDatabase()
        let rows = (0..<300).map { number in
            let latitude = Double(random.next(18_001) - 9000) / 100
            let longitude = Double(random.next(36_001) - 18_000) / 100
            return TestDatabase.row("r\(number)", ["g": .geoPoint(latitude: latitude, longitude: longitude)])
        }
        try await test.store("C", [("g", .geoPoint)], rows)
        try await test.change(.addIndex(className: "C", name: "g", IndexDefinition(keys: ["g": "2dsphere"])))
        let centers = [(90, 0), (-90, 10), (0, 180), (0, -179.9), (85, 179), (-80, -170), (45, 45)]
        for (latitude, longitude) in centers {
            let center = GeoPoint(latitude: Double(latitude), longitude: longitude)
            for radians in [0.01, 0.1, 0.2, 0.5, 1.4, 1.7, 3.2] {
                let predicate = Predicate.near("g", center, maxRadians: radians)
                let nearest = RowQuery.Nearest(field: "g", center: center)
                let found = try await test.storage.find(
                    query(predicate) {
                        $0.nearest = nearest
                        $0.limit = 1000
                    }
                )
                let matcher = try PredicateMatcher(predicate, schema: test.storage.schema["C"])
                let near = try rows.filter { try matcher.matches($0) }
                #expect(found == RowOrder([], nearest: nearest).sorted(near))
            }
        }
    }

    @Test func `the best match of a text search is first`() async throws {
        let test = try await TestDatabase()
        try await test.store(
            "C",
            [("s", .string)],
            ["coffee and cream", "tea", "coffee", "Coffee Shopping now"].map {
                TestDatabase.row($0, ["s": .string($0)])
            }
        )
        let search = Predicate.search("s", TextSearch(term: "coffee"))
        let found = try await test.storage.find(query(search) { $0.order = [SortKey(field: SortKey.score)] })
        #expect(found.map(\.objectID) == ["coffee", "coffee and cream", "Coffee Shopping now"])
        let worst = try await test.storage.find(
            query(search) { $0.order = [SortKey(field: SortKey.score, isDescending: true)] }
        )
        #expect(worst.map(\.objectID).last == "coffee")
        let all = try await test.storage.find(query { $0.order = [SortKey(field: SortKey.score)] })
        #expect(all.map(\.objectID).first == "coffee and cream")
    }

    @Test func `the values of a field without repetition`() async throws {
        let test = try await TestDatabase()
        try await test.store(
            "C",
            [("n", .number), ("a", .array), ("o", .object), ("p", .pointer("D"))],
            [
                TestDatabase.row(
                    "1",
                    ["n": .number(1), "a": .array([1, nil, [1]]), "o": .object(["k": [1, 2]])]
                ),
                TestDatabase.row("2", ["n": .number(1), "a": .array(["1"]), "o": .object(["k": 2])]),
                TestDatabase.row("3", ["n": .null, "p": .pointer(className: "D", objectID: "d")]),
                TestDatabase.row("4", ["n": .number(2)], acl: AccessControlList()),
            ]
        )
        func distinct(_ path: String, _ access: RowAccess = .unrestricted) async throws -> [JSONValue] {
            try await test.storage.distinct(query { $0.access = access }, path: path)
        }
        #expect(try await distinct("n") == [1, 2])
        #expect(try await distinct("n", .group(["*"])) == [1])
        #expect(try await distinct("a") == [1, [1], "1"])
        #expect(try await distinct("o.k") == [1, 2])
        #expect(try await distinct("p") == [FieldValue.pointerJSON("D", "d")])
        #expect(try await distinct("unknown") == [])
        #expect(try await distinct("n.k") == [])
    }

    @Test func `a regular expression that is none is the client's fault`() async throws {
        let test = try await TestDatabase()
        try await test.store(
            "C",
            [("s", .string)],
            [TestDatabase.row("x", ["s": .string(String(repeating: "a", count: 5000))])]
        )
        for pattern in ["(", "(a)\\1", "(?>a)", "a{1,300}"] {
            do {
                _ = try await test.find("C", .matches("s", TextPattern(pattern)))
                Issue.record("\(pattern) was taken")
            } catch StorageError.refused {}
        }
        // A refusal leaves no trace in the reader's connection.
        #expect(try await test.ids("C", .matches("s", TextPattern("^a+$"))) == ["x"])
    }

    @Test(arguments: [
        ("abc", ["abc", "abcd", "abc\u{10FFFF}x"]), ("ab", ["ab", "abc", "abcd", "abc\u{10FFFF}x", "abd"]),
        ("a", ["ab", "abc", "abcd", "abc\u{10FFFF}x", "abd"]), ("abc\u{10FFFF}", ["abc\u{10FFFF}x"]),
        ("%", ["%_"]), ("B", []), ("ä", ["äb"]),
    ])
    func `texts that begin with a text`(_ prefix: String, _ expected: [String]) async throws {
        let test = try await TestDatabase()
        let texts = ["ab", "abc", "abcd", "abc\u{10FFFF}x", "b", "äb", "%_", "", "abd"]
        try await test.store("C", [("s", .string)], texts.map { TestDatabase.row($0, ["s": .string($0)]) })
        try await test.change(.addIndex(className: "C", name: "s", IndexDefinition(keys: ["s": 1])))
        let predicate = Predicate.matches("s", TextPattern("^\\Q\(prefix)\\E"))
        #expect(try await test.ids("C", predicate).sorted() == expected.sorted())
    }

    @Test func `equality with whole arrays takes arrays of arrays apart`() async throws {
        let test = try await TestDatabase()
        try await test.store(
            "C",
            [("a", .array), ("n", .number)],
            [
                TestDatabase.row("x", ["a": .array([[1, 2], 3])]),
                TestDatabase.row("y", ["a": .array([1, 2])]),
                TestDatabase.row("z", ["n": .number(3)]),
            ]
        )
        #expect(try await test.ids("C", .equal("a", .array([1, 2]))) == ["x", "y"])
        let subquery = Subquery(className: "C", predicate: .id("x"), access: .unrestricted)
        // The elements of x are the array [1,2], which y is, and 3.
        #expect(try await test.ids("C", .amongValues("a", subquery, path: "a")) == ["x", "y"])
        #expect(try await test.ids("C", .amongValues("n", subquery, path: "a")) == ["z"])
    }

    @Test func `a query that is too much for the database is the client's fault`() async throws {
        let test = try await TestDatabase()
        try await test.store("C", [("p", .pointer("C"))], [TestDatabase.row("x")])
        let deep = (0..<60).reduce(Predicate.id("x")) { inner, _ in
            .none([.amongObjects("p", Subquery(className: "C", predicate: inner, access: .unrestricted))])
        }
        do {
            _ = try await test.find("C", deep)
        } catch StorageError.refused(let error) {
            #expect(error.code == .invalidQuery)
        }
    }
}
