import Foundation

/// Where the programs of this package are that were built beside the tests.
package enum ProductPath {
    /// The program `martlet`.
    ///
    /// It lies in the folder that holds the test bundle, wherever the build was told to put it (plain, with
    /// `--scratch-path`, or with a sanitizer). `MARTLET_TEST_PROGRAM` names another.
    package static let martlet: String = {
        if let path = ProcessInfo.processInfo.environment["MARTLET_TEST_PROGRAM"] { return path }
        return program("martlet")
    }()

    /// Another program of this package, beside the tests too.
    package static func program(_ name: String) -> String {
        for start in starts {
            var folder = URL(fileURLWithPath: start).resolvingSymlinksInPath()
            while folder.path.count > 1 {
                folder.deleteLastPathComponent()
                let path = folder.appendingPathComponent(name).path
                var isFolder: ObjCBool = false
                if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue,
                    FileManager.default.isExecutableFile(atPath: path)
                {
                    return path
                }
            }
        }
        preconditionFailure(
            "the program \(name) is not beside the tests: build with swift build --build-tests"
        )
    }

    /// What is known of the place of the tests: their own program (Linux), and the bundle that a helper of
    /// the toolchain loads (macOS).
    private static var starts: [String] {
        var paths = [Bundle.main.executablePath ?? "", "/proc/self/exe"]
        paths += CommandLine.arguments.filter { $0.contains("/") }
        paths += Bundle.allBundles.map(\.bundlePath)
        return paths.filter { !$0.isEmpty && FileManager.default.fileExists(atPath: $0) }
    }
}
