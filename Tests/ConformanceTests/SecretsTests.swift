import Foundation
import JSON
import TestSupport
import Testing

/// Nothing that lets somebody in can be read from the disk or the log.
@Suite(.serialized)
struct SecretsTests {
    @Test func `no password, token or master key is in a file or in the log`() async throws {
        let masterKey = "master-" + UUID().uuidString
        let folder = try TemporaryFolder()
        let process = try await ServerProcess(
            dataFolder: folder.path + "/data",
            arguments: [
                "--app-id", "app", "--client-key", "client", "--master-key", masterKey, "--log-level",
                "debug",
            ]
        )
        var api = API(port: process.port)
        api.masterKey = masterKey
        var secrets = [masterKey]
        func secret() -> String {
            let text = "secret-" + UUID().uuidString
            secrets.append(text)
            return text
        }
        func keep(_ reply: HTTPReply) {
            if let token = reply["sessionToken"]?.stringValue { secrets.append(String(token.dropFirst(2))) }
        }
        func json(_ text: String) -> JSONValue { .string(text) }

        for number in 0..<5 {
            let name = "user-\(number)"
            let password = secret()
            let signUp = try await api.call(
                "POST",
                "/users",
                ["username": json(name), "password": json(password)]
            )
            keep(signUp)
            let id = try #require(signUp["objectId"]?.stringValue)
            let token = try #require(signUp["sessionToken"]?.stringValue)
            keep(try await api.call("POST", "/login", ["username": json(name), "password": json(password)]))
            keep(try await api.call("GET", "/login?username=\(name)&password=\(password)"))
            try await api.call("POST", "/login", ["username": json(name), "password": json(secret())])
            try await api.call("GET", "/verifyPassword?username=\(name)&password=\(secret())")
            try await api.send("POST", "/login", body: Array("{\"password\":\"\(secret())\"".utf8))
            try await api.call("POST", "/nosuchroute", ["password": json(secret())])
            keep(try await api.call("POST", "/sessions", [:], token: token))
            try await api.call("GET", "/sessions", asMaster: true)
            keep(try await api.call("POST", "/loginAs", ["userId": json(id)], asMaster: true))
            try await api.call("GET", "/users/me", token: "r:" + secret())
            try await api.call("GET", "/users", headers: [("X-Parse-Master-Key", secret())])
            keep(try await api.call("PUT", "/users/\(id)", ["password": json(secret())], token: token))
            try await api.call("PUT", "/users/\(id)", ["password": json(secret())], asMaster: true)
            try await api.call(
                "POST",
                "/batch",
                [
                    "requests": [
                        [
                            "method": "POST", "path": "/parse/login",
                            "body": ["username": json(name), "password": json(secret())],
                        ]
                    ]
                ]
            )
        }
        let made = try await ProgramRun.martlet(
            "app",
            "create",
            "Other",
            "--json",
            "--data",
            process.dataFolder
        )
        secrets.append(try #require(try JSONValue.parse(made.output)["masterKey"]?.stringValue))
        #expect(secrets.count > 70)

        // While everything is still in the write-ahead log, and after it was folded in.
        try expectAbsent(secrets, in: process.dataFolder)
        await process.stop()
        try expectAbsent(secrets, in: process.dataFolder)
        for secret in secrets {
            #expect(!process.log.contains(secret), "a secret is in the log")
            #expect(!process.output.contains(secret), "a secret is in the output")
        }
        #expect(process.log.contains("\"message\":\"ready\""))
    }

    private func expectAbsent(_ secrets: [String], in folder: String) throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
        var count = 0
        for name in names {
            guard let data = FileManager.default.contents(atPath: folder + "/" + name), !data.isEmpty else {
                continue
            }
            count += 1
            for secret in secrets {
                #expect(data.range(of: Data(secret.utf8)) == nil, "a secret is in \(name)")
            }
        }
        #expect(names.contains("apps/app.db"))
        #expect(count >= 2)
    }
}
