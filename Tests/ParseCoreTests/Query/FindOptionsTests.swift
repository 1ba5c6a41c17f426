import JSON
import ParseCore
import ParseWire
import Testing

@Suite struct FindOptionsTests {
    private func options(_ json: JSONObject, by principal: Principal = .nobody) throws -> FindOptions {
        try FindOptions(json, by: principal)
    }

    @Test func `the defaults are a hundred rows from the first on`() throws {
        let query = try options([:]).query(of: "C", nil, access: .unrestricted)
        #expect(query.limit == 100)
        #expect(query.skip == 0)
        #expect(query.order.isEmpty)
        #expect(query.predicate == .everything)
    }

    @Test(arguments: [
        ("a", ["a"], [false]), ("-a", ["a"], [true]), ("a,-b", ["a", "b"], [false, true]),
        (" a , -b", ["a", "b"], [false, true]),
        ("_created_at", ["createdAt"], [false]), ("-_updated_at", ["updatedAt"], [true]),
        ("a.b", ["a.b"], [false]), ("$score,-n", ["$score", "n"], [false, true]),
        ("", [], []), ("a,a,-a", ["a"], [false]),
    ])
    func `an order is a list of names`(_ text: String, _ fields: [String], _ descending: [Bool]) throws {
        let order = try options(["order": .string(text)]).order
        #expect(order.map(\.field) == fields)
        #expect(order.map(\.isDescending) == descending)
    }

    @Test(arguments: ["_hashed_password", "a;b", "$x", "--a", "\"a"])
    func `an order by what cannot be a field is refused`(_ name: String) {
        expectRefusalNow(
            .invalidKeyName,
            "Invalid field name: \(name.hasPrefix("-") ? String(name.dropFirst()) : name)."
        ) {
            _ = try options(["order": .string(name)])
        }
    }

    @Test(
        arguments: [
            (["limit": 0], 0, 0), (["limit": "7"], 7, 0), (["limit": 3, "skip": 2], 3, 2),
            (["limit": nil], 100, 0),
            (["limit": 10_000], 10_000, 0), (["limit": 10_001], 10_000, 0),
            (["limit": 9_007_199_254_740_991], 10_000, 0),
        ] as [(JSONObject, Int, Int)]
    )
    func `limit and skip are whole numbers`(_ json: JSONObject, _ limit: Int, _ skip: Int) throws {
        let query = try options(json).query(of: "C", nil, access: .unrestricted)
        #expect(query.limit == limit)
        #expect(query.skip == skip)
    }

    @Test(arguments: [-1, 1.5, "x", 1e300, true, [1], 9_007_199_254_740_992, "nan", "inf"] as [JSONValue])
    func `other values of limit and skip are refused`(_ value: JSONValue) {
        for name in ["limit", "skip"] {
            expectRefusalNow(.invalidQuery, "Invalid value for \(name): a whole number from 0 on is needed.")
            {
                _ = try options([name: value])
            }
        }
    }

    @Test(arguments: ["{", "[]", "1", "text"] as [JSONValue] + [1, [1], true])
    func `a where that is no JSON object is refused with 107`(_ value: JSONValue) {
        expectRefusalNow(.invalidJSON, "where parameter is not valid JSON") {
            _ = try options(["where": value])
        }
    }

    @Test func `where comes as JSON or as its text`() throws {
        for value: JSONValue in [#"{"objectId":"x"}"#, ["objectId": "x"]] {
            let options = try options(["where": value])
            #expect(options.whereID == "x")
            #expect(options.whereFields == ["objectId"])
        }
        #expect(try options(["where": ["objectId": ["$ne": "x"]]]).whereID == nil)
        #expect(try options(["where": ["$or": [["objectId": "x"]]]]).whereID == nil)
    }

    @Test(
        arguments: [
            ("foo", 1, "Invalid parameter for query: foo"),
            ("_SessionToken", "r:x", "Invalid parameter for query: _SessionToken"),
            ("readPreference", "NOWHERE", "Not supported read preference."),
            ("subqueryReadPreference", 1, "Not supported read preference."),
            ("explain", "queryPlanner", "Using the explain query parameter requires the master key"),
            ("explain", true, "Using the explain query parameter requires the master key"),
        ] as [(String, JSONValue, String)]
    )
    func `a parameter that is unknown or not for clients is refused with 102`(
        _ name: String,
        _ value: JSONValue,
        _ message: String
    ) {
        expectRefusalNow(.invalidQuery, message) { _ = try options([name: value]) }
    }

    @Test func `limits of the app hold for a find`() throws {
        var limited = AppOptions()
        limited.defaultLimit = 7
        limited.maxLimit = 50
        func limit(_ json: JSONObject, _ principal: Principal, _ options: AppOptions) throws -> Int {
            try FindOptions(json, by: principal, options: options).query(of: "C", nil, access: .unrestricted)
                .limit
        }
        #expect(try limit([:], .nobody, limited) == 7)
        #expect(try limit(["limit": 51], .nobody, limited) == 50)
        #expect(try limit(["limit": 51], .master, limited) == 50)
        #expect(try limit(["limit": 20_000], .master, AppOptions()) == 20_000)
        limited.maxLimit = 3
        #expect(try limit([:], .nobody, limited) == 3)
    }

    @Test func `explain is for the master and takes certain words`() throws {
        for value: JSONValue in [
            true, "queryPlanner", "queryPlannerExtended", "executionStats", "allPlansExecution",
        ] {
            #expect(try options(["explain": value], by: .master).isExplained)
        }
        for value: JSONValue in ["nothing", 1, [:]] {
            expectRefusalNow(.invalidQuery, "Invalid value for explain") {
                _ = try options(["explain": value], by: .master)
            }
        }
        #expect(try !options(["explain": false]).isExplained)
        #expect(try options(["explain": true, "limit": 0], by: .master).isFound)
        #expect(try !options(["limit": 0]).isFound)
    }

    @Test func `a redirection names a field`() throws {
        #expect(try options(["redirectClassNameForKey": "likes"]).redirectKey == "likes")
        #expect(try options(["redirectClassNameForKey": ""]).redirectKey == nil)
        expectRefusalNow(.invalidKeyName, "Invalid field name: a.b.") {
            _ = try options(["redirectClassNameForKey": "a.b"])
        }
    }

    @Test func `other parameters of databases and their servers are taken`() {
        #expect(throws: Never.self) {
            try options(["readPreference": "nearest", "explain": false, "hint": "x", "comment": "y"])
        }
    }

    @Test func `a field that the class does not have sorts nothing`() throws {
        let schema = ClassSchema(className: "C", fields: SystemClasses.commonFields + [("o", .object)])
        let query = try options(["order": "x,-o.y.z,createdAt,$score,x.y"]).query(
            of: "C",
            schema,
            access: .unrestricted
        )
        #expect(query.order.map(\.field) == ["o.y.z", "createdAt", "$score"])
    }

    @Test func `an order may have 64 fields and not more`() throws {
        func order(_ count: Int) -> JSONObject {
            ["order": .string((0..<count).map { "f\($0)" }.joined(separator: ","))]
        }
        #expect(try options(order(64)).order.count == 64)
        expectRefusalNow(.invalidQuery, "The order has more than 64 fields.") { _ = try options(order(65)) }
    }

    @Test func `a where for one id alone is a get`() throws {
        #expect(try options(["where": ["objectId": "x"]]).isGet)
        #expect(try !options(["where": ["objectId": "x", "a": 1]]).isGet)
        #expect(try !options(["where": ["objectId": ["$in": ["x"]]]]).isGet)
    }

    @Test func `near queries have a place to sort by`() throws {
        let place: JSONValue = ["__type": "GeoPoint", "latitude": 1, "longitude": 2]
        let query = try options(["where": ["g": ["$nearSphere": place]]]).query(
            of: "C",
            nil,
            access: .unrestricted
        )
        #expect(query.nearest?.field == "g")
    }

    @Test func `relative times and subqueries need what they count from and whom they ask`() async throws {
        struct Resolver: SubqueryResolver {
            func subquery(for request: SubqueryRequest) async throws -> Subquery {
                Subquery(className: request.className, predicate: .everything, access: .unrestricted)
            }
        }
        let schema = ClassSchema(className: "C", fields: [("d", .date), ("p", .pointer("D"))])
        let options = try options([
            "where": [
                "d": ["$gt": ["$relativeTime": "in 1 sec"]],
                "p": ["$inQuery": ["className": "D", "where": [:]]],
            ]
        ])
        let query = try await options.query(
            of: "C",
            schema,
            access: .unrestricted,
            now: Timestamp(milliseconds: 0),
            subqueries: Resolver()
        )
        #expect(
            query.predicate
                == .all([
                    .compare("d", .greater, .date(Timestamp(milliseconds: 1000))),
                    .amongObjects(
                        "p",
                        Subquery(className: "D", predicate: .everything, access: .unrestricted)
                    ),
                ])
        )
    }

    @Test func `a result has its score and class when they were asked for`() throws {
        let search: JSONValue = ["s": ["$text": ["$search": ["$term": "coffee"]]]]
        let row = StoredRow(
            objectID: "r",
            createdAt: Timestamp(milliseconds: 0),
            updatedAt: Timestamp(milliseconds: 0),
            fields: ["s": .string("coffee and cream")]
        )
        func answered(_ json: JSONObject) throws -> JSONObject {
            let options = try options(json)
            let query = try options.query(of: "C", nil, access: .unrestricted)
            return try options.answered(query)(row, ["objectId": "r"])
        }
        #expect(try answered(["where": search]) == ["objectId": "r"])
        #expect(try answered(["where": search, "keys": "$score"]) == ["objectId": "r", "score": 0.75])
        #expect(try answered(["redirectClassNameForKey": "p"]) == ["objectId": "r", "className": "C"])
    }

    @Test func `a projection keeps the common fields`() throws {
        let object: JSONObject = [
            "objectId": "x", "createdAt": "c", "updatedAt": "u", "a": 1, "b": 2, "ACL": [:],
        ]
        func shown(_ json: JSONObject) throws -> [String] {
            ObjectView.projected(object, try Selection(json).projection).keys
        }
        #expect(try shown([:]) == ["objectId", "createdAt", "updatedAt", "a", "b", "ACL"])
        #expect(try shown(["excludeKeys": "a.x"]) == object.keys)
        #expect(try shown(["keys": ""]) == object.keys)
        #expect(try shown(["keys": "a.x"]) == ["objectId", "createdAt", "updatedAt", "a", "ACL"])
        #expect(try shown(["keys": ["b"]]) == ["objectId", "createdAt", "updatedAt", "b", "ACL"])
        #expect(
            try shown(["excludeKeys": "a, objectId"]) == ["objectId", "createdAt", "updatedAt", "b", "ACL"]
        )
        #expect(
            try shown(["keys": "a,b", "excludeKeys": "b"]) == [
                "objectId", "createdAt", "updatedAt", "a", "ACL",
            ]
        )
    }

    @Test func `reading one object takes fewer parameters`() {
        #expect(throws: Never.self) { try GetOptions.selection(["keys": "a", "include": "b"]) }
        expectRefusalNow(.invalidQuery, "Improper encode of parameter") {
            _ = try GetOptions.selection(["where": [:]])
        }
    }
}
