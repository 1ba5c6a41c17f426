import Cryptography
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

    /// Reads the headers, in one pass: every request has several of them.
    init(_ headers: HTTPHeaders) {
        var authorization: String?
        headers.forEachField { name, value in
            guard let field = Field.known(name) else { return }
            let text = String(decoding: value, as: UTF8.self)
            switch field {
            case .applicationID: applicationID = applicationID ?? text
            case .clientKey: keys.clientKey = keys.clientKey ?? text
            case .restAPIKey: keys.restAPIKey = keys.restAPIKey ?? text
            case .javascriptKey: keys.javascriptKey = keys.javascriptKey ?? text
            case .windowsKey: keys.windowsKey = keys.windowsKey ?? text
            case .masterKey: keys.masterKey = keys.masterKey ?? text
            case .maintenanceKey: keys.maintenanceKey = keys.maintenanceKey ?? text
            case .sessionToken: sessionToken = sessionToken ?? (text.isEmpty ? nil : text)
            case .installationID: installationID = installationID ?? text
            case .authorization: authorization = authorization ?? text
            }
        }
        basic = authorization.flatMap(Self.basic)
    }

    /// A header that says who asks.
    private enum Field: CaseIterable {
        case applicationID, clientKey, restAPIKey, javascriptKey, windowsKey, masterKey, maintenanceKey
        case sessionToken, installationID, authorization

        private var headerName: String {
            switch self {
            case .applicationID: ParseHeader.applicationID
            case .clientKey: ParseHeader.clientKey
            case .restAPIKey: ParseHeader.restAPIKey
            case .javascriptKey: ParseHeader.javascriptKey
            case .windowsKey: ParseHeader.windowsKey
            case .masterKey: ParseHeader.masterKey
            case .maintenanceKey: ParseHeader.maintenanceKey
            case .sessionToken: ParseHeader.sessionToken
            case .installationID: ParseHeader.installationID
            case .authorization: "Authorization"
            }
        }

        private static let names: [(name: [UInt8], field: Field)] = allCases.map { field in
            (Array(field.headerName.lowercased().utf8), field)
        }

        static func known(_ name: UnsafeRawBufferPointer) -> Field? {
            for (candidate, field) in names where candidate.count == name.count {
                // Setting bit 5 folds letters; no two names here differ by it in another way.
                if zip(candidate, name).allSatisfy({ $0 == $1 | 0x20 || $0 == $1 }) { return field }
            }
            return nil
        }
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
