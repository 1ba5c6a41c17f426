// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "LogInCLI",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "login-cli", targets: ["LogInCLI"])],
    dependencies: [.package(name: "martlet", path: "../..")],
    targets: [
        .executableTarget(
            name: "LogInCLI",
            dependencies: [.product(name: "ParseSwift", package: "martlet")]
        ),
        // The published tutorials once more, in the language mode most apps still use.
        .target(
            name: "TutorialsInSwift5",
            dependencies: [.product(name: "ParseSwift", package: "martlet")],
            swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]
        ),
    ]
)
