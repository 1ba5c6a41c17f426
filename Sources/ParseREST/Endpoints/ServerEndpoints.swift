import HTTP
import JSON
import ParseCore

extension Endpoint {
    /// What the server can do, for dashboards and SDKs.
    static let serverInfo = Endpoint { request in
        try request.context.requireMaster()
        return RESTReply(ServerInfo.reply(request.context.app.options))
    }

    static let recordEvent = Endpoint { request in
        RESTReply(try RecordEvent(name: request.parameters["name"] ?? "", body: request.body).run())
    }

    static let securityReport = Endpoint(.judgesMasterKey) { request in
        let report = SecurityReport(masterKeyIsStrong: request.masterKeyIsStrong)
        return RESTReply(try report.run(in: request.context))
    }
}

/// The reply of `/serverInfo`; a feature is told only when it is there.
private enum ServerInfo {
    /// The release of parse-server whose behaviour this server follows.
    private static let parseServerVersion = "9.10.0"

    private static let none = ["create": false, "read": false, "update": false, "delete": false] as JSONValue
    private static let all = ["create": true, "read": true, "update": true, "delete": true] as JSONValue

    static func reply(_ options: AppOptions) -> JSONObject {
        [
            "features": [
                "globalConfig": all,
                "hooks": none,
                "cloudCode": ["jobs": false],
                "logs": ["level": false, "size": false, "order": false, "until": false, "from": false],
                "push": [
                    "immediatePush": false, "scheduledPush": false, "storedPushData": false,
                    "pushAudiences": false,
                    "localization": false,
                ],
                "schemas": schemas,
                "settings": ["securityCheck": .bool(options.enableSecurityCheck)],
            ],
            "parseServerVersion": .string(parseServerVersion),
        ]
    }

    private static let schemas: JSONValue = [
        "addField": true, "removeField": true, "addClass": true, "removeClass": true,
        "clearAllDataFromClass": true, "exportClass": false, "editClassLevelPermissions": true,
        "editPointerPermissions": true,
    ]
}
