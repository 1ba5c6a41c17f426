import HTTP
import ParseCore

/// The headers that let browsers call (Fetch standard, "CORS protocol").
struct CORS: Sendable {
    private static let methods = "GET,PUT,POST,DELETE,OPTIONS"
    private static let headers =
        "X-Parse-Master-Key, X-Parse-REST-API-Key, X-Parse-Javascript-Key, X-Parse-Application-Id, "
        + "X-Parse-Client-Version, X-Parse-Session-Token, X-Requested-With, X-Parse-Revocable-Session, "
        + "X-Parse-Request-Id, Content-Type, Pragma, Cache-Control"
    private static let exposed = "X-Parse-Job-Status-Id, X-Parse-Push-Status-Id"

    private let allowedOrigins: [String]
    private let fixedPart: [UInt8]
    /// Everything, where the answer is the same for every origin.
    private let whole: [UInt8]?
    /// What stands behind them in a reply of JSON.
    private static let jsonType = Array("Content-Type: application/json; charset=utf-8\r\n".utf8)
    private let wholeWithJSON: [UInt8]?

    init(_ options: AppOptions) {
        allowedOrigins = options.allowOrigin
        let allowed = ([Self.headers] + options.allowHeaders).joined(separator: ", ")
        fixedPart = Array(
            ("Access-Control-Allow-Methods: \(Self.methods)\r\nAccess-Control-Allow-Headers: \(allowed)\r\n"
                + "Access-Control-Expose-Headers: \(Self.exposed)\r\n").utf8
        )
        whole = allowedOrigins.count < 2 ? Self.line(origin: allowedOrigins.first ?? "*") + fixedPart : nil
        wholeWithJSON = whole.map { $0 + Self.jsonType }
    }

    /// The same for a reply whose body is JSON, with its content type.
    func jsonLines(for headers: HTTPHeaders?) -> [UInt8] {
        wholeWithJSON ?? lines(for: headers) + Self.jsonType
    }

    /// Whether two apps answer browsers alike.
    static func isSame(_ one: AppOptions, _ other: AppOptions) -> Bool {
        one.allowOrigin == other.allowOrigin && one.allowHeaders == other.allowHeaders
    }

    /// Complete header lines for the answer to that request.
    func lines(for headers: HTTPHeaders?) -> [UInt8] {
        if let whole { return whole }
        let origin = headers?.first("Origin")
        let allowed = origin.flatMap { allowedOrigins.contains($0) ? $0 : nil } ?? allowedOrigins[0]
        return Self.line(origin: allowed) + fixedPart
    }

    private static func line(origin: String) -> [UInt8] {
        Array("Access-Control-Allow-Origin: \(origin)\r\n".utf8)
    }
}
