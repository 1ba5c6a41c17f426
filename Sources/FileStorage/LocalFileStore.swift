import JSON
import Locking
package import ParseCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The files of all apps in a folder of the local disk.
///
/// A file lies at `<app>/<shard>/<name>`, and what was said about it beside it, at `<name>+about`. Both are
/// written in the folder `+incoming` and then moved, first what was said, then the file: a file that can be
/// seen is whole. Whatever lies in `+incoming` when the store is opened was left by a crash. Names on disk are
/// those of ``StoredName``, which never have a `+`.
package final class LocalFileStore: FileStore {
    private static let incomingName = "+incoming"
    private static let aboutSuffix = "+about"
    /// More than that is never written.
    private static let aboutBytes = 1 << 20

    private let root: String
    private let work: DiskWork
    /// Two writers of one name take turns in moving their two files.
    private let turns = (0..<64).map { _ in Locked(()) }

    /// Opens the store, and makes its folder when there is none.
    ///
    /// Blocks while it looks for what a crash has left.
    ///
    /// - Parameters:
    ///   - root: The folder; no other process may have the store open.
    ///   - threads: How many calls may wait for the disk at once.
    ///   - queueLimit: How many more may wait for a thread.
    /// - Throws: ``FileStoreError`` when the folder cannot be made or read.
    package init(root: String, threads: Int = 4, queueLimit: Int = 1024) throws(FileStoreError) {
        self.root = root
        work = DiskWork(threads: threads, queueLimit: queueLimit)
        _ = try Disk.makeFolder(root)
        let incoming = "\(root)/\(Self.incomingName)"
        _ = try Disk.makeFolder(incoming)
        for name in try Disk.names(in: incoming) { try Disk.removeTree("\(incoming)/\(name)") }
    }

    /// Refuses what comes from now on.
    package func shutdown() { work.shutdown() }

    package func save(_ file: NewFile, named name: String, ofApp appID: String) async throws {
        let incoming = self.incoming
        let temporary = try await work.run { try TemporaryFile(in: incoming) }
        do {
            while let bytes = try await file.content() { try await work.run { try temporary.append(bytes) } }
            let place = Place(name, appID, root)
            try await work.run { [self] in
                try temporary.finish()
                try put(temporary, file.attributes, at: place)
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
        return try await work.run { [self] in
            try turn(of: place).withLock { _ in
                guard try Disk.remove(place.file) else { return false }
                _ = try Disk.remove(place.about)
                try Disk.syncFolder(place.folder)
                return true
            }
        }
    }

    package func attributes(of name: String, ofApp appID: String) async throws -> FileAttributes? {
        let place = Place(name, appID, root)
        return try await work.run { [work] in
            guard access(place.file, F_OK) == 0, let about = try LocalFile(place.about, work: work),
                about.size <= Self.aboutBytes
            else { return nil }
            let json = try JSONValue.parse(try about.readNow())
            return FileAttributes(
                metadata: json["metadata"]?.objectValue ?? JSONObject(),
                tags: json["tags"]?.objectValue ?? JSONObject()
            )
        }
    }

    /// Deletes all files of an app.
    ///
    /// Blocks; may be called while another process has the store open.
    ///
    /// - Throws: ``FileStoreError``.
    package static func removeFiles(ofApp appID: String, root: String) throws(FileStoreError) {
        let folder = "\(root)/\(StoredName.encode(appID))"
        // They are gone all at once, and a crash from then on is tidied up by the next start.
        let doomed = "\(root)/\(incomingName)/deleted-\(StoredName.encode(appID))"
        guard access(folder, F_OK) == 0 else { return }
        try Disk.removeTree(doomed)
        try Disk.rename(folder, to: doomed)
        try Disk.removeTree(doomed)
    }

    private var incoming: String { "\(root)/\(Self.incomingName)" }

    private func turn(of place: Place) -> Locked<()> {
        turns[Int(UInt(bitPattern: place.file.hashValue) % UInt(turns.count))]
    }

    private func put(_ temporary: TemporaryFile, _ attributes: FileAttributes, at place: Place) throws {
        var about: TemporaryFile?
        if !attributes.isEmpty {
            let json: JSONValue = [
                "metadata": .object(attributes.metadata), "tags": .object(attributes.tags),
            ]
            let file = try TemporaryFile(in: incoming)
            try file.append(json.serialized())
            try file.finish()
            about = file
        }
        if try Disk.makeFolder(place.appFolder) { try Disk.syncFolder(root) }
        if try Disk.makeFolder(place.folder) { try Disk.syncFolder(place.appFolder) }
        try turn(of: place).withLock { [about] _ in
            try about?.move(to: place.about)
            try temporary.move(to: place.file)
            if about == nil { _ = try Disk.remove(place.about) }
            try Disk.syncFolder(place.folder)
        }
    }

    /// The paths of one file.
    private struct Place: Sendable {
        let appFolder: String
        let folder: String
        let file: String
        var about: String { file + LocalFileStore.aboutSuffix }

        init(_ name: String, _ appID: String, _ root: String) {
            appFolder = "\(root)/\(StoredName.encode(appID))"
            folder = "\(appFolder)/\(StoredName.shard(name))"
            file = "\(folder)/\(StoredName.encode(name))"
        }
    }
}
