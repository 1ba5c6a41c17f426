import FileStorage
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
    /// Where uploaded files are.
    let folder: DataFolder

    /// Writes an app into a new file, which only its owner can read; `-` is standard output.
    ///
    /// A file that is not complete does not get the name.
    func export(_ app: AppRecord, to path: String) async throws {
        let files = try openFiles()
        let storage = try await store.openStorage(ofApp: app.id)
        do {
            try await write(AppExport(app, storage: storage, files: files), of: app, to: path)
            await storage.close()
        } catch {
            await storage.close()
            throw error
        }
        files?.shutdown()
    }

    /// `nil` when nobody ever kept a file there.
    private func openFiles() throws -> LocalFileStore? {
        guard access(folder.filesFolder, F_OK) == 0 else {
            Output.writeError(
                "martlet: there is no folder \(folder.filesFolder), so the export holds no uploaded files\n"
            )
            return nil
        }
        return try folder.openFiles()
    }

    private func write(_ export: AppExport, of app: AppRecord, to path: String) async throws {
        var bar = ProgressBar(total: try await export.itemCount())
        defer { bar.finish() }
        guard path != "-" else {
            let output = LineFile.standardOutput
            try await export.run(write: { try output.write($0) }, progress: { bar.show($0) })
            return
        }
        guard access(path, F_OK) != 0 else { throw ConfigurationError("There is a file \(path) already.") }
        let partial = path + ".partial"
        // What an export that was killed has left.
        unlink(partial)
        let file = try LineFile(creating: partial)
        let counts: TransferCounts
        do {
            counts = try await export.run(write: { try file.write($0) }, progress: { bar.show($0) })
            try file.finish()
        } catch {
            if file.isAt(partial) { unlink(partial) }
            throw error
        }
        // Another export to the same name may have begun meanwhile.
        guard file.isAt(partial), rename(partial, path) == 0 else {
            throw ConfigurationError("The file \(path) cannot be made: \(DataFolder.reason(errno)).")
        }
        Output.write("Exported \(Self.text(counts)) of \(app.id) to \(path).\n")
    }

    /// Makes an app from a file; `-` is standard input.
    ///
    /// When it fails nothing is left of the app.
    func importApp(from path: String) async throws {
        let file = path == "-" ? LineFile.standardInput : try LineFile(opening: path)
        let lines = TransferLines { try file.nextLine(limit: TransferLines.bytes) }
        let app = try AppImport.app(in: lines)
        guard try await store.app(id: app.id) == nil else {
            throw ConfigurationError("There is an app \"\(app.id)\" already.")
        }
        guard try await !store.hasStorage(ofApp: app.id) else {
            throw ConfigurationError(
                "There are data of an app \"\(app.id)\" already: of one that flags set, or of an import that was "
                    + "killed. \"martlet app delete \(app.id)\" deletes them."
            )
        }
        try folder.prepare()
        // Files may be there: an app can move from the folder to a database and leave them where they are.
        let hasFiles = LocalFileStore.hasFiles(ofApp: app.id, root: folder.filesFolder)
        do {
            let counts = try await read(file, lines, app)
            try await store.add(app, at: .now())
            Output.write("Imported \(Self.text(counts)) into \(app.id).\n")
        } catch {
            try? await store.discardStorage(ofApp: app.id)
            if !hasFiles { try? folder.removeFiles(ofApp: app.id) }
            throw error
        }
    }

    private func read(_ file: LineFile, _ lines: TransferLines, _ app: AppRecord) async throws
        -> TransferCounts
    {
        let files = try folder.openFiles()
        defer { files.shutdown() }
        let storage = try await store.openStorage(ofApp: app.id)
        var reader = AppImport(app, lines, into: storage, files: files)
        var bar = ProgressBar(total: file.size)
        defer { bar.finish() }
        do {
            let counts = try await reader.run { bar.show(file.position) }
            await storage.close()
            return counts
        } catch {
            await storage.close()
            throw error
        }
    }

    private static func text(_ counts: TransferCounts) -> String {
        "\(counts.rows) objects and \(counts.files) files"
    }
}
