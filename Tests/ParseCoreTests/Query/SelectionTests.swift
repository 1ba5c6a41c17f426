import JSON
import ParseCore
import ParseWire
import Testing

@Suite struct SelectionTests {
    @Test(
        arguments: [
            ([:], []), (["include": "a"], ["a"]), (["include": "a.b.c"], ["a", "a.b", "a.b.c"]),
            (["include": "a.b, a.c ,a"], ["a", "a.b", "a.c"]), (["include": ["a", "b"]], ["a", "b"]),
            (["include": "*"], []), (["include": "*,a.b"], ["a", "a.b"]),
            (["include": ",,a..b."], ["a", "a.b"]),
            (["keys": "a"], []), (["keys": "a.b"], ["a"]), (["keys": "a.b.c,d"], ["a", "a.b"]),
            (["excludeKeys": "a.b"], ["a"]), (["keys": "a.b", "include": "c"], ["a", "c"]),
            (["include": 5], []),
        ] as [(JSONObject, [String])]
    )
    func `pointers on the way are followed too`(_ json: JSONObject, _ paths: [String]) throws {
        #expect(Self.paths(try Selection(json)) == paths)
    }

    private static func paths(_ selection: Selection, below path: String = "") -> [String] {
        selection.includes.sorted { $0.key < $1.key }.flatMap { name, inner in
            [path + name] + paths(inner, below: path + name + ".")
        }
    }

    @Test(
        arguments: [
            ([:], "", nil, []), (["keys": "a,b.c"], "", ["a", "b"], []), (["keys": "a,b.c"], "b", ["c"], []),
            (["keys": "a,b.c"], "a", nil, []), (["keys": "b.c.d"], "b", ["c"], []),
            (["keys": "b.c.d"], "b.c", ["d"], []),
            (["keys": "b,b.c"], "b", ["c"], []), (["excludeKeys": "a,b.c"], "", nil, ["a"]),
            (["excludeKeys": "a,b.c"], "b", nil, ["c"]), (["excludeKeys": "b.c.d"], "b", nil, []),
            (["excludeKeys": "b.c.d"], "b.c", nil, ["d"]),
            (["keys": "a,b.c", "excludeKeys": "b.d"], "b", ["c"], ["d"]), (["keys": "$score"], "", [], []),
            (["keys": "a, $score"], "", ["a"], []),
        ] as [(JSONObject, String, Set<String>?, Set<String>)]
    )
    func `each level has its own keys`(
        _ json: JSONObject,
        _ path: String,
        _ keys: Set<String>?,
        _ excluded: Set<String>
    ) throws {
        var selection = try Selection(json)
        for name in path.split(separator: ".") {
            selection = selection.includes[String(name)] ?? Selection()
        }
        #expect(selection.projection == Projection(keys: keys, excluded: excluded))
    }

    @Test func `everything and the score can be asked for`() throws {
        #expect(try Selection(["include": "*"]).includesAll)
        #expect(try Selection(["includeAll": true]).includesAll)
        #expect(try !Selection(["includeAll": false, "include": "a"]).includesAll)
        #expect(try Selection(["keys": "$score"]).wantsScore)
        #expect(try !Selection(["keys": "score"]).wantsScore)
    }

    @Test func `there are so many names and not more`() throws {
        func names(_ count: Int) -> JSONValue { .string((0..<count).map { "f\($0)" }.joined(separator: ",")) }
        #expect(try Selection(["include": names(200), "keys": names(5000)]).includes.count == 200)
        expectRefusalNow(.invalidQuery, "include names more than 200 paths.") {
            _ = try Selection(["include": names(201)])
        }
        expectRefusalNow(.invalidQuery, "keys and excludeKeys name more than 5000 fields.") {
            _ = try Selection(["keys": names(5001)])
        }
        expectRefusalNow(.invalidQuery, "A path of a query has at most 16 parts.") {
            _ = try Selection(["include": .string(Array(repeating: "a", count: 17).joined(separator: "."))])
        }
    }
}
