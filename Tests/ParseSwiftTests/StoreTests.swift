import Foundation
import Locking
import Testing

@testable import ParseSwift

#if os(Linux)
    import Glibc

    /// A directory of a test's own.
    private func scratch() -> String {
        let path = NSTemporaryDirectory() + "parse-swift-tests-" + UUID().uuidString
        mkdir(path, 0o700)
        return path
    }

    private func mode(_ path: String) -> mode_t {
        var info = stat()
        return lstat(path, &info) == 0 ? info.st_mode & 0o777 : 0
    }

    private struct Item: Codable, Equatable {
        var token: String
    }

    @Suite struct FileStoreTests {
        let base = scratch()
        var folder: String { base + "/data/parse-swift/prog/app%2f1" }

        func store(_ service: SecretService = SecretService(isDisabled: true)) -> LinuxStore {
            PlatformStore.linux(base: base + "/data", "app/1", service: service, program: "prog")
        }

        @Test func `what is written is read by another process, and only this user can`() throws {
            try store().write(Item(token: "r:1"), for: .user)
            #expect(try store().read(Item.self, for: .user) == Item(token: "r:1"))
            #expect(mode(folder + "/_currentUser.json") == 0o600)
            for path in [
                "/data", "/data/parse-swift", "/data/parse-swift/prog", "/data/parse-swift/prog/app%2f1",
            ] {
                #expect(mode(base + path) == 0o700)
            }
            try store().remove(.user)
            #expect(try store().read(Item.self, for: .user) == nil)
            try store().remove(.user)
        }

        @Test func `the token is in no other file`() throws {
            let store = store()
            try store.write(Item(token: "r:secret"), for: .user)
            try store.write(Item(token: "r:secret2"), for: .user)
            _ = try store.create(Item(token: "installation"), for: .installation)
            let files = try FileManager.default.subpathsOfDirectory(atPath: base).filter {
                ((try? String(contentsOfFile: base + "/" + $0, encoding: .utf8)) ?? "").contains("r:secret")
            }
            #expect(files == ["data/parse-swift/prog/app%2f1/_currentUser.json"])
        }

        @Test func `another app or program has another place`() throws {
            try store().write(Item(token: "r:1"), for: .user)
            let service = SecretService(isDisabled: true)
            let places = [("app/2", "prog"), ("app/1", "prog2"), ("app%2f1", "prog"), ("..", "prog")]
            for (app, program) in places {
                let other = PlatformStore.linux(base: base + "/data", app, service: service, program: program)
                #expect(try other.read(Item.self, for: .user) == nil, "\(app)")
                try other.write(Item(token: "x"), for: .user)
            }
            #expect(try store().read(Item.self, for: .user) == Item(token: "r:1"))
        }

        @Test func `a file that others can read is closed to them`() throws {
            try store().write(Item(token: "r:1"), for: .user)
            chmod(folder + "/_currentUser.json", 0o644)
            #expect(try store().read(Item.self, for: .user) == Item(token: "r:1"))
            #expect(mode(folder + "/_currentUser.json") == 0o600)
        }

        @Test func `something in the way is not an empty store`() throws {
            // Root may read everything, so the way is barred by a file instead of a mode.
            mkdir(base + "/data", 0o700)
            _ = FileManager.default.createFile(atPath: base + "/data/parse-swift", contents: Data())
            #expect(throws: StoreError.self) { try store().read(Item.self, for: .user) }
            #expect(throws: StoreError.self) { try store().write(Item(token: "r:1"), for: .user) }
            #expect(throws: StoreError.self) { try store().create(Item(token: "r:1"), for: .installation) }
        }

        @Test(arguments: ["", "{", #"{"value":1}"#, "\u{0}"])
        func `a damaged file is not an empty store, and stays`(text: String) throws {
            try store().write(Item(token: "r:1"), for: .user)
            let path = folder + "/_currentUser.json"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: (any Error).self) { try store().read(Item.self, for: .user) }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
            try store().write(Item(token: "r:2"), for: .user)
            #expect(try store().read(Item.self, for: .user) == Item(token: "r:2"))
        }

        @Test func `a link is not followed, and a directory is not a file`() throws {
            try store().write(Item(token: "r:1"), for: .installation)
            let path = folder + "/_currentUser.json"
            symlink(folder + "/_currentInstallation.json", path)
            #expect(throws: StoreError.self) { try store().read(Item.self, for: .user) }
            unlink(path)
            mkdir(path, 0o700)
            #expect(throws: StoreError.self) { try store().read(Item.self, for: .user) }
        }

        @Test func `a file over the limit is refused, one at the limit is read`() throws {
            let directory = PrivateDirectory(base: base, own: ["x"])
            try directory.write(Data(count: PrivateDirectory.fileLimit), "a")
            #expect(try directory.read("a")?.count == PrivateDirectory.fileLimit)
            try directory.write(Data(count: PrivateDirectory.fileLimit + 1), "a")
            #expect(throws: StoreError.self) { try directory.read("a") }
        }

        @Test func `of many who make an item at once all get the same`() async throws {
            let base = base
            let items = await withTaskGroup(of: String?.self) { group in
                for number in 0..<24 {
                    group.addTask {
                        let store = PlatformStore.linux(
                            base: base,
                            "app",
                            service: SecretService(isDisabled: true),
                            program: "prog"
                        )
                        return try? store.create(Item(token: "\(number)"), for: .installation).token
                    }
                }
                return await group.reduce(into: [String?]()) { $0.append($1) }
            }
            #expect(items.count == 24)
            #expect(Set(items).count == 1 && items[0] != nil)
        }

        @Test func `readers beside writers see whole items`() async throws {
            let base = base
            let isWhole = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        let store = PlatformStore.linux(
                            base: base,
                            "app",
                            service: SecretService(isDisabled: true),
                            program: "prog"
                        )
                        if number % 3 == 0 {
                            return
                                (try? store.write(
                                    Item(token: String(repeating: "x", count: 9000)),
                                    for: .user
                                ))
                                != nil
                        }
                        do {
                            return try (store.read(Item.self, for: .user)?.token.count ?? 9000) == 9000
                        } catch {
                            return false
                        }
                    }
                }
                return await group.reduce(true) { $0 && $1 }
            }
            #expect(isWhole)
            let left = try FileManager.default.contentsOfDirectory(atPath: base + "/parse-swift/prog/app")
            #expect(left.sorted() == ["_currentUser.json", "lock"])
        }

        @Test func `a session in a Secret Service that is gone is unknown, not absent`() throws {
            _ = try store().create(Item(token: "i"), for: .installation)
            _ = FileManager.default.createFile(atPath: folder + "/secret-service", contents: Data())
            #expect(throws: StoreError.self) { try store().read(Item.self, for: .user) }
            // A log-out holds all the same, and so does a log-in after it.
            try store().remove(.user)
            #expect(try store().read(Item.self, for: .user) == nil)
            try store().write(Item(token: "r:2"), for: .user)
            #expect(try store().read(Item.self, for: .user) == Item(token: "r:2"))
        }

        @Test func `a service that does not answer is given up once and for all`() throws {
            let gate = Gate()
            defer { gate.open() }
            let calls = Locked(0)
            let hung = SecretService(limit: .milliseconds(150), isDisabled: false) {
                calls.withLock { $0 += 1 }
                gate.wait()
            }
            let started = Date()
            try store(hung).write(Item(token: "r:1"), for: .user)
            #expect(try store(hung).read(Item.self, for: .user) == Item(token: "r:1"))
            #expect(!hung.isUsable())
            #expect(calls.withLock { $0 } == 1)
            let duration = Date().timeIntervalSince(started)
            #expect(duration >= 0.15 && duration < 2)
            #expect(mode(folder + "/_currentUser.json") == 0o600)
        }

        @Test func `the place follows the environment`() {
            #expect(PlatformStore.dataHome(["XDG_DATA_HOME": "/x", "HOME": "/h"]) == "/x")
            #expect(PlatformStore.dataHome(["XDG_DATA_HOME": "relative", "HOME": "/h"]) == "/h/.local/share")
            #expect(PlatformStore.dataHome(["HOME": "/h"]) == "/h/.local/share")
        }

        @Test func `names become safe names of files`() {
            #expect(PlatformStore.fileName("My-App_1") == "My-App_1")
            #expect(PlatformStore.fileName("../a b") == "%2e%2e%2fa%20b")
            #expect(PlatformStore.fileName("") == "%")
        }

        @Test func `without a bus the service is found out quickly and the file is used`() throws {
            guard getenv("DBUS_SESSION_BUS_ADDRESS") == nil, getenv("DISPLAY") == nil else { return }
            let started = Date()
            let store = store(SecretService())
            try store.write(Item(token: "r:1"), for: .user)
            #expect(try store.read(Item.self, for: .user) == Item(token: "r:1"))
            #expect(Date().timeIntervalSince(started) < 2.5)
            #expect(FileManager.default.fileExists(atPath: folder + "/_currentUser.json"))
        }
    }

    /// Needs a bus with an unlocked Secret Service; the command is in Tests/ParseSwiftTests/README.md.
    @Suite(
        .serialized,
        .enabled(if: ProcessInfo.processInfo.environment["MARTLET_TEST_SECRET_SERVICE"] == "1")
    )
    struct SecretServiceTests {
        let base = scratch()
        let program = "prog-" + UUID().uuidString
        var folder: String { base + "/parse-swift/\(PlatformStore.fileName(program))/app" }
        var file: String { folder + "/_currentUser.json" }

        func store(_ service: SecretService = SecretService()) -> LinuxStore {
            PlatformStore.linux(base: base, "app", service: service, program: program)
        }

        @Test func `a session is stored in the service and in no file`() throws {
            #expect(SecretService().isUsable())
            try store().write(Item(token: "r:ü1"), for: .user)
            #expect(try store().read(Item.self, for: .user) == Item(token: "r:ü1"))
            #expect(!FileManager.default.fileExists(atPath: file))
            #expect(FileManager.default.fileExists(atPath: folder + "/secret-service"))
            try store().write(Item(token: "r:2"), for: .user)
            #expect(try store().read(Item.self, for: .user) == Item(token: "r:2"))
            try store().remove(.user)
            #expect(try store().read(Item.self, for: .user) == nil)
        }

        @Test func `a session in the file moves to the service with the next write`() throws {
            try store(SecretService(isDisabled: true)).write(Item(token: "r:1"), for: .user)
            #expect(try store().read(Item.self, for: .user) == Item(token: "r:1"))
            try store().write(Item(token: "r:2"), for: .user)
            #expect(!FileManager.default.fileExists(atPath: file))
            #expect(try store().read(Item.self, for: .user) == Item(token: "r:2"))
            try store().remove(.user)
        }

        @Test func `the newest copy counts when the service was away for a while`() throws {
            let away = SecretService(isDisabled: true)
            try store().write(Item(token: "r:1"), for: .user)
            #expect(throws: StoreError.self) { try store(away).read(Item.self, for: .user) }
            try store(away).write(Item(token: "r:2"), for: .user)
            #expect(try store().read(Item.self, for: .user) == Item(token: "r:2"))
            try store(away).remove(.user)
            #expect(try store().read(Item.self, for: .user) == nil)
            try store().write(Item(token: "r:3"), for: .user)
            #expect(try store().read(Item.self, for: .user) == Item(token: "r:3"))
            try store().remove(.user)
            #expect(try store().read(Item.self, for: .user) == nil)
        }

        @Test func `a session is found when the directory was deleted, and can be logged out`() throws {
            try store().write(Item(token: "r:1"), for: .user)
            try FileManager.default.removeItem(atPath: base + "/parse-swift")
            #expect(try store().read(Item.self, for: .user) == Item(token: "r:1"))
            try store().remove(.user)
            try FileManager.default.removeItem(atPath: base + "/parse-swift")
            #expect(try store().read(Item.self, for: .user) == nil)
        }

        @Test func `threads may use it at once`() async throws {
            let store = store()
            let isGood = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<12 {
                    group.addTask {
                        (try? store.write(Item(token: "r:\(number)"), for: .user)) != nil
                            && (try? store.read(Item.self, for: .user)) != nil
                    }
                }
                return await group.reduce(true) { $0 && $1 }
            }
            #expect(isGood)
            try store.remove(.user)
        }
    }
#endif
