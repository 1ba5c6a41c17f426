import HTTP
import JSON
import ParseCore
import ParseWire

/// What a request says about its app and itself, wherever it says it: headers, Basic authorization, body.
struct RequestKeys: Sendable {
    var applicationID: String?
    var keys = PresentedKeys()
    var sessionToken: String?
    var installationID: String?
    /// Name and password of Basic authorization; used only when the name is the id of an app.
    private(set) var basic: (applicationID: String, key: String)?

    /// Reads the headers.
    init(_ headers: HTTPHeaders) {
        applicationID = headers.first(ParseHeader.applicationID)
        keys.clientKey = headers.first(ParseHeader.clientKey)
        keys.restAPIKey = headers.first(ParseHeader.restAPIKey)
        keys.javascriptKey = headers.first(ParseHeader.javascriptKey)
        keys.windowsKey = headers.first(ParseHeader.windowsKey)
        keys.masterKey = headers.first(ParseHeader.masterKey)
        keys.maintenanceKey = headers.first(ParseHeader.maintenanceKey)
        sessionToken = headers.first(ParseHeader.sessionToken)
        installationID = headers.first(ParseHeader.installationID)
        basic = headers.first("Authorization").flatMap(Self.basic)
    }

    /// Takes over what Basic authorization says; to be called when it names an app.
    mutating func useBasic() {
        guard let basic else { return }
        applicationID = basic.applicationID
        let prefix = "javascript-key="
        if basic.key.hasPrefix(prefix) {
            keys.javascriptKey = String(basic.key.dropFirst(prefix.count))
        } else if !basic.key.isEmpty {
            keys.masterKey = basic.key
        }
    }

    /// Takes the credentials out of a body, as browsers send them.
    ///
    /// - Throws: ``ParseError/unauthorized`` when one of them is no text; 107 for a malformed context.
    mutating func takeFromBody(_ body: inout JSONObject) throws(ParseError) {
        body["_RevocableSession"] = nil
        for name in ["_SessionToken", "_MasterKey", "_InstallationId", "_ContentType"] {
            if let value = body[name], value.isTruthy, value.stringValue == nil { throw .unauthorized }
        }
        applicationID = body.removeValue(forKey: "_ApplicationId")?.stringValue
        keys.javascriptKey = body.removeValue(forKey: "_JavaScriptKey")?.stringValue ?? ""
        _ = body.removeValue(forKey: "_ClientVersion")
        _ = body.removeValue(forKey: "_ContentType")
        if let text = body.removeValue(forKey: "_InstallationId")?.stringValue { installationID = text }
        if let text = body.removeValue(forKey: "_SessionToken")?.stringValue { sessionToken = text }
        if let text = body.removeValue(forKey: "_MasterKey")?.stringValue { keys.masterKey = text }
        if let context = body.removeValue(forKey: "_context"), context.isTruthy {
            let parsed = context.stringValue.flatMap { try? JSONValue.parse($0, limits: RequestLimits.json) }
            guard (parsed ?? context).objectValue != nil else {
                throw ParseError(.invalidJSON, "Invalid object for context.")
            }
        }
    }

    private static func basic(_ header: String) -> (String, String)? {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic", let bytes = Base64.decode(parts[1]) else {
            return nil
        }
        let pair = String(decoding: bytes, as: UTF8.self)
            .split(separator: ":", omittingEmptySubsequences: false)
            .map(String.init)
        return pair.count == 2 ? (pair[0], pair[1]) : nil
    }
}
