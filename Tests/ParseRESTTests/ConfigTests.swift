import HTTP
import JSON
import ParseCore
import ParseREST
import Testing

@Suite struct ConfigTests {
    private func put(_ rest: TestREST, _ text: String) async throws -> TestREST.Reply {
        await rest.master("PUT", "/config", try JSONValue.parse(text))
    }

    private func get(_ rest: TestREST, _ headers: [(String, String)] = TestREST.appHeader) async -> JSONValue?
    {
        await rest.send("GET", "/config", headers).json
    }

    @Test func `before anything is set there are no parameters`() async throws {
        let rest = try TestREST()
        #expect(await get(rest) == ["params": [:]])
        #expect(await get(rest, TestREST.masterHeaders) == ["params": [:]])
    }

    @Test func `parameters are set one by one, and secrets are the master key's`() async throws {
        let rest = try TestREST()
        let set = #"{"params":{"welcome":"hi","limit":5,"secret":"s"},"masterKeyOnly":{"secret":true}}"#
        #expect(try await put(rest, set).json == ["result": true])
        #expect(
            await get(rest) == [
                "params": ["welcome": "hi", "limit": 5],
                "masterKeyOnly": ["welcome": false, "limit": false],
            ]
        )
        for headers in [TestREST.masterHeaders, TestREST.readerHeaders] {
            #expect(
                await get(rest, headers) == [
                    "params": ["welcome": "hi", "limit": 5, "secret": "s"],
                    "masterKeyOnly": ["welcome": false, "limit": false, "secret": true],
                ]
            )
        }
        let maintenance = TestREST.appHeader + [("X-Parse-Maintenance-Key", "maintenance")]
        #expect(await get(rest, maintenance)?["params"]?["secret"] == nil)
        _ = try await put(rest, #"{"params":{"limit":{"__op":"Delete"},"secret":"t"}}"#)
        #expect(await get(rest)?["params"] == ["welcome": "hi", "secret": "t"])
    }

    @Test func `values of every type come back as they were`() async throws {
        let rest = try TestREST()
        let params: JSONValue = [
            "date": ["__type": "Date", "iso": "2024-05-06T07:08:09.123Z"],
            "point": ["__type": "GeoPoint", "latitude": 1, "longitude": 2],
            "pointer": ["__type": "Pointer", "className": "Game", "objectId": "a"],
            "list": [1, "a", nil, ["b": true]], "object": ["a": ["b": 1]], "flag": false, "nothing": nil,
        ]
        #expect(await rest.master("PUT", "/config", ["params": params]).status == 200)
        #expect(await get(rest)?["params"] == params)
        _ = try await put(rest, #"{"params":{"file":{"__type":"File","name":"a.txt","url":"http://evil"}}}"#)
        let file = await get(rest)?["params"]?["file"]
        #expect(file?["name"] == "a.txt" && file?["url"] != "http://evil")
    }

    @Test func `numbers count and lists grow`() async throws {
        let rest = try TestREST()
        for _ in 0..<2 {
            let change = #"""
                {"params":{"n":{"__op":"Increment","amount":2},"l":{"__op":"Add","objects":["x"]}}}
                """#
            #expect(try await put(rest, change).status == 200)
        }
        #expect(await get(rest)?["params"] == ["n": 4, "l": ["x", "x"]])
    }

    @Test(arguments: [
        (#"{}"#, 107, "params must be an object"), (#"{"params":[]}"#, 107, "params must be an object"),
        (#"{"params":{},"masterKeyOnly":1}"#, 107, "masterKeyOnly must be an object"),
        (
            #"{"params":{"a":1},"masterKeyOnly":{"a":"true"}}"#, 107,
            "masterKeyOnly.a must be true or false"
        ),
        (
            #"{"params":{"a.b":1}}"#, 121,
            "Nested keys should not contain the '$' or '.' characters"
        ),
        (
            #"{"params":{"a":{"$b":1}}}"#, 121,
            "Nested keys should not contain the '$' or '.' characters"
        ),
        (#"{"params":{"":1}}"#, 105, "Invalid key name: "),
        (
            #"{"params":{"constructor":1}}"#, 105,
            #"Prohibited keyword in request data: {"key":"constructor"}."#
        ),
        (
            #"{"params":{"a":{"__type":"Relation","className":"Game"}}}"#, 111,
            "A parameter cannot be a relation."
        ),
        (#"{"params":{"a":{"__type":"Date","iso":"x"}}}"#, 111, "This is not a valid Date"),
    ])
    func `such a change is refused`(_ text: String, _ code: Double, _ message: String) async throws {
        let rest = try TestREST()
        expectRefused(try await put(rest, text), code, message)
        #expect(await get(rest) == ["params": [:]])
    }

    @Test func `the read-only key sets nothing`() async throws {
        let rest = try TestREST()
        let reply = await rest.send("PUT", "/config", TestREST.readerHeaders, json: ["params": ["a": 1]])
        expectRefused(reply, 119, "read-only masterKey isn't allowed to update the config.")
    }

    @Test func `changes that come at once all count`() async throws {
        let rest = try TestREST()
        await withTaskGroup(of: Int.self) { group in
            for index in 0..<20 {
                let params: JSONValue = .object(["p\(index)": .number(Double(index))])
                group.addTask { await rest.master("PUT", "/config", ["params": params]).status }
            }
            for await status in group { #expect(status == 200) }
        }
        #expect(await get(rest)?["params"]?.objectValue?.count == 20)
    }

    @Test func `for the master key it is a class of one row`() async throws {
        let rest = try TestREST()
        _ = try await put(rest, #"{"params":{"a":1}}"#)
        let row = await rest.master("GET", "/classes/_GlobalConfig/1").json
        #expect(row?["params"] == ["a": 1])
        #expect(await rest.send("GET", "/classes/_GlobalConfig/1").json?["code"] == 119)
        #expect(await rest.master("DELETE", "/classes/_GlobalConfig/1").status == 200)
        #expect(await get(rest) == ["params": [:]])
    }
}
