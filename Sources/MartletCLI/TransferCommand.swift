import JSON
import Martlet
import ParseCore
import ParseWire

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// `martlet app export` and `martlet app import`.
struct TransferCommand {
    let store: any DataStore

    /// Writes an app into a new file, which only its owner can read; `-` is standard output.
    ///
    /// A file that is not complete does not get the name.
    func export(_ app: AppRecord, to path: String) async throws {
        let storage = try await store.openStorage(ofApp: app.id)
        do {
            try await export(app, storage, to: path)
            await storage.close()
        } catch {
            await storage.close()
            throw error
        }
    }

    private func export(_ app: AppRecord, _ storage: any AppStorage, to path: String) async throws {
        let export = AppExport(app, storage: storage)
        var bar = ProgressBar(total: try await export.rowCount())
        guard path != "-" else {
            return try await export.run(write: { try LineFile.standardOutput.write($0) })
        }
        guard access(path, F_OK) != 0 else { throw ConfigurationError("There is a file \(path) already.") }
        let partial = path + ".partial"
        let file = try LineFile(creating: partial)
        do {
            try await export.run(write: { try file.write($0) }, progress: { bar.show($0) })
            try file.finish()
            guard rename(partial, path) == 0 else {
                throw ConfigurationError("The file \(path) cannot be made: \(DataFolder.reason(errno)).")
            }
        } catch {
            unlink(partial)
            throw error
        }
        bar.finish()
        Output.write("Exported \(bar.shown) objects of \(app.id) to \(path).\n")
    }

    /// Makes an app from a file; `-` is standard input.
    ///
    /// When it fails nothing is left of the app.
    func importApp(from path: String) async throws {
        let file = path == "-" ? LineFile.standardInput : try LineFile(opening: path)
        guard let first = try file.nextLine(limit: AppImport.lineBytes) else {
            throw ConfigurationError("The file is no export of martlet.")
        }
        let app = try AppImport.app(ofFirstLine: first)
        guard try await store.app(id: app.id) == nil else {
            throw ConfigurationError("There is an app \"\(app.id)\" already.")
        }
        // Whatever an import that was killed left behind.
        try await store.discardStorage(ofApp: app.id)
        let storage = try await store.openStorage(ofApp: app.id)
        do {
            let count = try await read(file, app, into: storage)
            await storage.close()
            try await store.add(app, at: .now())
            Output.write("Imported \(count) objects into \(app.id).\n")
        } catch {
            await storage.close()
            try? await store.discardStorage(ofApp: app.id)
            throw error
        }
    }

    private func read(_ file: LineFile, _ app: AppRecord, into storage: any AppStorage) async throws -> Int {
        var reader = AppImport(app, into: storage)
        var bar = ProgressBar(total: file.size)
        var number = 1
        while let line = try file.nextLine(limit: AppImport.lineBytes) {
            number += 1
            try await reader.read(line, number: number)
            bar.show(file.position)
        }
        try await reader.finished()
        bar.finish()
        return reader.rowCount
    }
}

/// How far something is, on the terminal; silent where standard error is none.
struct ProgressBar {
    private let total: Int
    private let isVisible = isatty(STDERR_FILENO) == 1
    private var percent = -1
    private(set) var shown = 0
    private static let width = 40

    init(total: Int) {
        self.total = total
    }

    mutating func show(_ done: Int) {
        shown = done
        guard isVisible, total > 0 else { return }
        let now = min(100, done * 100 / total)
        guard now != percent else { return }
        percent = now
        let full = now * Self.width / 100
        let bar = String(repeating: "#", count: full) + String(repeating: " ", count: Self.width - full)
        Output.writeError("\r[\(bar)] \(now) %")
    }

    func finish() {
        if isVisible, percent >= 0 { Output.writeError("\n") }
    }
}
