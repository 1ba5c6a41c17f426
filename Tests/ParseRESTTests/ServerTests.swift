import Cryptography
import HTTP
import JSON
import ParseCore
import ParseREST
import Testing

@Suite struct EventTests {
    @Test func `an event is accepted`() async throws {
        let rest = try TestREST()
        let body: JSONValue = [
            "at": ["__type": "Date", "iso": "2024-05-06T07:08:09.123Z"], "dimensions": ["a": "b"],
        ]
        for path in ["/events/AppOpened", "/events/My%20event"] {
            let reply = await rest.send("POST", path, json: body)
            #expect(reply.status == 200 && reply.text == "{}")
        }
    }

    @Test func `an event has an end, and a name that can be read`() async throws {
        let rest = try TestREST()
        let text = "The name of an event has from 1 to 255 bytes and no control characters."
        expectRefused(await rest.send("POST", "/events/a%0Ab"), 107, text)
        let long = String(repeating: "x", count: 255)
        #expect(await rest.send("POST", "/events/" + long).status == 200)
        expectRefused(await rest.send("POST", "/events/x" + long), 107, text)
        let large: JSONValue = ["dimensions": ["a": .string(String(repeating: "x", count: 20_000))]]
        expectRefused(
            await rest.send("POST", "/events/e", json: large),
            116,
            "An event is at most 16384 bytes."
        )
    }
}

@Suite struct SecurityTests {
    private static let strong = "Abcdefghijk123"

    private func rest(_ change: (inout AppOptions) -> Void = { _ in }) throws -> TestREST {
        let keys = AppCredentials(
            masterKeyHash: SHA256.hash(Self.strong),
            readOnlyMasterKeyHash: SHA256.hash("reader")
        )
        return try TestREST(keys: keys) {
            $0.enableSecurityCheck = true
            change(&$0)
        }
    }

    private static let headers = TestREST.appHeader + [("X-Parse-Master-Key", strong)]

    /// The states of all checks by title.
    private func checks(
        _ rest: TestREST,
        _ headers: [(String, String)] = SecurityTests.headers
    ) async throws -> [String: JSONValue] {
        let groups = await rest.send("GET", "/security", headers).json?["report"]?["groups"]?.arrayValue
        var checks: [String: JSONValue] = [:]
        for group in try #require(groups) {
            for check in group["checks"]?.arrayValue ?? [] {
                checks[check["title"]?.stringValue ?? ""] = check
            }
        }
        return checks
    }

    @Test func `without the option there is no report`() async throws {
        let reply = try await TestREST().master("GET", "/security")
        #expect(reply.status == 409)
        #expect(
            reply.json == [
                "error": "Enable Parse Server option `security.enableCheck` to run security check."
            ]
        )
    }

    @Test func `an app that is set up with care passes`() async throws {
        let rest = try rest()
        let closed: JSONValue = ["classLevelPermissions": ["get": ["*": true]]]
        for name in ["_User", "_Role"] {
            _ = await rest.send("PUT", "/schemas/\(name)", Self.headers, json: closed)
        }
        let report = await rest.send("GET", "/security", Self.headers).json?["report"]
        #expect(report?["version"] == "1.0.0" && report?["state"] == "success")
        let groups = try #require(report?["groups"]?.arrayValue)
        #expect(groups.map { $0["name"] } == ["Configuration", "Class-level permissions"])
        for (title, check) in try await checks(rest) {
            #expect(check["state"] == "success" && check["warning"] == nil, "\(title)")
        }
    }

    struct Weakness: Sendable {
        let title: String
        let change: @Sendable (inout AppOptions) -> Void
    }

    @Test(arguments: [
        Weakness(title: "Master key bound to addresses") {
            $0.masterKeyIPs = (try? IPAllowList(["0.0.0.0/0", "::1"])) ?? .loopback
        },
        Weakness(title: "Proxies named one by one") { $0.trustProxy = .everybody },
        Weakness(title: "No classes made by clients") { $0.allowClientClassCreation = true },
        Weakness(title: "New users are private") { $0.enforcePrivateUsers = false },
        Weakness(title: "Prohibited keywords") { $0.requestKeywordDenylist = KeywordDenylist(rules: []) },
        Weakness(title: "Batches are bounded") { $0.batchRequestLimit = nil },
        Weakness(title: "Sessions end") { $0.expireInactiveSessions = false },
        Weakness(title: "A new password ends sessions") { $0.revokeSessionOnPasswordReset = false },
    ])
    func `a weak option fails its check and says what to do`(_ weakness: Weakness) async throws {
        let sound = try await checks(try rest())
        #expect(sound[weakness.title]?["state"] == "success")
        let check = try await checks(try rest(weakness.change))[weakness.title]
        #expect(check?["state"] == "fail")
        #expect(check?["warning"]?.stringValue?.isEmpty == false)
        #expect(check?["solution"]?.stringValue?.isEmpty == false)
    }

    @Test func `a weak master key is told, and with another key it is not known`() async throws {
        let weak = try TestREST { $0.enableSecurityCheck = true }
        #expect(try await checks(weak, TestREST.masterHeaders)["Strong master key"]?["state"] == "fail")
        #expect(try await checks(weak, TestREST.readerHeaders)["Strong master key"]?["state"] == "none")
    }

    @Test func `an open maintenance key is told`() async throws {
        let rest = try TestREST {
            $0.enableSecurityCheck = true
            $0.maintenanceKeyIPs = (try? IPAllowList(["::/0"])) ?? .loopback
        }
        let checks = try await checks(rest, TestREST.masterHeaders)
        #expect(checks["Maintenance key bound to addresses"]?["state"] == "fail")
    }

    @Test func `classes that are open are named`() async throws {
        let rest = try rest()
        func state(_ title: String) async throws -> JSONValue? { try await checks(rest)[title]?["state"] }
        let open = try await checks(rest)
        #expect(open["Users cannot be listed"]?["state"] == "fail")
        #expect(open["Classes have permissions of their own"]?["state"] == "success")
        _ = await rest.send("POST", "/schemas/Game", Self.headers, json: [:])
        for title in [
            "Classes have permissions of their own", "Nobody adds fields by saving",
            "Nobody deletes without being known",
        ] {
            let check = try await checks(rest)[title]
            #expect(check?["state"] == "fail" && check?["warning"]?.stringValue?.contains("Game") == true)
        }
        _ = await rest.send(
            "PUT",
            "/schemas/Game",
            Self.headers,
            json: ["classLevelPermissions": ["delete": ["*": true], "ACL": ["currentUser": ["write": true]]]]
        )
        #expect(try await state("Classes have permissions of their own") == "success")
        #expect(try await state("Nobody deletes without being known") == "success")
    }

    @Test(arguments: [
        ("", false), ("Abcdefghijk12", false), ("Abcdefghijk123", true), ("abcdefghijklmnop", false),
        ("abcdefghij-12345", true), ("ABCDEFGHIJ-12345", true), ("abcdefghijk-lmno", false),
    ])
    func `a key is strong or not`(_ key: String, _ isStrong: Bool) {
        #expect(MasterKeyStrength.isStrong(key) == isStrong)
    }
}

@Suite struct ServerInfoTests {
    @Test func `what is there is told`() async throws {
        let features = try await TestREST().master("GET", "/serverInfo").json?["features"]
        #expect(
            features?["globalConfig"] == ["create": true, "read": true, "update": true, "delete": true]
        )
        #expect(
            features?["schemas"] == [
                "addField": true, "removeField": true, "addClass": true, "removeClass": true,
                "clearAllDataFromClass": true, "exportClass": false, "editClassLevelPermissions": true,
                "editPointerPermissions": true,
            ]
        )
        #expect(features?["settings"] == ["securityCheck": false])
        let checked = try await TestREST { $0.enableSecurityCheck = true }.master("GET", "/serverInfo")
        #expect(checked.json?["features"]?["settings"] == ["securityCheck": true])
    }
}
