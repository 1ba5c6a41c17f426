import Foundation
import Testing

/// What reviewers would otherwise have to look for.
@Suite struct RepositoryTests {
    private static let general = [
        "Locking", "JSON", "Logging", "EventLoop", "HTTP", "SQLite", "Postgres", "Cryptography",
        "RegularExpressions", "TextSearch",
    ]
    private static let parse = [
        "ParseWire", "ParseCore", "ParseSQLite", "ParsePostgres", "FileStorage", "ParseREST", "Martlet",
        "ParseSwift",
    ]

    /// What each target may not import.
    private static let forbidden: [(target: String, imports: [String])] =
        general.map { ($0, parse) } + [
            ("ParseWire", ["ParseCore", "ParseSQLite", "ParseREST", "HTTP", "SQLite"]),
            (
                "ParseCore",
                [
                    "ParseREST", "ParseSQLite", "ParsePostgres", "FileStorage", "HTTP", "SQLite", "Martlet",
                    "EventLoop",
                ]
            ),
            ("ParseSQLite", ["ParseREST", "ParsePostgres", "HTTP", "Martlet", "EventLoop"]),
            ("ParsePostgres", ["ParseREST", "ParseSQLite", "SQLite", "HTTP", "Martlet"]),
            ("FileStorage", ["ParseREST", "ParseSQLite", "ParsePostgres", "HTTP", "SQLite", "Martlet"]),
            ("ParseREST", ["ParseSQLite", "ParsePostgres", "FileStorage", "SQLite", "Martlet"]),
            ("Martlet", ["ParseSwift"]),
            ("MartletCLI", ["ParseSwift", "ParseREST", "ParseSQLite", "HTTP", "SQLite"]),
            (
                "ParseSwift",
                [
                    "ParseCore", "ParseSQLite", "ParseREST", "Martlet", "HTTP", "SQLite", "EventLoop",
                    "Cryptography",
                ]
            ),
        ]

    @Test(arguments: forbidden)
    func `a target imports only what lies below it`(target: String, imports: [String]) {
        let files = Repository.swiftFiles("Sources/\(target)")
        #expect(!files.isEmpty)
        for file in files {
            for line in file.lines {
                guard let name = Self.importedModule(line) else { continue }
                #expect(!imports.contains(name), "\(file) imports \(name)")
            }
        }
    }

    @Test func `Foundation is for the SDK alone`() {
        let targets =
            Self.general + [
                "ParseWire", "ParseCore", "ParseSQLite", "ParsePostgres", "FileStorage", "ParseREST",
                "Martlet", "MartletCLI",
            ]
        for file in targets.flatMap({ Repository.swiftFiles("Sources/\($0)") }) {
            let imports = file.lines.compactMap(Self.importedModule)
            #expect(!imports.contains { $0.hasPrefix("Foundation") }, "\(file) imports Foundation")
        }
    }

    @Test func `what the compiler cannot check says why it is safe`() {
        for file in Repository.swiftFiles("Sources") {
            for (number, line) in file.lines.enumerated()
            where line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") {
                let nearby = file.lines[max(0, number - 4)...min(file.lines.count - 1, number + 2)]
                #expect(
                    nearby.contains { $0.contains("SAFETY:") },
                    "\(file):\(number + 1) has no SAFETY line"
                )
            }
        }
    }

    @Test(arguments: ["try" + "!", "TO" + "DO", "FIX" + "ME", "as" + "! "])
    func `nothing is forced or left for later`(mark: String) {
        for file in Repository.swiftFiles("Sources") {
            for (number, line) in file.lines.enumerated() {
                #expect(!line.contains(mark), "\(file):\(number + 1) has \(mark)")
            }
        }
    }

    @Test func `every option stands in the reference, with its variable`() throws {
        let table = try #require(Repository.file("Sources/Martlet/Configuration/OptionTable.swift")).text
        let reference = try #require(Repository.file("docs/configuration.md")).text
        var count = 0
        for match in table.matches(of: /\.init\(\s*"(\w+)",\s*(?:prefixed\("(\w+)"\)|"(\w+)")/) {
            count += 1
            #expect(reference.contains("`\(match.1)`"), "docs/configuration.md lacks \(match.1)")
            let variable = match.2.map { "PARSE_SERVER_\($0)" } ?? match.3.map(String.init) ?? ""
            #expect(reference.contains("`\(variable)`"), "docs/configuration.md lacks \(variable)")
        }
        for match in table.matches(of: /\("(\w+)", "[A-Z_]+"\)/) {
            count += 1
            #expect(reference.contains("`\(match.1)`"), "docs/configuration.md lacks \(match.1)")
        }
        #expect(count > 70)
    }

    @Test func `the program of the README is the one that is compiled`() throws {
        let readme = try #require(Repository.file("README.md")).text
        let snippet = try #require(Repository.file("Snippets/LogIn.swift")).text
        #expect(readme.contains("```swift\n\(snippet)```"))
    }

    @Test func `links between documents lead somewhere`() throws {
        for path in [
            "README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/getting-started.md", "docs/compatibility.md",
        ] {
            let document = try #require(Repository.file(path))
            let folder = Repository.root.appendingPathComponent(path).deletingLastPathComponent()
            for match in document.text.matches(of: /\]\(([^)#:]+)(?:#[^)]*)?\)/) {
                let target = folder.appendingPathComponent(String(match.1)).standardizedFileURL.path
                #expect(FileManager.default.fileExists(atPath: target), "\(path) leads to \(match.1)")
            }
        }
    }

    private static func importedModule(_ line: Substring) -> String? {
        line.firstMatch(
            of: /^ {0,4}(?:@\w+(?:\([^)]*\))? )?(?:public |package |internal )?import (?:struct |func )?(\w+)/
        )
        .map { String($0.1) }
    }
}
