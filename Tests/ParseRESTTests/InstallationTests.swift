import HTTP
import JSON
import ParseCore
import ParseREST
import Testing

@Suite struct InstallationTests {
    private static let token = String(repeating: "AB", count: 32)

    private func post(
        _ rest: TestREST,
        _ json: JSONValue,
        _ headers: [(String, String)] = TestREST.appHeader
    ) async -> TestREST.Reply {
        await rest.send("POST", "/installations", headers, json: json)
    }

    private func make(_ rest: TestREST, _ json: JSONValue) async throws -> String {
        let reply = await post(rest, json)
        #expect(reply.status == 201)
        return try #require(reply.json?["objectId"]?.stringValue)
    }

    private func rows(_ rest: TestREST) async -> [JSONValue] {
        await rest.master("GET", "/installations").json?["results"]?.arrayValue ?? []
    }

    @Test func `a device has one row, which it reads and changes by its id`() async throws {
        let rest = try TestREST()
        let first = await post(
            rest,
            [
                "deviceType": "ios", "installationId": "F0E1", "channels": ["a"],
                "deviceToken": .string(Self.token),
            ]
        )
        let id = try #require(first.json?["objectId"]?.stringValue)
        #expect(first.status == 201 && first.json?.objectValue?.keys.sorted() == ["createdAt", "objectId"])
        #expect(first.lines.contains("/classes/_Installation/\(id)\r\n"))
        let again = await post(rest, ["deviceType": "ios", "installationId": "f0e1", "badge": 1])
        #expect(again.status == 200 && again.json?.objectValue?.keys == ["updatedAt"])
        for path in ["/installations/\(id)", "/classes/_Installation/\(id)"] {
            let row = await rest.send("GET", path).json
            #expect(row?["installationId"] == "f0e1" && row?["badge"] == 1)
            #expect(row?["deviceToken"] == .string(Self.token.lowercased()))
            #expect(await rest.send("PUT", path, json: ["channels": ["b"]]).status == 200)
        }
        #expect(await rows(rest).count == 1)
    }

    @Test func `clients neither list nor delete installations`() async throws {
        let rest = try TestREST()
        let id = try await make(rest, ["deviceType": "ios", "installationId": "i"])
        for path in ["/installations", "/classes/_Installation"] {
            expectRefused(
                await rest.send("GET", path),
                119,
                "Clients aren't allowed to perform the find operation on the installation collection."
            )
            expectRefused(
                await rest.send("DELETE", path + "/" + id),
                119,
                "Clients aren't allowed to perform the delete operation on the installation collection."
            )
        }
        #expect(await rest.master("DELETE", "/installations/\(id)").text == "{}")
    }

    @Test func `a new installation says which device it is`() async throws {
        let rest = try TestREST()
        let text = "at least one ID field (deviceToken, installationId) must be specified in this operation"
        expectRefused(await post(rest, ["deviceType": "ios"]), 135, text)
        expectRefused(await rest.master("POST", "/installations", ["deviceType": "ios"]), 135, text)
        expectRefused(
            await post(rest, ["installationId": "i"]),
            135,
            "deviceType must be specified in this operation"
        )
        let readOnly = await post(rest, ["installationId": "i", "deviceType": "ios"], TestREST.readerHeaders)
        #expect(readOnly.json?["code"] == 119)
    }

    @Test func `the header says which installation it is, and it is kept`() async throws {
        let rest = try TestREST()
        let headers = TestREST.appHeader + [("X-Parse-Installation-Id", "ABC")]
        #expect(await post(rest, ["deviceType": "ios"], headers).status == 201)
        #expect(await post(rest, ["deviceType": "ios", "badge": 2], headers).status == 200)
        let rows = await rows(rest)
        #expect(rows.count == 1 && rows[0]["installationId"] == "abc" && rows[0]["badge"] == 2)
    }

    @Test func `what an installation is known by does not change`() async throws {
        let rest = try TestREST()
        let id = try await make(rest, ["deviceType": "ios", "installationId": "i"])
        let path = "/installations/\(id)"
        for field in ["installationId", "deviceType"] {
            expectRefused(
                await rest.send("PUT", path, json: .object([field: "other"])),
                136,
                "\(field) may not be changed in this operation"
            )
        }
        let bare = try await make(rest, ["deviceType": "ios", "deviceToken": "t"])
        expectRefused(
            await rest.send("PUT", "/installations/\(bare)", json: ["deviceToken": "u"]),
            136,
            "deviceToken may not be changed in this operation"
        )
        #expect(await rest.send("PUT", path, json: ["installationId": "I", "badge": 3]).status == 200)
        let gone = await rest.send("PUT", "/installations/nothing", json: ["deviceToken": "u"])
        #expect(gone.status == 404 && gone.json?["error"] == "Object not found for update.")
        #expect(await rest.send("PUT", "/installations/nothing", json: ["badge": 1]).status == 404)
    }

    @Test func `the newest device with a token is the one that has it`() async throws {
        let rest = try TestREST()
        _ = try await make(rest, ["deviceType": "ios", "installationId": "i", "deviceToken": "t"])
        let second = try await make(rest, ["deviceType": "ios", "installationId": "j", "deviceToken": "t"])
        let rows = await rows(rest)
        #expect(rows.map { $0["objectId"] } == [.string(second)])
        _ = try await make(rest, ["deviceType": "ios", "installationId": "k", "deviceToken": "u"])
        #expect(
            await rest.send("PUT", "/installations/\(second)", json: ["deviceToken": "u"]).status == 200
        )
        #expect(await self.rows(rest).map { $0["installationId"] } == ["j"])
    }

    @Test func `an app's tokens are its own`() async throws {
        let rest = try TestREST()
        for (id, app) in [("i", "com.a"), ("j", "com.b"), ("k", "com.a")] {
            let body: JSONValue = [
                "deviceType": "ios", "installationId": .string(id), "deviceToken": "t",
                "appIdentifier": .string(app),
            ]
            #expect(await post(rest, body).status == 201)
        }
        #expect(await rows(rest).compactMap { $0["installationId"]?.stringValue }.sorted() == ["j", "k"])
    }

    @Test func `a row with nothing but the token becomes the device's`() async throws {
        let rest = try TestREST()
        let bare = try await make(rest, ["deviceType": "ios", "deviceToken": "t", "channels": ["a"]])
        #expect(await post(rest, ["deviceType": "ios", "deviceToken": "t", "badge": 1]).status == 200)
        _ = try await make(rest, ["deviceType": "ios", "installationId": "i"])
        let body: JSONValue = ["deviceType": "ios", "installationId": "i", "deviceToken": "t"]
        #expect(await post(rest, body).status == 200)
        let rows = await rows(rest)
        #expect(rows.count == 1 && rows[0]["objectId"] == .string(bare))
        #expect(rows[0]["installationId"] == "i" && rows[0]["channels"] == ["a"])
    }

    @Test func `with the option the other device only loses its token`() async throws {
        let rest = try TestREST { $0.installation.duplicateDeviceTokenAction = .update }
        for id in ["i", "j"] {
            let body: JSONValue = [
                "deviceType": "ios", "installationId": .string(id), "deviceToken": "t",
            ]
            #expect(await post(rest, body).status == 201)
        }
        let rows = await rows(rest)
        #expect(rows.count == 2)
        #expect(rows.filter { $0["deviceToken"] == "t" }.map { $0["installationId"] } == ["j"])
    }

    @Test func `a locked row is nobody's to change, and with the option nobody's to clean up`() async throws {
        let rest = try TestREST { $0.installation.duplicateDeviceTokenActionEnforceAuth = true }
        let body: JSONValue = [
            "deviceType": "ios", "installationId": "i", "deviceToken": "t", "ACL": ["*": ["read": true]],
        ]
        let id = try await make(rest, body)
        let refused = await post(rest, ["installationId": "i", "badge": 1])
        #expect(refused.status == 404 && refused.json?["code"] == 101)
        #expect(await rest.send("PUT", "/installations/\(id)", json: ["badge": 1]).status == 404)
        _ = try await make(rest, ["deviceType": "ios", "installationId": "j", "deviceToken": "t"])
        #expect(await rows(rest).count == 2)
    }

    @Test func `devices that come at once with one id are one row`() async throws {
        let rest = try TestREST()
        let statuses = await withTaskGroup(of: Int.self) { group in
            for index in 0..<10 {
                let body: JSONValue = [
                    "deviceType": "ios", "installationId": "i", "badge": .number(Double(index)),
                ]
                group.addTask { await rest.send("POST", "/installations", json: body).status }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.filter { $0 == 201 }.count == 1 && statuses.filter { $0 == 200 }.count == 9)
        #expect(await rows(rest).count == 1)
    }

    @Test func `permissions of the class hold`() async throws {
        let rest = try TestREST()
        let id = try await make(rest, ["deviceType": "ios", "installationId": "i"])
        let permissions: JSONValue = ["get": ["*": true]]
        _ = await rest.master(
            "PUT",
            "/schemas/_Installation",
            ["classLevelPermissions": permissions, "fields": ["own": ["type": "String"]]]
        )
        for (method, path, json) in [
            ("POST", "/installations", ["deviceType": "ios", "installationId": "j"] as JSONValue),
            ("POST", "/installations", ["installationId": "i", "badge": 1]),
            ("PUT", "/installations/\(id)", ["badge": 1]),
            ("PUT", "/installations/\(id)", ["deviceToken": "t"]),
        ] { #expect(await rest.send(method, path, json: json).json?["code"] == 119) }
    }
}
