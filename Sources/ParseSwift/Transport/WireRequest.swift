import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request before it has headers.
struct WireRequest: Sendable {
    enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    /// Whose session token goes along.
    enum Session: Sendable {
        /// The current user's, or the one of the options.
        case current
        /// None: a log-in or a sign-up, which must not fail because an old token is dead.
        case none
        /// This one.
        case token(String)
    }

    var method: Method
    /// Path components after the server URL; each is percent-encoded.
    var path: [String]
    var query: [(name: String, value: String)] = []
    var body: JSONTree?
    var session: Session = .current
    var options: API.Options = []

    /// Whether a second copy of the request cannot do harm even if the first one was carried out.
    var isSafeToRepeat: Bool {
        method == .get
    }

    /// The path to a class, or to an object in it.
    static func path(className: String, objectId: String? = nil) -> [String] {
        let base =
            switch className {
            case "_User": ["users"]
            case "_Installation": ["installations"]
            case "_Session": ["sessions"]
            case "_Role": ["roles"]
            default: ["classes", className]
            }
        return base + (objectId.map { [$0] } ?? [])
    }
}

extension WireRequest {
    // RFC 3986 "unreserved": everything else is encoded, also "+", which servers read as a blank.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }

    private func url(server: URL) throws -> URL {
        var text = server.absoluteString
        for case .serverURL(let other) in options {
            text = other
        }
        while text.hasSuffix("/") {
            text.removeLast()
        }
        for component in path {
            text += "/" + Self.encoded(component)
        }
        if !query.isEmpty {
            text +=
                "?"
                + query.map { Self.encoded($0.name) + "=" + Self.encoded($0.value) }.joined(separator: "&")
        }
        guard let url = URL(string: text), url.scheme != nil, url.host != nil else {
            throw ParseError(code: .otherCause, message: "\"\(text)\" is not a URL of a server.")
        }
        return url
    }

    /// The request with headers, and the token it carries.
    ///
    /// `requestId` names this deliberate call, and is the same for each network retry of it.
    func urlRequest(
        configuration: ParseConfiguration,
        installationId: String?,
        currentToken: String?,
        requestId: String,
        idleTimeout: TimeInterval
    ) throws -> (request: URLRequest, token: String?) {
        var request = URLRequest(
            url: try url(server: configuration.serverURL),
            cachePolicy: .reloadIgnoringLocalCacheData
        )
        // Set afterwards: the open-source Foundation ignores the argument of the initialiser, and cuts the
        // value to whole seconds, with zero for "at once".
        request.timeoutInterval = max(1, idleTimeout.rounded(.up))
        request.httpMethod = method.rawValue
        func set(_ value: String?, _ header: String) {
            if let value { request.setValue(value, forHTTPHeaderField: header) }
        }
        set(configuration.applicationId, "X-Parse-Application-Id")
        set(configuration.clientKey, "X-Parse-Client-Key")
        set("swift" + ParseVersion.library, "X-Parse-Client-Version")
        var installation = installationId
        var token =
            switch session {
            case .current: currentToken
            case .none: String?.none
            case .token(let token): token
            }
        for option in options {
            switch option {
            case .useMasterKey: set(configuration.masterKey, "X-Parse-Master-Key")
            case .useMaintenanceKey: set(configuration.maintenanceKey, "X-Parse-Maintenance-Key")
            case .sessionToken(let other): if case .current = session { token = other }
            case .installationId(let other): installation = other
            case .context(let context):
                set(try TreeEncoder(children: .pointers).encode(context).text, "X-Parse-Cloud-Context")
            case .mimeType, .fileSize, .removeMimeType, .metadata, .tags, .cachePolicy, .serverURL: break
            }
        }
        set(installation, "X-Parse-Installation-Id")
        set(token, "X-Parse-Session-Token")
        if method == .post || method == .put {
            set(requestId, "X-Parse-Request-Id")
            set("application/json", "Content-Type")
            request.httpBody = (body ?? .object([:])).data
        }
        return (request, token)
    }
}
