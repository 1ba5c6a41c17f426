import Martlet

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The command `martlet`.
@main
enum MartletCLI {
    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            Output.writeError("martlet: \(error)\n")
            exit(error is UsageError || error is ConfigurationError ? 2 : 1)
        }
    }

    private static func run(_ words: [String]) async throws {
        let asksForHelp = words.dropFirst().contains { $0 == "--help" || $0 == "-h" }
        switch words.first {
        case nil:
            Output.writeError(Help.general)
            exit(2)
        case "--help", "-h", "help": Output.write(Help.general)
        case "serve":
            if asksForHelp { return Output.write(Help.serve) }
            try await ServeCommand(Array(words.dropFirst()), environment: environment).run()
        case "app":
            if asksForHelp { return Output.write(Help.app) }
            try await AppCommand(Array(words.dropFirst()), environment: environment).run()
        case "version", "--version": Output.write("martlet \(MartletServer.version)\n")
        case let word?: throw UsageError("Unknown command \"\(word)\": there are serve, app and version.")
        }
    }

    private static var environment: [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let mark = text.firstIndex(of: "=") {
                variables[String(text[..<mark])] = String(text[text.index(after: mark)...])
            }
            next += 1
        }
        return variables
    }
}
