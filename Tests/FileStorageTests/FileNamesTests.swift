import FileStorage
import JSON
import ParseCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct FileNamesTests {
    private static func all(_ store: TestStore, _ limit: Int, app: String = "app") async throws -> [String] {
        var names: [String] = []
        while true {
            let page = try await store.files.names(ofApp: app, after: names.last, limit: limit)
            if page.isEmpty { return names }
            #expect(page.count <= limit)
            names += page
        }
    }

    private static let names = [
        "", ".", "..", "a", "A", "a+about", "_61", "e\u{301}", "\u{e9}", "a\0b", "a/b", "~", "+incoming",
        String(repeating: "x", count: 200), String(repeating: "X", count: 200),
        String(repeating: "é~", count: 100),
    ]

    @Test(arguments: [1, 3, 500]) func `all names of an app are told once, page by page`(limit: Int)
        async throws
    {
        let store = try TestStore()
        for name in Self.names { try await store.save(name, ["x"]) }
        try await store.save("described", ["x"], FileAttributes(metadata: ["a": 1]))
        try await store.save("foreign", ["x"], app: "other")
        let found = try await Self.all(store, limit)
        #expect(
            found.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
                == (Self.names + ["described"]).map { Array($0.utf8) }.sorted {
                    $0.lexicographicallyPrecedes($1)
                }
        )
        #expect(try await Self.all(store, limit).map { Array($0.utf8) } == found.map { Array($0.utf8) })
        #expect(try await Self.all(store, limit, app: "none").isEmpty)
    }

    @Test func `what others have put beside the files is no file`() async throws {
        let store = try TestStore()
        try await store.save("a", ["x"])
        let folder = try #require(store.paths.first).split(separator: "/").dropLast().joined(separator: "/")
        for name in ["B", "_6", "_zz", "_61", "x~y", "a+about"] {
            store.write("y", to: "\(store.root)/\(folder)/\(name)")
        }
        #expect(try await Self.all(store, 10) == ["a"])
    }

    @Test func `a long name goes with what was said`() async throws {
        let store = try TestStore()
        let name = String(repeating: "N", count: 150)
        try await store.save(name, ["x"])
        #expect(try await store.files.attributes(of: name, ofApp: "app") == nil)
        let said = FileAttributes(tags: ["t": "1"])
        try await store.save(name, ["y"], said)
        #expect(try await store.files.attributes(of: name, ofApp: "app") == said)
        #expect(try await Self.all(store, 10) == [name])
        #expect(try await store.files.delete(name, ofApp: "app"))
        #expect(store.paths.isEmpty)
        #expect(try await Self.all(store, 10).isEmpty)
    }
}
