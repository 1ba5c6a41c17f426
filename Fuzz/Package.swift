// swift-tools-version: 6.2
import PackageDescription

// Fuzzers for what reads bytes from outside; `Fuzz/run` builds and runs them.
//
// A package of its own, because its targets only link with libFuzzer. It carries the name of the main
// package and reaches the targets through links in `Sources/`, so that `package` declarations are
// visible and the code under test is itself instrumented.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// A target of the main package, linked in `Sources/`.
func linked(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// A fuzzer: one file with `@_cdecl("LLVMFuzzerTestOneInput")`, and a folder of inputs in `Corpus/`.
func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies,
        // libFuzzer brings `main`.
        swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]
    )
}

let package = Package(
    name: "martlet",
    platforms: [.iOS(.v15), .macOS(.v15), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    targets: [
        .systemLibrary(name: "CUV", pkgConfig: "libuv"),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium"),
        .systemLibrary(name: "CCrypt", pkgConfig: "libcrypt"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib"),
        .systemLibrary(name: "CPCRE2", pkgConfig: "libpcre2-8"),
        .systemLibrary(name: "CStemmer"),
        .target(name: "CPCRE2Shims", dependencies: ["CPCRE2"]),
        .target(name: "CEventLoop", dependencies: ["CUV"]),
        linked("Locking"),
        linked("JSON"),
        linked("Logging", ["JSON", "Locking"]),
        linked("EventLoop", ["CUV", "CEventLoop", "Locking"]),
        linked("HTTP", ["EventLoop", "CZlib", "Locking"]),
        linked("Cryptography", ["CSodium", "CCrypt", "Locking"]),
        linked("RegularExpressions", ["CPCRE2", "CPCRE2Shims", "Locking"]),
        linked("TextSearch", ["CStemmer", "Locking"]),
        linked("ParseWire", ["JSON"]),
        linked(
            "ParseCore",
            [
                "JSON", "ParseWire", "Cryptography", "Logging", "Locking", "RegularExpressions", "TextSearch",
            ]
        ),
        linked(
            "ParseREST",
            ["ParseCore", "ParseWire", "JSON", "HTTP", "EventLoop", "Logging", "Cryptography", "Locking"]
        ),
        fuzzer("FuzzJSON", ["JSON"]),
        fuzzer("FuzzHTTP", ["HTTP"]),
        fuzzer("FuzzRequest", ["ParseREST", "ParseCore", "HTTP", "JSON"]),
        fuzzer("FuzzWhere", ["ParseCore", "ParseWire", "JSON"]),
    ]
)
