import Foundation
import JSON
import TestSupport
import Testing

/// `martlet app export` and `martlet app import`: an app moves wholly or not at all.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct TransferTests {
    @Test(.enabled(if: PostgresServer.isInstalled))
    func `an app goes from a folder to PostgreSQL and back, and each export is the same`() async throws {
        let origin = try await Place.folder()
        let app = try await MovedApp.make(in: origin)
        try await app.check(in: origin)
        let first = try await origin.export(app.id)
        #expect(first.output.hasPrefix("Exported "))
        #expect(first.output.contains(" objects and \(app.files.count) files of \(app.id) to "))

        let database = try await Place.database()
        let second = try await database.take(first.path, app)
        try Self.expectEqual(first.path, second.path)

        let last = try await Place.folder()
        let third = try await last.take(second.path, app)
        try Self.expectEqual(first.path, third.path)
        // The owner alone can read it.
        let mode = try FileManager.default.attributesOfItem(atPath: first.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    /// Tells the first line that differs.
    private static func expectEqual(_ one: String, _ other: String) throws {
        let manager = FileManager.default
        guard manager.contents(atPath: one) != manager.contents(atPath: other) else { return }
        let lines = try [one, other].map {
            try String(contentsOfFile: $0, encoding: .utf8).split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
        }
        #expect(lines[0].count == lines[1].count)
        for (number, pair) in zip(lines[0], lines[1]).enumerated()
        where !pair.0.utf8.elementsEqual(pair.1.utf8) {
            Issue.record("line \(number + 1):\n\(pair.0.prefix(2000))\n\(pair.1.prefix(2000))")
            return
        }
    }

    @Test func `standard output and input serve as files`() async throws {
        let origin = try await Place.folder()
        let app = try await MovedApp.make(in: origin)
        let file = try await origin.export(app.id)
        let piped = try await ProgramRun.run(
            [ProductPath.martlet, "app", "export", app.id, "-"] + origin.flags
        )
        #expect(piped.status == 0)
        #expect(piped.errors.isEmpty)
        #expect(try piped.output.utf8.elementsEqual(String(contentsOfFile: file.path, encoding: .utf8).utf8))
        let target = try await Place.folder()
        let result = try await ProgramRun.run(
            [ProductPath.martlet, "app", "import", "-"] + target.flags,
            input: piped.output
        )
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("Imported "))
        #expect(!result.errors.contains("%"))
        let again = try await target.export(app.id)
        try Self.expectEqual(file.path, again.path)
    }

    @Test func `no file is written over and no app is made twice`() async throws {
        let place = try await Place.folder()
        let app = try await MovedApp.make(in: place)
        let file = try await place.export(app.id)
        let before = try Data(contentsOf: URL(fileURLWithPath: file.path))
        let again = try await ProgramRun.run(
            [ProductPath.martlet, "app", "export", app.id, file.path] + place.flags
        )
        #expect(again.status == 2)
        #expect(again.errors == "martlet: There is a file \(file.path) already.\n")
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == before)
        let twice = try await place.load(file.path)
        #expect(twice.status == 2)
        #expect(twice.errors == "martlet: There is an app \"\(app.id)\" already.\n")
        try await app.check(in: place)
        let unknown = try await ProgramRun.run(
            [ProductPath.martlet, "app", "export", "nobody", file.path + "2"] + place.flags
        )
        #expect(unknown.status == 2)
        #expect(unknown.errors.hasPrefix("martlet: There is no app \"nobody\" in "))
        #expect(!FileManager.default.fileExists(atPath: file.path + "2"))
    }

    @Test func `the data of an app that flags set are not written over`() async throws {
        let origin = try await Place.folder()
        let app = try await MovedApp.make(in: origin)
        let file = try await origin.export(app.id)
        let target = try await Place.folder()
        let pinned = try await ServerProcess(
            dataFolder: target.data,
            arguments: ["--app-id", app.id, "--master-key", "m", "--client-key", "client"]
        )
        var api = API(port: pinned.port)
        api.applicationID = app.id
        api.masterKey = "m"
        let object = try await api.call("POST", "/classes/Kept", ["a": 1], asMaster: true)
        #expect(object.status == 201)
        let refused = try await target.load(file.path)
        #expect(refused.status == 2)
        #expect(refused.errors.hasPrefix("martlet: There are data of an app \"\(app.id)\" already"))
        #expect(try await api.call("GET", "/classes/Kept")["results"]?.arrayValue?.count == 1)
        await pinned.stop()
        // Who wants the place for the app can have it.
        let deleted = try await ProgramRun.run(
            [ProductPath.martlet, "app", "delete", app.id, "--yes"] + target.flags
        )
        #expect(deleted.status == 0)
        #expect(try await target.load(file.path).status == 0)
        try await app.check(in: target)
    }

    // MARK: Files that are refused

    private enum Store: String, CaseIterable, CustomTestStringConvertible {
        case folder, database

        var testDescription: String { rawValue }

        func place() async throws -> Place {
            switch self {
            case .folder: try await .folder()
            case .database: try await .database()
            }
        }
    }

    @Test func `what is no whole export is refused and leaves nothing`() async throws {
        let origin = try await Place.folder()
        let app = try await MovedApp.make(in: origin)
        let path = try await origin.export(app.id).path
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        let stores = Store.allCases.filter { $0 == .folder || PostgresServer.isInstalled }
        for store in stores {
            let target = try await store.place()
            let empty = try await target.contents()
            // What the reader finds is the same for all stores; what is left of it is not.
            let some = ["half", "cut in a file", "a row twice", "more"]
            for (name, text, message) in Self.broken(lines) where store == .folder || some.contains(name) {
                let file = origin.folder.path + "/broken"
                try text.write(toFile: file, atomically: true, encoding: .utf8)
                let result = try await target.load(file)
                let what = "\(store) \(name): \(result.status) \(result.errors)"
                #expect(result.status == 2, "\(what)")
                #expect(result.errors.contains(message), "\(what)")
                let news = result.errors.split(separator: "\n").filter {
                    !$0.contains("making a new data folder")
                }
                #expect(news.count == 1, "\(what)")
                #expect(try await target.contents() == empty, "\(what)")
            }
            let file = origin.folder.path + "/whole"
            try? FileManager.default.removeItem(atPath: file)
            try FileManager.default.copyItem(atPath: path, toPath: file)
            #expect(try await target.apps() == "[]\n")
            #expect(try await target.load(file).status == 0)
        }
        let missing = try await origin.load("/nowhere/file")
        #expect(missing.status == 2)
        #expect(
            missing.errors == "martlet: The file /nowhere/file cannot be read: No such file or directory.\n"
        )
    }

    private static func broken(_ lines: [String]) -> [(String, String, String)] {
        func text(_ lines: [String]) -> String { lines.joined(separator: "\n") + "\n" }
        func first(_ mark: String) -> Int { lines.firstIndex { $0.contains(mark) } ?? 0 }
        let (row, bytes) = (first("{\"row\""), first("\"aGVsbG8=\""))
        let file = bytes - 1
        var garbled = lines
        garbled[row] = String(lines[row].dropLast(3))
        var shortened = lines
        shortened[bytes] = #"{"bytes":"AAAA"}"#
        var lengthened = lines
        lengthened[bytes] = "{\"bytes\":\"\(String(repeating: "AAAA", count: 16_000))\"}"
        var misspelt = lines
        misspelt[bytes] = #"{"bytes":"!!!!"}"#
        var unknown = lines
        unknown[row] = #"{"rows":1}"#
        var later = lines
        later[0] = lines[0].replacingOccurrences(of: #""martlet":1"#, with: #""martlet":2"#)
        var nobody = lines
        nobody[0] = #"{"martlet":1,"app":{"id":""}}"#
        let incomplete = "The file is not complete"
        return [
            ("empty", "", "The file is no export of martlet."),
            ("garbage", "\u{1}\u{2}garbage\n", "The file is no export of martlet."),
            ("other JSON", "{}\n", "The file is no export of martlet."),
            ("later", text(later), "The file was written by a later version of martlet."),
            ("no app", text(nobody), "The file cannot be read: its app is malformed."),
            ("no end", text(Array(lines.dropLast())), incomplete),
            ("head alone", text(Array(lines.prefix(1))), incomplete),
            ("half", text(Array(lines.prefix(row + 1))), incomplete),
            ("cut in a line", String(text(lines).dropLast(20)), "cannot be read: it is no JSON"),
            ("cut in a file", text(Array(lines.prefix(bytes))), "are malformed or missing"),
            ("a row less", text(lines.enumerated().filter { $0.offset != row }.map(\.element)), incomplete),
            ("a row twice", text(Array(lines[...row] + lines[row...])), "The database does not take"),
            ("garbled", text(garbled), "Line \(row + 1) of the file cannot be read: it is no JSON"),
            ("unknown", text(unknown), "Line \(row + 1) of the file cannot be read: it says nothing known."),
            ("more", text(lines + [lines[row]]), "something follows the end"),
            ("a short file", text(shortened), "malformed"),
            ("a long file", text(lengthened), "are malformed or missing"),
            ("no Base64", text(misspelt), "are malformed or missing"),
            (
                "bytes alone", text(lines.enumerated().filter { $0.offset != file }.map(\.element)),
                "nothing known"
            ),
        ]
    }

    // MARK: Exports that are interrupted

    @Test func `an export that is interrupted leaves no file of its name`() async throws {
        let place = try await Place.folder()
        let app = try await MovedApp.make(in: place, fileBytes: 4_000_000)
        let target = place.folder.path + "/target"
        let full = try await ProgramRun.run(
            [
                "bash", "-c", "ulimit -f 1000; exec \"$@\"", "limited", ProductPath.martlet, "app", "export",
                app.id,
                target,
            ] + place.flags
        )
        #expect(full.status == 2)
        #expect(full.errors == "martlet: The file \(target).partial cannot be written: File too large.\n")
        #expect(!FileManager.default.fileExists(atPath: target))
        #expect(!FileManager.default.fileExists(atPath: target + ".partial"))

        let killed = try ProgramRun([ProductPath.martlet, "app", "export", app.id, target] + place.flags)
        while !FileManager.default.fileExists(atPath: target + ".partial") {
            try await Task.sleep(for: .milliseconds(1))
        }
        killed.signal(SIGKILL)
        #expect(await killed.result().status == -SIGKILL)
        #expect(!FileManager.default.fileExists(atPath: target))
        // What is left is in nobody's way.
        let again = try await ProgramRun.run(
            [ProductPath.martlet, "app", "export", app.id, target] + place.flags
        )
        #expect(again.status == 0, "\(again.errors)")
        #expect(!FileManager.default.fileExists(atPath: target + ".partial"))
        let other = try await Place.folder()
        #expect(try await other.load(target).status == 0)
        try await app.check(in: other)
    }

    @Test func `a bar shows how far it is, on a terminal alone`() async throws {
        let place = try await Place.folder()
        let app = try await MovedApp.make(in: place)
        let file = place.folder.path + "/shown"
        let flags = place.flags.joined(separator: " ")
        let shown = try await ProgramRun.run(
            ["script", "-qec", "\(ProductPath.martlet) app export \(app.id) \(file) \(flags)", "/dev/null"]
        )
        #expect(shown.status == 0, "\(shown.output)")
        #expect(shown.output.contains("] 100 %"))
        #expect(shown.output.contains("Exported "))
        let target = try await Place.folder()
        let words = "app import \(file) \(target.flags.joined(separator: " "))"
        let read = try await ProgramRun.run([
            "script", "-qec", "\(ProductPath.martlet) \(words)", "/dev/null",
        ])
        #expect(read.output.contains("] 100 %"), "\(read.output)")
        let silent = try await place.export(app.id)
        #expect(silent.errors.isEmpty)
        #expect(!silent.output.contains("%"))
    }

    // MARK: Memory

    @Test func `many rows and a large file take little memory`() async throws {
        let rows = 3_000
        let place = try await Place.folder()
        let path = place.folder.path + "/many"
        try Self.writeMany(rows: rows, to: path)
        let (read, readPeak) = try await Self.peak(["import", path] + place.flags)
        #expect(read.status == 0, "\(read.errors)")
        let (written, writtenPeak) = try await Self.peak(["export", "many", path + "2"] + place.flags)
        #expect(written.status == 0, "\(written.errors)")
        print("memory in MiB: import \(readPeak >> 10), export \(writtenPeak >> 10)")
        #expect(readPeak > 0 && readPeak < 150 << 10)
        #expect(writtenPeak > 0 && writtenPeak < 150 << 10)
        // The classes that every app has come first, and are counted at the end.
        let parts = try [path, path + "2"].map { path in
            try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
                .filter { $0.hasPrefix("{\"row") || $0.hasPrefix("{\"bytes") }
        }
        #expect(parts[0] == parts[1])
    }

    /// An export of an app with many rows and a file of 4.8 MB.
    static func writeMany(rows: Int, to path: String) throws {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = try #require(FileHandle(forWritingAtPath: path))
        func write(_ text: String) throws { try file.write(contentsOf: Data(text.utf8)) }
        let hash = String(repeating: "ab", count: 32)
        try write(
            """
            {"martlet":1,"app":{"id":"many","name":"Many","clientKey":null,"restAPIKey":null,"javascriptKey":null,\
            "masterKeyHash":"\(hash)"}}
            {"class":{"name":"Many","fields":[{"name":"number","type":"Number"},{"name":"text","type":"String"}]}}

            """
        )
        let filler = String(repeating: "x", count: 100)
        for number in 0..<rows {
            let id = "r" + String(String(10_000_000 + number).dropFirst())
            try write(
                """
                {"row":"Many","object":{"id":"\(id)","created":1,"updated":2,\
                "fields":{"number":\(number),"text":"\(filler)"}}}

                """
            )
        }
        let chunk = String(repeating: "QUJD", count: 16_000)
        try write("{\"file\":\"large\",\"metadata\":{},\"tags\":{},\"size\":4800000}\n")
        for _ in 0..<100 { try write("{\"bytes\":\"\(chunk)\"}\n") }
        try write("{\"end\":{\"classes\":1,\"rows\":\(rows),\"links\":0,\"files\":1}}\n")
        try file.close()
    }

    /// Runs a command of `martlet app`; the most memory that it had, in KiB.
    private static func peak(_ words: [String]) async throws -> (ProgramRun.Result, Int) {
        let run = try ProgramRun([ProductPath.martlet, "app"] + words)
        let watch = Task.detached {
            var peak = 0
            while !Task.isCancelled {
                let status = try? String(contentsOfFile: "/proc/\(run.processID)/status", encoding: .utf8)
                let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
                let number = line?.split(separator: " ").compactMap { Int($0) }.first
                peak = max(peak, number ?? 0)
                try? await Task.sleep(for: .milliseconds(5))
            }
            return peak
        }
        let result = await run.result()
        watch.cancel()
        return (result, await watch.value)
    }
}
