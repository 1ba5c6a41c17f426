import FileStorage
import Locking
import ParseCore
import TestSupport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A store in a folder of its own.
struct TestStore: Sendable {
    let folder: TemporaryFolder
    let root: String
    let files: LocalFileStore

    init(folder: TemporaryFolder? = nil, threads: Int = 4, queueLimit: Int = 1024) throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        root = folder.path + "/files"
        files = try LocalFileStore(root: root, threads: threads, queueLimit: queueLimit)
    }

    func save(
        _ name: String,
        _ parts: [String],
        _ said: FileAttributes = FileAttributes(),
        app: String = "app"
    ) async throws {
        try await save(name, parts.map { Array($0.utf8) }, said, app: app)
    }

    func save(
        _ name: String,
        _ parts: [[UInt8]],
        _ said: FileAttributes = FileAttributes(),
        app: String = "app"
    ) async throws {
        let rest = Locked(parts[...])
        let file = NewFile(attributes: said) { rest.withLock { $0.popFirst() } }
        try await files.save(file, named: name, ofApp: app)
    }

    /// The content of a file; `nil` when there is none.
    func text(_ name: String, app: String = "app") async throws -> String? {
        guard let file = try await files.open(name, ofApp: app) else { return nil }
        return String(decoding: try await file.read(from: 0, count: file.size), as: UTF8.self)
    }

    func version(_ name: String, saving text: String) async throws -> String? {
        try await save(name, [text])
        return try await files.open(name, ofApp: "app")?.version
    }

    /// The files in the store, but for those under way, by their paths from its root.
    var paths: [String] {
        TemporaryFolder.files(below: root).filter { !$0.hasPrefix("+incoming/") }
    }

    /// What is under way.
    var incoming: [String] {
        TemporaryFolder.files(below: root + "/+incoming")
    }

    func write(_ text: String, to path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        _ = Array(text.utf8).withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        close(file)
    }
}
