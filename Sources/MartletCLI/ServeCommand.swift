import JSON
import Logging
import Martlet

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `martlet serve`.
struct ServeCommand {
    private static let keyFlags = [
        "--app-id": "appId", "--client-key": "clientKey", "--rest-key": "restAPIKey",
        "--javascript-key": "javascriptKey", "--master-key": "masterKey", "--host": "host", "--port": "port",
        "--database": "databaseURI",
    ]

    private let folder: DataFolder
    private let options: ServerOptions
    private let logger: Logger

    init(_ words: [String], environment: [String: String]) throws {
        let arguments = try Arguments(
            words,
            flags: ["--data", "--config", "--log-level"] + Self.keyFlags.keys.sorted()
        )
        folder = DataFolder(path: arguments["--data"] ?? environment["MARTLET_DATA"] ?? "martlet-data")
        var reader = ConfigurationReader()
        if let path = arguments["--config"] { try reader.read(file: try Self.contents(of: path), path: path) }
        try reader.read(environment: environment)
        for (flag, option) in Self.keyFlags.sorted(by: { $0.key < $1.key }) {
            if let text = arguments[flag] { try reader.set(option, text: text, flag: flag) }
        }
        options = try reader.finished()
        let level = arguments["--log-level"] ?? "info"
        guard let minimum = LogLevel(name: level) else {
            throw UsageError("The flag --log-level must be debug, info, warning or error.")
        }
        logger = Logger(minimumLevel: minimum)
    }

    /// Runs until it is told to stop.
    func run() async throws {
        // Files with people's accounts are nobody else's to read.
        umask(0o077)
        // A file that may not grow further is an error of the write, as a full disk is, and ends nobody.
        signal(SIGXFSZ, SIG_IGN)
        let server = try await MartletServer(folder: folder, options: options, logger: logger)
        let terminations = server.terminations()
        let port = try await server.start()
        let address = "http://\(options.host.contains(":") ? "[\(options.host)]" : options.host):\(port)"
        if let app = try await server.makeFirstApp() {
            Output.write(FirstRun.text(app, serverURL: options.serverURL ?? address + "/parse"))
        }
        Output.write("Martlet is ready at \(address)\n")
        logger.info(
            "ready",
            [
                ("address", .string(address)), ("data", .string(folder.path)),
                ("version", .string(MartletServer.version)),
            ]
        )
        let maintenance = Task { await server.maintain() }
        for await signal in terminations {
            logger.info("stopping", [("signal", .number(Double(signal)))])
            break
        }
        maintenance.cancel()
        await maintenance.value
        await server.shutdown()
        logger.info("stopped")
    }

    private static func contents(of path: String) throws -> [UInt8] {
        guard let bytes = Input.contents(of: path) else {
            throw ConfigurationError(
                "The configuration file \(path) cannot be read: \(DataFolder.reason(errno))."
            )
        }
        return bytes
    }
}
