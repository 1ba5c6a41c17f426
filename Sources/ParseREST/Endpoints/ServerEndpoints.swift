import JSON
import ParseCore

extension Endpoint {
    /// What the server can do, for dashboards and SDKs.
    static let serverInfo = Endpoint { request in
        try request.context.requireMaster()
        return RESTReply(ServerInfo.reply)
    }
}

/// The reply of `/serverInfo`; a feature is told only when it is there.
private enum ServerInfo {
    /// The release of parse-server whose behaviour this server follows.
    private static let parseServerVersion = "9.10.0"

    private static let none = ["create": false, "read": false, "update": false, "delete": false] as JSONValue

    static let reply: JSONObject = [
        "features": [
            "globalConfig": none,
            "hooks": none,
            "cloudCode": ["jobs": false],
            "logs": ["level": false, "size": false, "order": false, "until": false, "from": false],
            "push": [
                "immediatePush": false, "scheduledPush": false, "storedPushData": false,
                "pushAudiences": false,
                "localization": false,
            ],
            "schemas": [
                "addField": false, "removeField": false, "addClass": false, "removeClass": false,
                "clearAllDataFromClass": false, "exportClass": false, "editClassLevelPermissions": false,
                "editPointerPermissions": false,
            ],
            "settings": ["securityCheck": false],
        ],
        "parseServerVersion": .string(parseServerVersion),
    ]
}
