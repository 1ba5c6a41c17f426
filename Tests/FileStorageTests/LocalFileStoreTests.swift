import FileStorage
import JSON
import Locking
import ParseCore
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

@Suite(.timeLimit(.minutes(1))) struct LocalFileStoreTests {
    @Test func `a file is read as it was saved, whole and in parts`() async throws {
        let store = try TestStore()
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
        try await store.save("a.bin", [Array(bytes[..<100_000]), Array(bytes[100_000...])])
        let file = try #require(try await store.files.open("a.bin", ofApp: "app"))
        #expect(file.size == bytes.count)
        #expect(try await file.read(from: 0, count: 1 << 20) == bytes)
        #expect(try await file.read(from: 99_999, count: 3) == Array(bytes[99_999..<100_002]))
        #expect(try await file.read(from: 299_999, count: 10) == [bytes[299_999]])
        #expect(try await file.read(from: 300_000, count: 10) == [])
        #expect(try await store.files.exists("a.bin", ofApp: "app"))
    }

    @Test func `what is not there is not opened, not described, and not deleted`() async throws {
        let store = try TestStore()
        try await store.save("a", ["x"])
        for (name, app) in [("b", "app"), ("a", "other"), ("", "app"), ("a", "")] {
            #expect(try await store.files.open(name, ofApp: app) == nil)
            #expect(try await !store.files.exists(name, ofApp: app))
            #expect(try await !store.files.delete(name, ofApp: app))
            #expect(try await store.files.attributes(of: name, ofApp: app) == nil)
        }
        #expect(try await store.text("a") == "x")
    }

    @Test func `what was said about a file goes with it`() async throws {
        let store = try TestStore()
        let said = FileAttributes(metadata: ["a": ["b": 1]], tags: ["t": "1"])
        try await store.save("a", ["x"], said)
        #expect(try await store.files.attributes(of: "a", ofApp: "app") == said)
        // A new file of the name brings its own, or none.
        try await store.save("a", ["y"])
        #expect(try await store.files.attributes(of: "a", ofApp: "app") == nil)
        try await store.save("a", ["z"], said)
        #expect(try await store.files.delete("a", ofApp: "app"))
        #expect(try await store.files.attributes(of: "a", ofApp: "app") == nil)
        #expect(store.paths.isEmpty)
    }

    /// Names that could lead out of the folder, into each other, or to what belongs to another file.
    private static let names = [
        "", ".", "..", "../a", "../../a", "/etc/passwd", "a/b", "a", "A", "aA", "Aa", "a%2Fb", "%2e%2e",
        "a\0b",
        "a\0", "a.", "a ", " a", "a\\b", "a:b", "con", "nul.txt", "+incoming", "a+about", "+about", ".a", "~",
        "a~",
        "e\u{301}", "\u{e9}", "\u{212b}", "\u{c5}", "\u{130}", "i", "_61", "_", "__", "\u{ff0e}\u{ff0e}/a",
        "-rf",
        "*", "?", "\n", "\u{202e}a", String(repeating: "a", count: 199), String(repeating: "a", count: 200),
        String(repeating: "a", count: 201), String(repeating: "a", count: 5000),
        String(repeating: "A", count: 67),
        String(repeating: "A", count: 66), String(repeating: "A", count: 300),
        String(repeating: "A", count: 299) + "B",
    ]

    @Test func `no name leads out of the folder or to another file`() async throws {
        let store = try TestStore()
        for (number, name) in Self.names.enumerated() {
            try await store.save(
                name,
                ["\(number)"],
                FileAttributes(metadata: ["n": .number(Double(number))])
            )
        }
        for (number, name) in Self.names.enumerated() {
            #expect(try await store.text(name) == "\(number)", "\(name.debugDescription)")
            let said = try await store.files.attributes(of: name, ofApp: "app")
            #expect(said?.metadata["n"]?.numberValue == Double(number))
        }
        let paths = store.paths
        #expect(paths.count == 2 * Self.names.count)
        #expect(paths.allSatisfy { $0.hasPrefix("app/") })
        // Also where a file system has no upper case.
        #expect(Set(paths.map { $0.lowercased() }).count == paths.count)
        #expect(store.folder.names == ["files"])
        for name in Self.names { #expect(try await store.files.delete(name, ofApp: "app")) }
        #expect(store.paths.isEmpty)
    }

    @Test func `no id of an app leads to another app`() async throws {
        let store = try TestStore()
        let ids = [
            "app", "APP", "App", "../app", "app/..", "..", "", "+incoming", "a/b",
            String(repeating: "A", count: 80),
        ]
        for id in ids { try await store.save("f", [id + "!"], app: id) }
        for id in ids { #expect(try await store.text("f", app: id) == id + "!") }
        #expect(store.paths.count == ids.count)
        #expect(store.folder.names == ["files"])
    }

    @Test func `files and folders are for their owner alone`() async throws {
        let store = try TestStore()
        try await store.save("a", ["x"], FileAttributes(metadata: ["a": 1]))
        for path in store.paths {
            var part = store.root
            #expect(mode(part) == 0o700)
            for name in path.split(separator: "/").dropLast() {
                part += "/" + name
                #expect(mode(part) == 0o700)
            }
            #expect(mode(store.root + "/" + path) == 0o600)
        }
    }

    @Test func `what a crash left is gone after the next start`() async throws {
        let folder = try TemporaryFolder()
        let store = try TestStore(folder: folder)
        try await store.save("a", ["x"])
        let incoming = store.root + "/+incoming"
        for name in ["0123", "4567"] { store.write("half", to: "\(incoming)/\(name)") }
        for path in ["/89ab", "/89ab/cd"] { mkdir(incoming + path, 0o700) }
        store.write("old", to: incoming + "/89ab/cd/f")
        #expect(store.incoming.count == 3)
        store.files.shutdown()
        let next = try TestStore(folder: folder)
        #expect(next.incoming.isEmpty)
        #expect(TemporaryFolder.names(in: incoming).count == 1)
        #expect(try await next.text("a") == "x")
        next.files.shutdown()
        #expect(TemporaryFolder.names(in: incoming).isEmpty)
    }

    @Test func `two stores on one folder leave each other's uploads alone`() async throws {
        let folder = try TemporaryFolder()
        let first = try TestStore(folder: folder)
        let (begun, continuation) = AsyncStream<Void>.makeStream()
        let (goOn, gate) = AsyncStream<Void>.makeStream()
        let parts = Locked(0)
        let save = Task {
            let file = NewFile {
                guard
                    parts.withLock({
                        $0 += 1; return $0
                    }) <= 2
                else { return nil }
                if parts.withLock({ $0 }) == 2 {
                    continuation.yield()
                    for await _ in goOn.prefix(1) {}
                }
                return Array("half".utf8)
            }
            try await first.files.save(file, named: "a", ofApp: "app")
        }
        for await _ in begun.prefix(1) {}
        let second = try TestStore(folder: folder)
        #expect(second.incoming.count == 1)
        gate.yield()
        try await save.value
        #expect(try await second.text("a") == "halfhalf")
        try await second.save("a", ["other"])
        #expect(try await first.text("a") == "other")
    }

    @Test func `a content that fails leaves nothing, and the old file in its place`() async throws {
        let store = try TestStore()
        try await store.save("a", ["old"])
        struct Cut: Error {}
        let parts = Locked(3)
        await #expect(throws: Cut.self) {
            let file = NewFile(attributes: FileAttributes(metadata: ["a": 1])) {
                guard
                    parts.withLock({
                        $0 -= 1; return $0
                    }) > 0
                else { throw Cut() }
                return Array("new".utf8)
            }
            try await store.files.save(file, named: "a", ofApp: "app")
        }
        #expect(store.incoming.isEmpty && store.paths.count == 1)
        #expect(try await store.text("a") == "old")
        #expect(try await store.files.attributes(of: "a", ofApp: "app") == nil)
    }

    @Test func `a save that is cancelled leaves nothing`() async throws {
        let store = try TestStore()
        let (begun, continuation) = AsyncStream<Void>.makeStream()
        let save = Task {
            let file = NewFile {
                continuation.yield()
                try await Task.sleep(for: .milliseconds(2))
                return [1]
            }
            try await store.files.save(file, named: "a", ofApp: "app")
        }
        for await _ in begun.prefix(5) {}
        #expect(store.incoming.count == 1)
        save.cancel()
        await #expect(throws: CancellationError.self) { try await save.value }
        #expect(store.incoming.isEmpty && store.paths.isEmpty)
    }

    @Test func `of many writers of one name one wins, with its content and what it said`() async throws {
        let store = try TestStore()
        for round in 0..<5 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<16 {
                    group.addTask {
                        let part = String(repeating: "\(writer % 10)", count: 1000)
                        let said: JSONObject = writer == 0 ? [:] : ["writer": .number(Double(writer))]
                        try await store.save(
                            "same",
                            (0..<8).map { _ in part },
                            FileAttributes(metadata: said)
                        )
                    }
                }
                try await group.waitForAll()
            }
            let text = try await store.text("same")
            #expect(text?.count == 8000 && Set(text ?? "").count == 1, "round \(round)")
            let said = try await store.files.attributes(of: "same", ofApp: "app")
            let writer = Int(said?.metadata["writer"]?.numberValue ?? 0)
            #expect(text?.first == Character("\(writer % 10)"), "round \(round)")
            #expect(store.paths.count <= 2 && store.incoming.isEmpty)
        }
    }

    @Test func `a reader keeps what it opened, and a new content has another version`() async throws {
        let store = try TestStore()
        try await store.save("a", ["first"])
        let old = try #require(try await store.files.open("a", ofApp: "app"))
        try await store.save("a", ["other"])
        let new = try #require(try await store.files.open("a", ofApp: "app"))
        #expect(try await old.read(from: 0, count: 9) == Array("first".utf8))
        #expect(old.version != new.version)
        #expect(try await store.files.delete("a", ofApp: "app"))
        #expect(try await new.read(from: 0, count: 9) == Array("other".utf8))
        let again = try await store.version("a", saving: "other")
        #expect(again != new.version)
    }

    @Test func `one too many is refused at once`() async throws {
        let store = try TestStore(threads: 1, queueLimit: 0)
        try await store.save("a", ["x"])
        // Opening a pipe waits for its other end, and so holds the only thread.
        let path = store.root + "/" + store.paths[0]
        unlink(path)
        mkfifo(path, 0o600)
        let errors = await withTaskGroup(of: FileStoreError?.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    do {
                        _ = try await store.files.open("a", ofApp: "app")
                        return nil
                    } catch {
                        return error as? FileStoreError
                    }
                }
            }
            var errors: [FileStoreError?] = []
            for await error in group {
                errors.append(error)
                guard errors.count == 19 else { continue }
                // Without waiting a pipe can be opened for writing only while somebody opens it for reading.
                var writer: Int32 = -1
                while writer < 0 {
                    writer = Glibc.open(path, O_WRONLY | O_NONBLOCK)
                    try? await Task.sleep(for: .milliseconds(1))
                }
                close(writer)
            }
            return errors
        }
        #expect(errors == Array(repeating: .overloaded, count: 19) + [.failed("open: this is no file")])
    }

    @Test func `the files of one app are deleted together`() async throws {
        let store = try TestStore()
        try await store.save("a", ["x"], FileAttributes(metadata: ["a": 1]))
        try await store.save("b", ["x"])
        try await store.save("a", ["kept"], app: "other")
        try LocalFileStore.removeFiles(ofApp: "app", root: store.root)
        try LocalFileStore.removeFiles(ofApp: "app", root: store.root)
        try LocalFileStore.removeFiles(ofApp: "..", root: store.root)
        #expect(store.paths.count == 1 && store.incoming.isEmpty)
        #expect(try await store.text("a", app: "other") == "kept")
        try await store.save("a", ["again"])
        #expect(try await store.text("a") == "again")
    }

    @Test func `a folder that cannot be made says so`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: FileStoreError.failed("make a folder: No such file or directory")) {
            _ = try LocalFileStore(root: folder.path + "/not/there")
        }
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }
}
