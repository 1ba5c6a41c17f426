import Foundation

/// A folder for one test, gone with the last reference to it.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "martlet-test-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// What lies directly in it, in order.
    package var names: [String] {
        Self.names(in: path)
    }

    /// What lies directly in a folder, in order; nothing when there is none.
    package static func names(in path: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path))?.sorted() ?? []
    }

    /// The files below a folder, however deep, by their paths from it, in order.
    package static func files(below path: String) -> [String] {
        var isFolder: ObjCBool = false
        let all = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return all.sorted().filter {
            FileManager.default.fileExists(atPath: path + "/" + $0, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
    }
}
