import JSON
import ParseCore
import ParseWire
import TestSupport
import Testing

@Suite struct AggregateTests {
    private static let fields: [(String, FieldType)] = [
        ("name", .string), ("score", .number), ("tags", .array), ("at", .date), ("p", .pointer("D")),
        ("o", .object),
    ]

    /// 2024-01-01T00:00:00Z, a Monday.
    private static let newYear = Timestamp(milliseconds: 1_704_067_200_000)

    private static func row(_ id: String, _ fields: [String: FieldValue]) -> StoredRow {
        StoredRow(
            objectID: id,
            createdAt: newYear,
            updatedAt: newYear.adding(seconds: 86_400),
            fields: fields
        )
    }

    private static let rows = [
        row(
            "a1",
            ["name": .string("foo"), "score": .number(10), "tags": .array(["x", "y"]), "at": .date(newYear)]
        ),
        row("a2", ["name": .string("foo"), "score": .number(20), "tags": .array([]), "p": pointer("d1")]),
        row(
            "a3",
            ["name": .string("bar"), "score": .number(10), "p": pointer("d2"), "o": .object(["k": ["l": 1]])]
        ),
        row("a4", ["name": .string("dpl"), "score": .null, "p": pointer("d1")]),
    ]

    private static func pointer(_ id: String) -> FieldValue {
        .pointer(className: "D", objectID: id)
    }

    private func testApp(_ rows: [StoredRow] = Self.rows) async throws -> TestApp {
        let test = try TestApp()
        var changes: [SchemaChange] = [.addClass("C"), .addClass("D")]
        changes += Self.fields.map { .addField(className: "C", field: $0, type: $1) }
        changes.append(.addField(className: "D", field: "value", type: .number))
        let others = [
            Self.row("d1", ["value": .number(1)]), Self.row("d2", ["value": .number(2)]),
        ]
        for start in stride(from: 0, to: max(1, rows.count), by: 200) {
            let part = rows[min(start, rows.count)..<min(start + 200, rows.count)]
            var steps = part.map { WriteStep.insert(className: "C", $0) }
            if start == 0 { steps += others.map { .insert(className: "D", $0) } }
            _ = try await test.storage.write(
                WritePlan(schemaChanges: start == 0 ? changes : [], steps: steps)
            )
        }
        return test
    }

    private func run(_ pipeline: JSONValue, _ test: TestApp, _ className: String = "C") async throws
        -> [JSONValue]
    {
        let reply = try await Aggregate(className: className, parameters: ["pipeline": pipeline]).run(
            in: test.context(.master)
        )
        return try #require(reply["results"]?.arrayValue)
    }

    struct Pipeline: Sendable, CustomTestStringConvertible {
        let stages: JSONValue
        let results: [JSONValue]

        init(_ stages: JSONValue, _ results: [JSONValue]) {
            self.stages = stages
            self.results = results
        }

        var testDescription: String { stages.description }
    }

    static let day: JSONValue = ["__type": "Date", "iso": "2024-01-01T00:00:00.000Z"]

    static let pipelines: [Pipeline] = [
        Pipeline(
            [["$match": ["name": "bar"]], ["$project": ["name": 1]]],
            [["name": "bar", "objectId": "a3"]]
        ),
        Pipeline(
            [["$match": ["score": ["$gt": 10]]]],
            [
                [
                    "createdAt": "2024-01-01T00:00:00.000Z", "updatedAt": "2024-01-02T00:00:00.000Z",
                    "name": "foo",
                    "score": 20, "tags": [], "p": ["__type": "Pointer", "className": "D", "objectId": "d1"],
                    "objectId": "a2",
                ]
            ]
        ),
        Pipeline(
            [["$group": ["_id": "$name"]], ["$sort": ["_id": 1]]],
            [["objectId": "bar"], ["objectId": "dpl"], ["objectId": "foo"]]
        ),
        Pipeline(
            [
                [
                    "$group": [
                        "_id": nil, "total": ["$sum": "$score"], "n": ["$sum": 1], "avg": ["$avg": "$score"],
                    ]
                ]
            ],
            [["total": 40, "n": 4, "avg": .number(40.0 / 3), "objectId": nil]]
        ),
        Pipeline(
            [
                [
                    "$group": [
                        "_id": [:], "low": ["$min": "$score"], "high": ["$max": "$score"],
                        "n": ["$count": [:]],
                    ]
                ]
            ],
            [["low": 10, "high": 20, "n": 4, "objectId": nil]]
        ),
        Pipeline(
            [["$group": ["_id": "$score"]], ["$sort": ["objectId": -1]]],
            [["objectId": 20], ["objectId": 10], ["objectId": nil]]
        ),
        Pipeline(
            [
                ["$match": ["p": ["$exists": true]]], ["$group": ["_id": "$p", "n": ["$sum": 1]]],
                ["$sort": ["n": 1]],
            ],
            [["n": 1, "objectId": "d2"], ["n": 2, "objectId": "d1"]]
        ),
        Pipeline(
            [["$group": ["_id": ["n": "$name", "s": "$score"], "ids": ["$push": "$_id"]]], ["$limit": 1]],
            [["ids": ["a1"], "objectId": ["n": "foo", "s": 10]]]
        ),
        Pipeline(
            [
                ["$sort": ["name": 1, "score": -1]],
                [
                    "$group": [
                        "_id": "$name", "first": ["$first": "$score"], "last": ["$last": "$objectId"],
                        "set": ["$addToSet": "$score"],
                    ]
                ],
            ],
            [
                ["first": 10, "last": "a3", "set": [10], "objectId": "bar"],
                ["first": nil, "last": "a4", "set": [nil], "objectId": "dpl"],
                ["first": 20, "last": "a1", "set": [20, 10], "objectId": "foo"],
            ]
        ),
        Pipeline(
            [
                [
                    "$group": [
                        "_id": ["y": ["$year": "$createdAt"], "d": ["$dayOfMonth": "$_updated_at"]],
                        "n": ["$sum": 1],
                    ]
                ]
            ],
            [["n": 4, "objectId": ["y": 2024, "d": 2]]]
        ),
        Pipeline(
            [["$group": ["_id": "$at", "n": ["$sum": 1]]], ["$sort": ["n": 1]]],
            [["n": 1, "objectId": day], ["n": 3, "objectId": nil]]
        ),
        Pipeline(
            [["$sort": ["score": 1, "objectId": -1]], ["$project": ["_id": 1]]],
            [["objectId": "a4"], ["objectId": "a3"], ["objectId": "a1"], ["objectId": "a2"]]
        ),
        Pipeline(
            [["$skip": 1], ["$limit": 2], ["$project": ["_id": 0, "name": 1]]],
            [["name": "foo"], ["name": "bar"]]
        ),
        Pipeline([["$match": ["name": "nobody"]], ["$count": "n"]], []),
        Pipeline([["$match": ["name": "foo"]], ["$count": "n"]], [["n": 2]]),
        Pipeline(
            [["$unwind": "$tags"], ["$project": ["tags": 1]]],
            [["tags": "x", "objectId": "a1"], ["tags": "y", "objectId": "a1"]]
        ),
        Pipeline(
            [
                ["$match": ["objectId": ["$in": ["a1", "a2", "a3"]]]],
                ["$unwind": ["path": "$tags", "includeArrayIndex": "i", "preserveNullAndEmptyArrays": true]],
                ["$project": ["_id": 0, "tags": 1, "i": 1]],
            ],
            [["tags": "x", "i": 0], ["tags": "y", "i": 1], ["i": nil], ["i": nil]]
        ),
        Pipeline(
            [["$match": ["p": "d2"]], ["$project": ["_id": 0, "p": 1]]],
            [["p": ["__type": "Pointer", "className": "D", "objectId": "d2"]]]
        ),
        Pipeline([["$match": ["_p_p": ["$eq": "d2"]]], ["$project": ["_id": 1]]], [["objectId": "a3"]]),
        Pipeline(
            [["$match": ["createdAt": ["$gte": ["$date": "2024-01-01T00:00:00Z"]]]], ["$count": "n"]],
            [["n": 4]]
        ),
        Pipeline([["$match": ["_created_at": ["$gt": "2024-01-01T00:00:00Z"]]], ["$count": "n"]], []),
        Pipeline([["$match": ["$or": [["name": "bar"], ["score": 20]]]], ["$count": "n"]], [["n": 2]]),
        Pipeline(
            [["$skip": 0], ["$match": ["o.k.l": 1]], ["$project": ["o.k": 1, "_id": 0]]],
            [["o": ["k": ["l": 1]]]]
        ),
        Pipeline(
            [
                ["$match": ["name": "bar"]],
                ["$project": ["_id": 0, "o": 0, "createdAt": 0, "updatedAt": 0, "p": 0]],
            ],
            [["name": "bar", "score": 10]]
        ),
        Pipeline(
            [
                ["$match": ["name": "bar"]],
                ["$addFields": ["o.k.m": ["$add": ["$score", 1]], "double": ["$multiply": [2, "$score"]]]],
                ["$project": ["_id": 0, "o": 1, "double": 1]],
            ],
            [["o": ["k": ["l": 1, "m": 11]], "double": 20]]
        ),
        Pipeline(
            [
                ["$project": ["p": ["$substr": ["$_p_p", 2, -1]]]],
                ["$lookup": ["from": "D", "localField": "p", "foreignField": "_id", "as": "p"]],
                ["$unwind": ["path": "$p"]], ["$match": ["p.value": 2]], ["$project": ["p.value": 1]],
            ],
            [["p": ["value": 2], "objectId": "a3"]]
        ),
        Pipeline(
            [
                ["$lookup": ["from": "D", "localField": "_p_p", "foreignField": "_id", "as": "q"]],
                ["$match": ["q.value": 1]], ["$project": ["q._id": 1]],
            ],
            [["q": [["_id": "d1"]], "objectId": "a2"], ["q": [["_id": "d1"]], "objectId": "a4"]]
        ),
        Pipeline(
            [["$match": ["$expr": ["$gt": ["$score", 15]]]], ["$project": ["_id": 1]]],
            [["objectId": "a2"]]
        ),
        Pipeline(
            [["$group": ["_id": "$name", "n": ["$sum": 1]]], ["$match": ["n": ["$gt": 1]]]],
            [["n": 2, "objectId": "foo"]]
        ),
        Pipeline(
            [
                ["$match": ["objectId": "a1"]], ["$group": ["_id": "$name", "docs": ["$push": "$$ROOT"]]],
                ["$project": ["docs.score": 1]],
            ],
            [["docs": [["score": 10]], "objectId": "foo"]]
        ),
    ]

    @Test(arguments: pipelines)
    func `a pipeline gives these results`(_ pipeline: Pipeline) async throws {
        #expect(try await run(pipeline.stages, testApp()) == pipeline.results)
    }

    @Test(
        arguments: [
            (["$concat": ["$name", "-", "x"]], "bar-x"), (["$concat": ["$name", "$nothing"]], nil),
            (["$concat": ["$_p_p", ""]], "D$d2"), (["$substr": ["$name", 1, 1]], "a"),
            (["$substr": ["$name", 1, 99]], "ar"), (["$substr": ["$name", 9, 1]], ""),
            (["$substr": ["$createdAt", 0, 10]], "2024-01-01"), (["$toUpper": "$name"], "BAR"),
            (["$cond": [["$gt": ["$score", 5]], "big", "small"]], "big"),
            (["$cond": ["if": ["$lt": ["$score", 5]], "then": "small", "else": "big"]], "big"),
            (["$ifNull": ["$nothing", "none"]], "none"), (["$ifNull": ["$score", "none"]], 10),
            (["$eq": ["$name", "bar"]], true), (["$ne": ["$score", 10]], false), (["$lte": [1, 1]], true),
            (["$gte": ["$nothing", nil]], false), (["$eq": ["$nothing", nil]], false), (["$cmp": [2, 1]], 1),
            (["$lt": [99, "a"]], true), (["$and": [true, 1, "x"]], true), (["$or": [false, 0, nil]], false),
            (["$not": ["$nothing"]], true), (["$sum": ["$score", 1, "x"]], 11), (["$avg": [1, 2]], 1.5),
            (["$max": [[1, 5, 2]]], 5), (["$min": ["$score", 3]], 3), (["$subtract": ["$score", 3]], 7),
            (["$divide": ["$score", 4]], 2.5), (["$mod": ["$score", 3]], 1),
            (["$multiply": ["$score", nil]], nil),
            (["$subtract": ["$updatedAt", "$createdAt"]], 86_400_000),
            (["$add": ["$createdAt", 1000]], ["__type": "Date", "iso": "2024-01-01T00:00:01.000Z"]),
            (["$size": [[1, 2]]], 2), (["$arrayElemAt": [[1, 2], -1]], 2), (["$literal": "$name"], "$name"),
            (["a": "$name", "b": [1, "$score"]], ["a": "bar", "b": [1, 10]]),
            (["$year": "$createdAt"], 2024), (["$month": ["date": "$createdAt"]], 1),
            (["$hour": "$nothing"], nil),
        ] as [(JSONValue, JSONValue)]
    )
    func `an expression has this value`(_ expression: JSONValue, _ expected: JSONValue) async throws {
        let stages: JSONValue = [
            ["$match": ["name": "bar"]], ["$addFields": ["v": expression]], ["$project": ["_id": 0, "v": 1]],
        ]
        #expect(try await run(stages, testApp()) == [["v": expected]])
    }

    @Test(
        arguments: [
            ("2024-01-01T00:00:00.000Z", [2024, 1, 1, 1, 2, 1, 0, 1, 2024]),
            ("2021-01-03T23:59:58.007Z", [2021, 1, 3, 3, 1, 7, 1, 53, 2020]),
            ("2020-12-31T12:30:00.000Z", [2020, 12, 31, 366, 5, 4, 52, 53, 2020]),
            ("2019-12-30T00:00:00.000Z", [2019, 12, 30, 364, 2, 1, 52, 1, 2020]),
            ("2000-02-29T00:00:00.000Z", [2000, 2, 29, 60, 3, 2, 9, 9, 2000]),
            ("1969-12-31T23:59:59.999Z", [1969, 12, 31, 365, 4, 3, 52, 1, 1970]),
            ("1900-03-01T00:00:00.000Z", [1900, 3, 1, 60, 5, 4, 8, 9, 1900]),
        ]
    )
    func `dates have these parts in UTC`(_ iso: String, _ parts: [Double]) async throws {
        let date: JSONValue = ["$literal": ["__type": "Date", "iso": .string(iso)]]
        let names = [
            "$year", "$month", "$dayOfMonth", "$dayOfYear", "$dayOfWeek", "$isoDayOfWeek", "$week",
            "$isoWeek",
            "$isoWeekYear",
        ]
        let stages: JSONValue = [
            ["$limit": 1], ["$addFields": ["v": .array(names.map { .object([$0: date]) })]],
            ["$project": ["_id": 0, "v": 1]],
        ]
        #expect(try await run(stages, testApp()) == [["v": .array(parts.map(JSONValue.number))]])
    }

    @Test(
        arguments: [
            ([["match": [:]]], 102, "Invalid aggregate stage 'match'."),
            (
                [["$match": [:], "$limit": 1]], 102,
                "Pipeline stages should only have one key but found $match, $limit."
            ),
            ([[:]], 102, "Pipeline stages should only have one key but found ."),
            ([["$group": ["objectId": "$a"]]], 102, "Cannot use 'objectId' in aggregation stage $group."),
            ([["$group": ["n": ["$sum": 1]]]], 102, "Invalid parameter for query: group. Missing key _id"),
            ([["$facet": [:]]], 102, "The aggregate stage $facet is not supported."),
            (
                [["$group": ["_id": nil, "n": ["$stdDevPop": "$a"]]]], 102,
                "The aggregate expression $stdDevPop is not supported."
            ),
            ([["$group": ["_id": nil, "n": 1]]], 102, "The field n of $group needs one accumulator."),
            ([["$project": ["a": ["$map": 1]]]], 102, "The aggregate expression $map is not supported."),
            (
                [["$project": ["a": 1, "b": 0]]], 102,
                "$project cannot both keep fields and leave fields out."
            ),
            ([["$project": [:]]], 102, "$project needs an object with fields."),
            ([["$match": ["a": ["$near": 1]]]], 107, "bad constraint: $near"),
            ([["$match": ["$where": "x"]]], 102, "The aggregate expression $where is not supported."),
            ([["$limit": 0]], 102, "$limit needs a whole number from 1 on."),
            ([["$skip": -1]], 102, "$skip needs a whole number from 0 on."),
            ([["$sort": ["a": 2]]], 102, "$sort needs 1 or -1 for each field; it has another value for a."),
            ([["$unwind": "a"]], 102, "$unwind needs a path that starts with $."),
            ([["$count": "$a"]], 102, "$count needs the name of a field."),
            (
                [["$lookup": ["from": "D", "let": [:], "pipeline": [], "as": "x"]]], 102,
                "The parameter let of the aggregate stage $lookup is not supported."
            ),
            (
                [["$lookup": ["from": "D", "localField": "a", "foreignField": "b", "as": "x"]]], 102,
                "foreignField of $lookup must be _id: other joins are not supported."
            ),
            ([["$addFields": ["a": ["$concat": ["x", 1]]]]], 102, "$concat needs texts."),
            ([["$addFields": ["a": ["$year": "$name"]]]], 102, "$year needs a date."),
            ([["$addFields": ["a": ["$divide": [1, 0]]]]], 102, "$divide needs a divisor other than 0."),
            (
                [["$addFields": ["a": ["$cond": [1]]]]], 102,
                "The aggregate expression $cond has the wrong number of arguments."
            ),
            ([["$addFields": ["a": "$$NOW"]]], 102, "The aggregate expression $$NOW is not supported."),
            (
                [["$addFields": ["a": ["$hour": ["date": "$at", "timezone": "Europe/Rome"]]]]], 102,
                "$hour counts in UTC; no other time zone is supported."
            ),
            ("x", 102, "A pipeline is an array of objects."),
            ([1], 102, "A pipeline is an array of objects."),
        ] as [(JSONValue, Int, String)]
    )
    func `what means nothing is refused by name`(_ pipeline: JSONValue, _ code: Int, _ message: String)
        async throws
    {
        let test = try await testApp()
        await expectRefusal(ParseErrorCode(rawValue: code), message) { _ = try await run(pipeline, test) }
    }

    @Test func `stages may be parameters, and the master alone may ask`() async throws {
        let test = try await testApp()
        let aggregate = Aggregate(
            className: "C",
            parameters: ["$match": ["name": "foo"], "$count": "n", "comment": "x", "where": [:]]
        )
        #expect(try await aggregate.run(in: test.context(.master)) == ["results": [["n": 2]]])
        #expect(try await aggregate.run(in: test.context(.readOnlyMaster)) == ["results": [["n": 2]]])
        for principal in [Principal.nobody, .maintenance] {
            let error = await refusal { _ = try await aggregate.run(in: test.context(principal)) }
            #expect(error == .masterKeyRequired)
        }
        await expectRefusal(.invalidQuery, "Invalid aggregate stage 'limit'.") {
            _ = try await Aggregate(className: "C", parameters: ["limit": 1]).run(in: test.context(.master))
        }
    }

    @Test func `a class that is not there has no rows`() async throws {
        let test = try await testApp()
        #expect(try await run([["$group": ["_id": nil]]], test, "Nothing") == [])
        let distinct = Aggregate(className: "Nothing", parameters: ["distinct": "a"])
        #expect(try await distinct.run(in: test.context(.master)) == ["results": []])
        let unknown = Aggregate(className: "C", parameters: ["distinct": "unknown"])
        #expect(try await unknown.run(in: test.context(.master)) == ["results": []])
    }

    @Test func `all rows of a large class go through, in the order of their ids`() async throws {
        let rows = (0..<2500).map { number in
            Self.row("r\(10_000 + number)", ["score": .number(Double(number % 7))])
        }
        let test = try await testApp(rows)
        let sums = try await run([["$group": ["_id": nil, "n": ["$sum": 1], "s": ["$sum": "$score"]]]], test)
        #expect(
            sums == [
                ["n": 2500, "s": .number(Double((0..<2500).reduce(0) { $0 + $1 % 7 })), "objectId": nil]
            ]
        )
        let third = try await run([["$skip": 2345], ["$limit": 1], ["$project": ["_id": 1]]], test)
        #expect(third == [["objectId": "r12345"]])
    }

    @Test func `memory is bounded`() async throws {
        let row = Self.row("r", ["tags": .array((0..<30_000).map { .number(Double($0)) })])
        let test = try await testApp([row])
        let message =
            "The aggregate needs more than 64 MiB of memory. Use $match or $project to give it less."
        await expectRefusal(.invalidQuery, message) {
            _ = try await run(
                [["$addFields": ["b": "$tags"]], ["$unwind": "$tags"], ["$unwind": "$b"]],
                test
            )
        }
        await expectRefusal(.invalidQuery, message) {
            let all: JSONValue = ["_id": nil, "all": ["$push": "$$ROOT"]]
            _ = try await run([["$addFields": ["b": "$tags"]], ["$unwind": "$tags"], ["$group": all]], test)
        }
        let small = try await run([["$unwind": "$tags"], ["$count": "n"]], test)
        #expect(small == [["n": 30_000]])
    }

    @Test func `documents that double at each stage are stopped`() async throws {
        let test = try await testApp()
        let arrays = JSONValue.array(
            (0..<24).map { _ in ["$addFields": ["name": ["$ifNull": ["$x", ["$name", "$name"]]]]] }
        )
        let start = ContinuousClock.now
        // Twenty-four doublings are within the nesting allowed, and half a gigabyte.
        await expectRefusal(
            .invalidQuery,
            "The aggregate needs more than 64 MiB of memory. Use $match or $project to give it less."
        ) { _ = try await run(arrays, test) }
        let texts = JSONValue.array(
            (0..<60).map { _ in ["$addFields": ["name": ["$concat": ["$name", "$name"]]]] }
        )
        await expectRefusal(.invalidQuery, "$concat makes no text of more than 1048576 bytes.") {
            _ = try await run(texts, test)
        }
        let deep = JSONValue.array((0..<25).map { _ in ["$addFields": ["name": ["n": "$name"]]] })
        await expectRefusal(
            .invalidQuery,
            "The stages of the aggregate nest documents too deep in each other."
        ) { _ = try await run(deep, test) }
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test(
        arguments: [
            (["distinct": "name"], ["bar", "dpl", "foo"]), (["distinct": "score"], [10, 20]),
            (["distinct": "tags"], ["x", "y"]),
            (["distinct": "name", "where": ["score": 10]], ["bar", "foo"]),
            (["distinct": "name", "where": "{\"score\":20}"], ["foo"]), (["distinct": "o.k.l"], [1]),
            (["distinct": "_id", "where": ["name": "bar"]], ["a3"]),
            (["distinct": "p", "where": ["p": "d2"]], [pointer("d2").json]),
            (["distinct": "name", "where": ["d": ["$lt": ["$relativeTime": "now"]]]], []),
        ] as [(JSONObject, [JSONValue])]
    )
    func `the different values of a field are listed`(_ parameters: JSONObject, _ expected: [JSONValue])
        async throws
    {
        let test = try await testApp()
        let reply = try await Aggregate(className: "C", parameters: parameters).run(in: test.context(.master))
        let found = try #require(reply["results"]?.arrayValue)
        #expect(found.map(\.description).sorted() == expected.map(\.description).sorted())
    }

    @Test func `an aggregate that nobody waits for ends`() async throws {
        let test = try await testApp()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await run([["$count": "n"]], test)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
