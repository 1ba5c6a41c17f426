import Foundation
import TestSupport
import Testing

/// What the test run was given.
private enum Surroundings {
    static let logInCLI = ProcessInfo.processInfo.environment["MARTLET_TEST_LOGIN_CLI"]
    static let hasSecretService = ProcessInfo.processInfo.environment["MARTLET_TEST_SECRET_SERVICE"] == "1"
}

/// The example program across processes: each call is a run of its own, so that what it remembers is on disk or
/// in the keyring.
///
/// `MARTLET_TEST_LOGIN_CLI` names the built program; `script/test` sets it.
@Suite(.serialized, .enabled(if: Surroundings.logInCLI != nil, "MARTLET_TEST_LOGIN_CLI names no program"))
struct LogInCLITests {

    private let password = "correct horse battery staple"
    private let folder: TemporaryFolder
    private let server: ServerProcess

    init() async throws {
        folder = try TemporaryFolder()
        server = try await ServerProcess(
            dataFolder: folder.path + "/data",
            arguments: ["--app-id", "cli-app", "--client-key", "client", "--master-key", "master"]
        )
    }

    private func run(
        _ words: String...,
        input: String? = nil,
        secretService: Bool
    ) async throws -> ProgramRun.Result {
        var environment = [
            "HOME": folder.path, "PARSE_SERVER_URL": "http://127.0.0.1:\(server.port)/parse",
            "PARSE_APPLICATION_ID": "cli-app", "PARSE_CLIENT_KEY": "client",
        ]
        if !secretService {
            environment["XDG_DATA_HOME"] = folder.path + "/share"
            environment["PARSE_SWIFT_SECRET_SERVICE"] = "off"
        }
        return try await ProgramRun.run(
            [try #require(Surroundings.logInCLI)] + words,
            environment: environment,
            input: input
        )
    }

    @Test func `without a Secret Service the session is kept in a private file`() async throws {
        try await story(secretService: false)
    }

    @Test(.enabled(if: Surroundings.hasSecretService, "no Secret Service here"))
    func `with a Secret Service the session is kept there`() async throws {
        try await story(secretService: true)
    }

    private func story(secretService: Bool) async throws {
        let signUp = try await run(
            "signup",
            "alice",
            "-",
            input: password + "\n",
            secretService: secretService
        )
        #expect(signUp.status == 0, "\(signUp.errors)")
        #expect(signUp.output == "Signed up and logged in as alice.\n")

        let who = try await run("whoami", secretService: secretService)
        #expect(who.status == 0)
        #expect(who.output == "alice\n")

        try expectNoSecrets(secretService: secretService)

        let out = try await run("logout", secretService: secretService)
        #expect(out.status == 0)
        #expect(out.output == "Logged out alice.\n")

        let nobody = try await run("whoami", secretService: secretService)
        #expect(nobody.status == 1)
        #expect(nobody.output + nobody.errors == "Nobody is logged in.\n")

        let wrong = try await run("login", "alice", "wrong", secretService: secretService)
        #expect(wrong.status == 1)
        #expect(wrong.errors == "Invalid username/password.\n")

        let again = try await run("login", "alice", password, secretService: secretService)
        #expect(again.status == 0)
        #expect(again.output == "Logged in as alice.\n")
        #expect(try await run("whoami", secretService: secretService).output == "alice\n")
        _ = try await run("logout", secretService: secretService)
    }

    /// No file holds the password; a session token is in the SDK's own private file alone, or in none.
    private func expectNoSecrets(secretService: Bool) throws {
        let token = /r:[0-9a-f]{32}/
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        var holders: [String] = []
        for file in files {
            guard let data = FileManager.default.contents(atPath: folder.path + "/" + file) else { continue }
            let text = String(decoding: data, as: UTF8.self)
            #expect(!text.contains(password), "\(file) holds the password")
            if text.contains(token) { holders.append(file) }
        }
        #expect(holders.count == (secretService ? 0 : 1), "\(holders) hold a session token")
        for holder in holders {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + holder)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(!holder.hasPrefix("data"))
        }
    }
}
