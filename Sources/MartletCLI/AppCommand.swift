import EventLoop
import JSON
import Martlet
import ParseCore
import ParseWire

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `martlet app`.
struct AppCommand {
    private enum Action {
        case create(name: String)
        case list
        case show(id: String)
        case rotateMasterKey(id: String)
        case delete(id: String)
        case export(id: String, file: String)
        case importApp(file: String)
    }

    private let action: Action
    private let folder: DataFolder
    private let databaseURL: String?
    private let printsJSON: Bool
    private let isConfirmed: Bool

    init(_ words: [String], environment: [String: String]) throws {
        guard let name = words.first else {
            throw UsageError(
                "The command \"app\" needs one of: create, list, show, rotate-master-key, delete, export, import."
            )
        }
        let isDeletion = name == "delete"
        let wordLimit = ["list": 0, "export": 2][name] ?? 1
        let printsNothing = isDeletion || name == "export" || name == "import"
        let arguments = try Arguments(
            Array(words.dropFirst()),
            flags: ["--data", "--database"],
            switches: isDeletion ? ["--yes"] : printsNothing ? [] : ["--json"],
            wordLimit: wordLimit
        )
        var words = arguments.words[...]
        func needed(_ what: String) throws(UsageError) -> String {
            guard let word = words.popFirst() else {
                throw UsageError("The command \"app \(name)\" needs \(what).")
            }
            return word
        }
        switch name {
        case "create": action = .create(name: try needed("a name"))
        case "list": action = .list
        case "show": action = .show(id: try needed("an application id"))
        case "rotate-master-key": action = .rotateMasterKey(id: try needed("an application id"))
        case "delete": action = .delete(id: try needed("an application id"))
        case "export":
            action = .export(id: try needed("an application id"), file: try needed("a file to write"))
        case "import": action = .importApp(file: try needed("a file to read"))
        default:
            throw UsageError(
                "Unknown command \"app \(name)\": there are create, list, show, rotate-master-key, delete, "
                    + "export and import."
            )
        }
        folder = DataFolder(path: arguments["--data"] ?? environment["MARTLET_DATA"] ?? "martlet-data")
        databaseURL = try Self.databaseURL(arguments, environment)
        printsJSON = arguments.has("--json")
        isConfirmed = arguments.has("--yes")
    }

    private static func databaseURL(
        _ arguments: Arguments,
        _ environment: [String: String]
    ) throws -> String? {
        let variable = "PARSE_SERVER_DATABASE_URI"
        var reader = ConfigurationReader()
        if let text = arguments["--database"] {
            try reader.set("databaseURI", text: text, flag: "--database")
        } else if let text = environment[variable], !text.isEmpty {
            try reader.set("databaseURI", text: text, flag: variable)
        }
        return try reader.finished().databaseURL
    }

    func run() async throws {
        umask(0o077)
        // A file that may not grow further is an error of the write, as a full disk is.
        signal(SIGXFSZ, SIG_IGN)
        guard let databaseURL else { return try await run(closing: try folderStore()) }
        let loops = try EventLoopGroup()
        do {
            try await run(closing: try await PostgresStore(url: databaseURL, loops: loops.loops))
            await loops.shutdown()
        } catch {
            await loops.shutdown()
            throw error
        }
    }

    private func folderStore() throws -> FolderStore {
        guard folder.isInUse || mayMakeFolder else {
            throw ConfigurationError("The folder \(folder.path) is no data folder of martlet.")
        }
        if !folder.isInUse { Output.writeError("martlet: making a new data folder, \(folder.path)\n") }
        return try FolderStore(folder)
    }

    private func run(closing store: any DataStore) async throws {
        do {
            try await run(in: store)
            await store.close()
        } catch {
            await store.close()
            throw error
        }
    }

    private var mayMakeFolder: Bool {
        switch action {
        case .create, .importApp: true
        default: false
        }
    }

    private func run(in store: any DataStore) async throws {
        switch action {
        case .create(let name): show(try await store.createApp(named: name, at: .now()))
        case .list: list(try await store.apps())
        case .show(let id): show(try known(try await store.app(id: id), id))
        case .rotateMasterKey(let id): show(try known(try await store.rotateMasterKey(ofApp: id), id))
        case .delete(let id): try await delete(id, store)
        case .export(let id, let file):
            let app = try known(try await store.app(id: id), id)
            try await TransferCommand(store: store, folder: folder).export(app, to: file)
        case .importApp(let file):
            try await TransferCommand(store: store, folder: folder).importApp(from: file)
        }
    }

    private func known<Value>(_ value: Value?, _ id: String) throws(ConfigurationError) -> Value {
        guard let value else {
            throw ConfigurationError(
                "There is no app \"\(id)\" in \(databaseURL == nil ? folder.path : "the database")."
            )
        }
        return value
    }

    private func delete(_ id: String, _ store: any DataStore) async throws {
        let app = try await store.app(id: id)
        // What no record is kept of: an import that was killed, or an app that flags set.
        if app == nil, try await !store.hasStorage(ofApp: id) { _ = try known(app, id) }
        if !isConfirmed, isatty(STDIN_FILENO) == 1 {
            Output.write("Delete the app \"\(app?.name ?? id)\" and all its data? Type its id to confirm: ")
            guard readLine() == id else { throw ConfigurationError("Nothing was deleted.") }
        }
        if try await !store.deleteApp(id: id) { try await store.discardStorage(ofApp: id) }
        try folder.removeFiles(ofApp: id)
        Output.write("Deleted \(id).\n")
    }

    private func list(_ apps: [AppRecord]) {
        if printsJSON {
            Output.write(JSONValue.array(apps.map { .object(Self.json($0)) }).serializedString() + "\n")
            return
        }
        if apps.isEmpty { Output.write("There are no apps yet.\n") }
        for app in apps { Output.write("\(app.id)  \(app.name)\n") }
    }

    private func show(_ app: AppRecord) {
        if printsJSON {
            Output.write(JSONValue.object(Self.json(app)).serializedString() + "\n")
            return
        }
        Output.write(Self.text(app))
    }

    private func show(_ app: NewAppKeys) {
        if printsJSON {
            var object = Self.json(app.record)
            object["masterKey"] = .string(app.masterKey)
            Output.write(JSONValue.object(object).serializedString() + "\n")
            return
        }
        Output.write(Self.text(app.record))
        Output.write("Master key      \(app.masterKey)   (shown this once)\n")
    }

    private static func text(_ app: AppRecord) -> String {
        """
        Name            \(app.name)
        Application id  \(app.id)
        Client key      \(app.credentials.clientKey ?? "-")
        REST key        \(app.credentials.restAPIKey ?? "-")
        JavaScript key  \(app.credentials.javascriptKey ?? "-")

        """
    }

    private static func json(_ app: AppRecord) -> JSONObject {
        func value(_ key: String?) -> JSONValue {
            key.map(JSONValue.string) ?? .null
        }
        return [
            "name": .string(app.name), "applicationId": .string(app.id),
            "clientKey": value(app.credentials.clientKey), "restKey": value(app.credentials.restAPIKey),
            "javascriptKey": value(app.credentials.javascriptKey),
        ]
    }
}
