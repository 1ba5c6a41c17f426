import Foundation

/// What the user asked for.
enum Command {
    case signup(name: String, password: Password, email: String?)
    case login(name: String, password: Password)
    case whoami
    case logout
}

/// A password of the command line, or `-` for a line of the standard input, which `ps` does not show.
struct Password {
    var word: String

    func read() throws -> String {
        guard word == "-" else { return word }
        guard let line = readLine(strippingNewline: true), !line.isEmpty else {
            throw Usage("There is no password on the standard input.")
        }
        return line
    }
}

/// The command line was wrong, or asked for help (`problem` is `nil`).
struct Usage: Error {
    var problem: String?

    init(_ problem: String?) {
        self.problem = problem
    }

    static let text = """
        usage: login-cli [options] signup NAME PASSWORD [--email ADDRESS]
               login-cli [options] login NAME PASSWORD
               login-cli [options] whoami
               login-cli [options] logout

        A PASSWORD of - is read from the standard input.

        options, and what stands in for them in the environment:
          --server URL        PARSE_SERVER_URL
          --app-id ID         PARSE_APPLICATION_ID
          --client-key KEY    PARSE_CLIENT_KEY (only if the server asks for one)

        exit codes: 0 done, 1 refused by the server or nobody logged in, 2 wrong usage
        """
}

/// The command line, read.
struct Arguments {
    var server: URL
    var applicationId: String
    var clientKey: String?
    var command: Command

    init(_ words: [String], environment: [String: String]) throws {
        var options: [String: String] = [:]
        var rest: [String] = []
        var index = words.startIndex
        while index < words.endIndex {
            let word = words[index]
            index += 1
            if word == "--help" || word == "-h" { throw Usage(nil) }
            guard word.hasPrefix("--") else {
                rest.append(word)
                continue
            }
            guard ["--server", "--app-id", "--client-key", "--email"].contains(word) else {
                throw Usage("There is no option \(word).")
            }
            guard index < words.endIndex else { throw Usage("\(word) needs a value.") }
            options[word] = words[index]
            index += 1
        }
        command = try Self.command(rest, email: options["--email"])
        guard let id = options["--app-id"] ?? environment["PARSE_APPLICATION_ID"], !id.isEmpty else {
            throw Usage("Which app? Give --app-id or set PARSE_APPLICATION_ID.")
        }
        guard let address = options["--server"] ?? environment["PARSE_SERVER_URL"] else {
            throw Usage("Which server? Give --server or set PARSE_SERVER_URL.")
        }
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme), url.host != nil else {
            throw Usage("\(address) is not the address of a server.")
        }
        server = url
        applicationId = id
        clientKey = options["--client-key"] ?? environment["PARSE_CLIENT_KEY"]
    }

    private static func command(_ words: [String], email: String?) throws -> Command {
        guard let name = words.first else { throw Usage("What shall be done?") }
        let command: Command
        switch (name, words.count) {
        case ("signup", 3):
            command = .signup(name: words[1], password: Password(word: words[2]), email: email)
        case ("login", 3): command = .login(name: words[1], password: Password(word: words[2]))
        case ("whoami", 1): command = .whoami
        case ("logout", 1): command = .logout
        case ("signup", _), ("login", _): throw Usage("\(name) needs a NAME and a PASSWORD.")
        case ("whoami", _), ("logout", _): throw Usage("\(name) takes no arguments.")
        default: throw Usage("There is no command \(name).")
        }
        if email != nil, name != "signup" { throw Usage("--email goes with signup only.") }
        return command
    }
}
