// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

// A package of its own: within one package, `canImport(Security)` would become true in every target.
let package = Package(
    name: "AppleStubs",
    targets: [
        .target(name: "Security"),
        .target(name: "Combine"),
        .target(name: "CSecretService"),
        .target(name: "Locking", swiftSettings: settings),
        .target(
            name: "ParseSwift",
            dependencies: ["Security", "Combine", "CSecretService", "Locking"],
            swiftSettings: settings
        ),
    ]
)
