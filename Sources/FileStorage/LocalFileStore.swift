import Cryptography
import JSON
package import ParseCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The files of all apps in a folder of the local disk.
///
/// A file lies at `<app>/<shard>/<name>`, and what was said about it beside it, at `<name>+about`. Both are
/// written in an ``IncomingFolder`` and then moved, first what was said, then the file: a file that can be seen is
/// whole. Names on disk are those of ``StoredName``, which never have a `+`. Several processes may share the
/// folder. What was said about a file whose name is too long for the disk says the name, too.
package final class LocalFileStore: FileStore {
    private static let aboutSuffix = "+about"
    /// More than that is never written.
    private static let aboutBytes = 1 << 20

    private let root: String
    private let incoming: IncomingFolder
    private let work: DiskWork

    /// Opens the store, and makes its folder when there is none.
    ///
    /// Blocks while it looks for what a crash has left.
    ///
    /// - Parameters:
    ///   - root: The folder.
    ///   - threads: How many calls may wait for the disk at once.
    ///   - queueLimit: How many more may wait for a thread.
    /// - Throws: ``FileStoreError`` when the folder cannot be made or read.
    package init(root: String, threads: Int = 4, queueLimit: Int = 1024) throws(FileStoreError) {
        self.root = root
        work = DiskWork(threads: threads, queueLimit: queueLimit)
        _ = try Disk.makeFolder(root)
        incoming = try IncomingFolder(root: root)
    }

    /// Refuses what comes from now on.
    package func shutdown() {
        work.shutdown()
        incoming.giveUp()
    }

    package func save(_ file: NewFile, named name: String, ofApp appID: String) async throws {
        let folder = incoming.path
        let temporary = try await work.run { try TemporaryFile(in: folder) }
        do {
            while let bytes = try await file.content() { try await work.run { try temporary.append(bytes) } }
            let place = Place(name, appID, root)
            try await work.run { [self] in
                try temporary.finish()
                try put(temporary, named: name, file.attributes, at: place)
            }
        } catch {
            await work.tidy { temporary.discard() }
            throw error
        }
    }

    package func open(_ name: String, ofApp appID: String) async throws -> (any OpenFile)? {
        let place = Place(name, appID, root)
        return try await work.run { [work] in try LocalFile(place.file, work: work) }
    }

    package func exists(_ name: String, ofApp appID: String) async throws -> Bool {
        let place = Place(name, appID, root)
        return try await work.run { access(place.file, F_OK) == 0 }
    }

    package func delete(_ name: String, ofApp appID: String) async throws -> Bool {
        let place = Place(name, appID, root)
        return try await work.run {
            guard access(place.file, F_OK) == 0 else { return false }
            return try Self.changing(place.folder) {
                guard try Disk.remove(place.file) else { return false }
                _ = try Disk.remove(place.about)
                return true
            }
        }
    }

    package func attributes(of name: String, ofApp appID: String) async throws -> FileAttributes? {
        let place = Place(name, appID, root)
        return try await work.run { [self] in
            guard access(place.file, F_OK) == 0, let json = try about(place.file) else { return nil }
            let attributes = FileAttributes(
                metadata: json["metadata"]?.objectValue ?? JSONObject(),
                tags: json["tags"]?.objectValue ?? JSONObject()
            )
            return attributes.isEmpty ? nil : attributes
        }
    }

    /// What was said about the file of that path, with its name if it is a long one.
    func about(_ path: String) throws -> JSONValue? {
        guard let file = try LocalFile(path + Self.aboutSuffix, work: work), file.size <= Self.aboutBytes
        else {
            return nil
        }
        return try JSONValue.parse(try file.readNow())
    }

    func appFolder(_ appID: String) -> String {
        "\(root)/\(StoredName.encode(appID))"
    }

    /// Runs what waits for the disk.
    func onDisk<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await work.run(body)
    }

    /// Whether there are files of an app; blocks.
    package static func hasFiles(ofApp appID: String, root: String) -> Bool {
        access("\(root)/\(StoredName.encode(appID))", F_OK) == 0
    }

    /// Deletes all files of an app.
    ///
    /// Blocks; may be called while another process has the store open.
    ///
    /// - Throws: ``FileStoreError``.
    package static func removeFiles(ofApp appID: String, root: String) throws(FileStoreError) {
        let folder = "\(root)/\(StoredName.encode(appID))"
        // They are gone all at once, and a crash from then on is tidied up by the next start.
        let doomed = "\(root)/\(IncomingFolder.name)/\(SecureRandom.hex(byteCount: 16))"
        guard access(folder, F_OK) == 0 else { return }
        try Disk.rename(folder, to: doomed)
        try Disk.removeTree(doomed)
    }

    /// Changes entries of a folder, one writer after the other, and waits until that is on disk.
    private static func changing<Value>(_ folder: String, _ body: () throws -> Value) throws -> Value {
        let descriptor = try Disk.lockFolder(folder)
        defer { close(descriptor) }
        let value = try body()
        guard fsync(descriptor) == 0 else { throw Disk.failure("sync a folder") }
        return value
    }

    private func put(
        _ temporary: TemporaryFile,
        named name: String,
        _ attributes: FileAttributes,
        at place: Place
    ) throws {
        var about: TemporaryFile?
        if !attributes.isEmpty || !StoredName.isWhole(place.storedName) {
            var json: JSONObject = [
                "metadata": .object(attributes.metadata), "tags": .object(attributes.tags),
            ]
            if !StoredName.isWhole(place.storedName) { json.append("name", .string(name)) }
            let file = try TemporaryFile(in: incoming.path)
            try file.append(JSONValue.object(json).serialized())
            try file.finish()
            about = file
        }
        if try Disk.makeFolder(place.appFolder) { try Disk.syncFolder(root) }
        if try Disk.makeFolder(place.folder) { try Disk.syncFolder(place.appFolder) }
        try Self.changing(place.folder) {
            try about?.move(to: place.about)
            try temporary.move(to: place.file)
            if about == nil { _ = try Disk.remove(place.about) }
        }
    }

    /// The paths of one file.
    private struct Place: Sendable {
        let appFolder: String
        let folder: String
        let storedName: String
        var file: String { folder + "/" + storedName }
        var about: String { file + LocalFileStore.aboutSuffix }

        init(_ name: String, _ appID: String, _ root: String) {
            appFolder = "\(root)/\(StoredName.encode(appID))"
            folder = "\(appFolder)/\(StoredName.shard(name))"
            storedName = StoredName.encode(name)
        }
    }
}
