import Testing
import JSON

/// Recorded lines that this server answers otherwise, and why.
struct ReplayException: Sendable {
    let configuration: String
    let name: String
    let reason: String
    /// The answer that is right for this server.
    let status: Int
    let body: JSONValue
    /// Mounts at which the line is an exception; at others it is replayed as recorded.
    var mounts: [String] = ["/parse", "/1", ""]

    static let all: [ReplayException] =
        [
            ReplayException(
                configuration: "base",
                name: "server info",
                reason: "a feature is told only when it is there",
                status: 200,
                body: serverInfo
            ),
            ReplayException(
                configuration: "base",
                name: "batch: path without the mount",
                reason: "at the root the mount is empty, so that no path is without it",
                status: 200,
                body: .null,
                mounts: [""]
            ),
        ]
        + challenges.map {
            ReplayException(
                configuration: "base",
                name: $0,
                reason: "the route /challenge is not built",
                status: 404,
                body: "<!DOCTYPE html>"
            )
        }

    /// Those of the lines about objects.
    static let objects: [ReplayException] = []

    static func find(_ exchange: RecordedExchange, of file: String, mount: String) -> ReplayException? {
        (file.hasPrefix("objects") ? objects : all).first {
            $0.configuration == exchange.configuration && $0.name == exchange.name
                && $0.mounts.contains(mount)
        }
    }

    private static let challenges = [
        "challenge of nothing", "challenge that is no object", "challenge: name without password",
        "challenge: wrong password", "challenge: two ways at once",
        "challenge of a provider without challenges",
    ]

    private static let none: JSONValue = ["create": false, "read": false, "update": false, "delete": false]

    private static let serverInfo: JSONValue = [
        "features": [
            "globalConfig": ["create": true, "read": true, "update": true, "delete": true],
            "hooks": none,
            "cloudCode": ["jobs": false],
            "logs": ["level": false, "size": false, "order": false, "until": false, "from": false],
            "push": [
                "immediatePush": false, "scheduledPush": false, "storedPushData": false,
                "pushAudiences": false,
                "localization": false,
            ],
            "schemas": [
                "addField": true, "removeField": true, "addClass": true, "removeClass": true,
                "clearAllDataFromClass": true, "exportClass": false, "editClassLevelPermissions": true,
                "editPointerPermissions": true,
            ],
            "settings": ["securityCheck": false],
        ],
        "parseServerVersion": "9.10.0",
    ]
}

/// A configuration whose lines cannot be replayed, since its options are not built.
struct UnbuiltConfiguration: Sendable, CustomTestStringConvertible {
    let name: String
    let lines: Int
    /// An option of it; the server refuses it as long as it is not built.
    let option: String
    let value: JSONValue

    var testDescription: String { name }

    static let all: [UnbuiltConfiguration] = [
        .init(name: "lockout", lines: 5, option: "accountLockout", value: ["threshold": 3, "duration": 1]),
        .init(
            name: "passwordpolicy",
            lines: 4,
            option: "passwordPolicy",
            value: ["doNotAllowUsername": true]
        ),
        .init(name: "ratelimit", lines: 6, option: "rateLimit", value: ["requestPath": "/login"]),
        .init(name: "email", lines: 22, option: "verifyUserEmails", value: true),
        .init(name: "verify-email", lines: 3, option: "preventLoginWithUnverifiedEmail", value: true),
        .init(name: "mfa", lines: 10, option: "auth", value: ["mfa": ["enabled": true]]),
    ]
}
