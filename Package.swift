// swift-tools-version: 6.2
import PackageDescription

/// One set of compiler settings for every target of ours.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

let package = Package(
    name: "martlet",
    platforms: [.iOS(.v15), .macOS(.v15), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    products: [
        .executable(name: "martlet", targets: ["MartletCLI"]),
        .library(name: "ParseSwift", targets: ["ParseSwift"]),
    ],
    targets: [
        // System libraries and C shims.
        .systemLibrary(name: "CUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"]), .brew(["libuv"])]),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .systemLibrary(
            name: "CSodium",
            pkgConfig: "libsodium",
            providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]
        ),
        .systemLibrary(
            name: "CCrypt",
            pkgConfig: "libcrypt",
            providers: [.apt(["libcrypt-dev"]), .brew(["libxcrypt"])]
        ),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(name: "CPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .systemLibrary(
            name: "CPCRE2",
            pkgConfig: "libpcre2-8",
            providers: [.apt(["libpcre2-dev"]), .brew(["pcre2"])]
        ),
        .systemLibrary(name: "CStemmer", providers: [.apt(["libstemmer-dev"]), .brew(["snowball"])]),
        .target(name: "CPCRE2Shims", dependencies: ["CPCRE2"]),
        .target(name: "CEventLoop", dependencies: ["CUV"]),
        .target(name: "CSQLiteShims", dependencies: ["CSQLite"]),
        .target(name: "CSecretService"),

        // General: knows nothing of Parse.
        library("Locking"),
        library("JSON"),
        library("Logging", ["JSON", "Locking"]),
        library("EventLoop", ["CUV", "CEventLoop", "Locking"]),
        library("HTTP", ["EventLoop", "CZlib", "Locking"]),
        library("SQLite", ["CSQLite", "CSQLiteShims", "Locking"]),
        library("Postgres", ["CPQ", "EventLoop", "Locking"]),
        library("Cryptography", ["CSodium", "CCrypt", "Locking"]),
        library("RegularExpressions", ["CPCRE2", "CPCRE2Shims", "Locking"]),
        library("TextSearch", ["CStemmer", "Locking"]),

        // Parse.
        library("ParseWire", ["JSON"]),
        library(
            "ParseCore",
            [
                "JSON", "ParseWire", "Cryptography", "Logging", "Locking", "RegularExpressions", "TextSearch",
            ]
        ),
        library("FileStorage", ["ParseCore", "ParseWire", "JSON", "EventLoop", "Cryptography", "Locking"]),
        library("ParseSQLite", ["ParseCore", "ParseWire", "JSON", "SQLite", "Cryptography", "Locking"]),
        library(
            "ParsePostgres",
            [
                "ParseCore", "ParseWire", "JSON", "Postgres", "EventLoop", "Cryptography", "Locking",
                "RegularExpressions",
            ]
        ),
        library(
            "ParseREST",
            ["ParseCore", "ParseWire", "JSON", "HTTP", "EventLoop", "Logging", "Cryptography", "Locking"]
        ),

        // Products.
        library(
            "Martlet",
            [
                "ParseREST", "ParseSQLite", "ParsePostgres", "Postgres", "FileStorage", "ParseCore",
                "ParseWire", "JSON", "HTTP",
                "EventLoop", "SQLite",
                "Cryptography", "Logging", "Locking",
            ]
        ),
        .executableTarget(
            name: "MartletCLI",
            dependencies: [
                "Martlet", "EventLoop", "JSON", "Logging", "Locking", "ParseCore", "ParseWire", "FileStorage",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ParseSwift",
            dependencies: [
                "Locking", .target(name: "CSecretService", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings
        ),

        // Tests.
        .target(
            name: "TestSupport",
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "StorageTestSupport",
            dependencies: ["ParseCore", "ParseWire", "JSON"],
            path: "Tests/StorageTestSupport",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "StorageWorkload",
            dependencies: ["ParseSQLite", "ParseCore", "ParseWire", "JSON"],
            path: "Tests/StorageWorkload",
            swiftSettings: settings
        ),
        tests("JSONTests", ["JSON"]),
        tests("LoggingTests", ["Logging", "JSON"]),
        tests("EventLoopTests", ["EventLoop"]),
        tests("HTTPTests", ["HTTP", "EventLoop", "Locking"]),
        tests("SQLiteTests", ["SQLite", "Locking"]),
        tests("PostgresTests", ["Postgres", "EventLoop", "Locking", "TestSupport"]),
        tests("CryptographyTests", ["Cryptography", "Locking"]),
        tests("RegularExpressionsTests", ["RegularExpressions"]),
        tests("TextSearchTests", ["TextSearch"]),
        tests("ParseWireTests", ["ParseWire"]),
        tests(
            "ParseCoreTests",
            [
                "ParseCore", "ParseSQLite", "ParseWire", "JSON", "Cryptography", "Logging", "TestSupport",
                "Locking",
            ]
        ),
        tests(
            "ParseSQLiteTests",
            [
                "ParseSQLite", "ParseCore", "ParseWire", "JSON", "SQLite", "Cryptography", "TestSupport",
                "StorageTestSupport", "StorageWorkload",
            ]
        ),
        tests(
            "FileStorageTests",
            ["FileStorage", "ParseCore", "JSON", "Locking", "TestSupport"]
        ),
        tests(
            "ParsePostgresTests",
            [
                "ParsePostgres", "ParseCore", "ParseWire", "JSON", "Postgres", "EventLoop", "Cryptography",
                "RegularExpressions", "Locking", "TestSupport", "StorageTestSupport",
            ]
        ),
        tests(
            "ParseRESTTests",
            [
                "ParseREST", "ParseCore", "ParseSQLite", "FileStorage", "ParseWire", "JSON", "HTTP",
                "Cryptography", "Locking", "Logging",
                "TestSupport",
            ]
        ),
        tests(
            "MartletTests",
            [
                "Martlet", "MartletCLI", "ParseCore", "ParseWire", "JSON", "Cryptography", "Logging",
                "TestSupport",
            ]
        ),
        tests(
            "ConformanceTests",
            [
                "Martlet", "ParseCore", "ParseWire", "JSON", "HTTP", "Logging", "Locking", "MartletCLI",
                "TestSupport",
            ],
            resources: [.copy("Exchanges")]
        ),
        .testTarget(
            name: "ParseSwiftTests",
            dependencies: ["ParseSwift", "Locking", "MartletCLI", "TestSupport"],
            exclude: ["README.md"],
            swiftSettings: settings
        ),
        tests("RepositoryTests", []),
    ]
)
