package import FileStorage

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The folder that holds everything: the control database and a database for each app.
package struct DataFolder: Sendable, Hashable {
    package let path: String

    package init(path: String) {
        self.path = path.count > 1 && path.last == "/" ? String(path.dropLast()) : path
    }

    package var controlDatabase: String {
        path + "/martlet.db"
    }

    private var lockFile: String {
        path + "/martlet.lock"
    }

    private var appsFolder: String {
        path + "/apps"
    }

    /// Where the files of all apps are.
    package var filesFolder: String {
        path + "/files"
    }

    /// The longest id of an app, in bytes; three times as many fit into the name of a file.
    package static let appIDLimit = 80

    /// The database file of an app; characters of the id that a file name cannot hold, or that some file
    /// systems do not tell apart, are written as numbers.
    package func database(ofApp id: String) -> String {
        let name = id.utf8.map { byte -> String in
            let isPlain =
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
            return isPlain ? String(UnicodeScalar(byte)) : "_" + Self.hex(byte)
        }
        return "\(appsFolder)/\(name.joined()).db"
    }

    /// Makes the folder, readable by its owner alone, or finds it as it should be.
    ///
    /// - Throws: ``ConfigurationError`` for a folder that holds something else, or that cannot be written.
    package func prepare() throws(ConfigurationError) {
        try makeParents()
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw ConfigurationError("The data folder \(path) cannot be made: \(Self.reason(errno)).")
        }
        try checkContents()
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            throw ConfigurationError("The data folder \(path) cannot be written: \(Self.reason(errno)).")
        }
        if mkdir(appsFolder, 0o700) != 0, errno != EEXIST {
            throw ConfigurationError("The folder \(appsFolder) cannot be made: \(Self.reason(errno)).")
        }
    }

    /// Whether there is a control database in it.
    package var isInUse: Bool {
        access(controlDatabase, F_OK) == 0
    }

    /// Opens what clients have uploaded, and makes the folder when there is none.
    package func openFiles() throws(ConfigurationError) -> LocalFileStore {
        do {
            return try LocalFileStore(root: filesFolder)
        } catch {
            throw ConfigurationError("The folder \(filesFolder) cannot be used: \(error).")
        }
    }

    /// Whether there is a database of an app.
    package func hasDatabase(ofApp id: String) -> Bool {
        access(database(ofApp: id), F_OK) == 0
    }

    /// Deletes the files that clients of an app have uploaded.
    package func removeFiles(ofApp id: String) throws(ConfigurationError) {
        do {
            try LocalFileStore.removeFiles(ofApp: id, root: filesFolder)
        } catch {
            throw ConfigurationError("The files of the app \"\(id)\" cannot be deleted: \(error).")
        }
    }

    /// Deletes the files of an app's database.
    package func removeDatabase(ofApp id: String) throws(ConfigurationError) {
        for suffix in ["", "-wal", "-shm"] {
            let file = database(ofApp: id) + suffix
            guard unlink(file) == 0 || errno == ENOENT else {
                throw ConfigurationError("The file \(file) cannot be deleted: \(Self.reason(errno)).")
            }
        }
    }

    private func makeParents() throws(ConfigurationError) {
        var partial = path.first == "/" ? "" : "."
        for part in path.split(separator: "/").dropLast() {
            partial += "/" + part
            if mkdir(partial, 0o755) != 0, errno != EEXIST {
                throw ConfigurationError("The folder \(partial) cannot be made: \(Self.reason(errno)).")
            }
        }
    }

    private func checkContents() throws(ConfigurationError) {
        guard let names = Self.names(in: path) else {
            throw ConfigurationError("The data folder \(path) cannot be read: \(Self.reason(errno)).")
        }
        let foreign = names.filter {
            !$0.hasPrefix("martlet.") && $0 != "apps" && $0 != "files" && $0 != "lost+found"
        }
        guard names.contains("martlet.db") || foreign.isEmpty else {
            throw ConfigurationError(
                "The folder \(path) is no data folder of martlet: it holds \(foreign.sorted()[0]) and no martlet.db."
            )
        }
    }

    private static func names(in path: String) -> [String]? {
        guard let folder = opendir(path) else { return nil }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    package static func reason(_ number: Int32) -> String {
        String(cString: strerror(number))
    }

    private static func hex(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16)
        return text.utf8.count == 1 ? "0" + text : text
    }
}

extension DataFolder {
    /// Takes the folder for this process, for as long as it lives.
    ///
    /// - Throws: ``ConfigurationError`` when another process has it.
    package func lock() throws(ConfigurationError) -> FolderLock {
        let descriptor = open(lockFile, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw ConfigurationError("The data folder \(path) cannot be written: \(Self.reason(errno)).")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            var buffer = [UInt8](repeating: 0, count: 32)
            let count = max(0, pread(descriptor, &buffer, buffer.count, 0))
            close(descriptor)
            let owner = String(decoding: buffer[..<count], as: UTF8.self).filter(\.isNumber)
            let process = owner.isEmpty ? "" : " (process \(owner))"
            throw ConfigurationError("The data folder \(path) is in use by another martlet\(process).")
        }
        let text = Array("\(getpid())\n".utf8)
        ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
        return FolderLock(descriptor: descriptor)
    }
}

/// Holds a data folder for one process; the system gives it back when the process ends, however it ends.
package final class FolderLock: Sendable {
    private let descriptor: Int32

    fileprivate init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }
}
