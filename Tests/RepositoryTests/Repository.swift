import Foundation

/// The files of this repository, read as text.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    struct File: Sendable, CustomStringConvertible {
        /// From the root.
        let path: String
        let text: String

        var lines: [Substring] {
            text.split(separator: "\n", omittingEmptySubsequences: false)
        }

        var description: String { path }
    }

    /// The Swift files below a folder.
    static func swiftFiles(_ folder: String) -> [File] {
        let base = root.appendingPathComponent(folder)
        let names = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(".swift") && !$0.contains(".build/") }.sorted().compactMap {
            name in
            file("\(folder)/\(name)")
        }
    }

    static func file(_ path: String) -> File? {
        FileManager.default.contents(atPath: root.appendingPathComponent(path).path).map {
            File(path: path, text: String(decoding: $0, as: UTF8.self))
        }
    }
}
