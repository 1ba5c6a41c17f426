import Foundation
import ParseSwift

/// Logs a user in and out from the command line; each call is a process of its own.
@main struct LogInCLI {
    static func main() async {
        let result = await run(Array(CommandLine.arguments.dropFirst()))
        let stream = result.code == 0 ? stdoutHandle : stderrHandle
        stream.write(Data((result.text + "\n").utf8))
        exit(result.code)
    }

    private static var stdoutHandle: FileHandle { .standardOutput }
    private static var stderrHandle: FileHandle { .standardError }

    /// What is printed, and the exit code: 0 done, 1 refused or nobody logged in, 2 wrong usage.
    private static func run(_ words: [String]) async -> (text: String, code: Int32) {
        do {
            let arguments = try Arguments(words, environment: ProcessInfo.processInfo.environment)
            try await ParseSwift.initialize(
                configuration: ParseConfiguration(
                    applicationId: arguments.applicationId,
                    clientKey: arguments.clientKey,
                    serverURL: arguments.server
                )
            )
            return (try await arguments.command.run(), 0)
        } catch let error as Usage {
            return (
                error.problem.map { $0 + "\n\n" + Usage.text } ?? Usage.text, error.problem == nil ? 0 : 2
            )
        } catch let error as ParseError {
            return (error.message, 1)
        } catch {
            return (error.localizedDescription, 1)
        }
    }
}

extension Command {
    /// Does it and says so.
    func run() async throws -> String {
        switch self {
        case .signup(let name, let password, let email):
            let user = try await User(username: name, email: email, password: try password.read()).signup()
            guard User.current?.objectId == user.objectId else {
                return "Signed up as \(name). Verify your address, then log in."
            }
            return "Signed up and logged in as \(user.username ?? name)."
        case .login(let name, let password):
            let user = try await User.login(username: name, password: try password.read())
            return "Logged in as \(user.username ?? name)."
        case .whoami:
            do {
                let user = try await User.current()
                return user.username ?? user.objectId ?? "?"
            } catch let error where error.equalsTo(.userCannotBeAlteredWithoutSession) {
                throw ParseError(code: .userCannotBeAlteredWithoutSession, message: "Nobody is logged in.")
            }
        case .logout:
            let name = User.current?.username
            do {
                try await User.logout()
            } catch {
                let reason = (error as? ParseError)?.message ?? error.localizedDescription
                throw ParseError(
                    code: .otherCause,
                    message: "Logged out here, but the server may still hold the session: \(reason)"
                )
            }
            return name.map { "Logged out \($0)." } ?? "Nobody was logged in."
        }
    }
}
