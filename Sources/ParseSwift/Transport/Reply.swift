import Foundation

/// What a server answered to a request that it did not refuse.
struct Reply: Sendable {
    var status: Int
    var tree: JSONTree
    /// The session token the request carried.
    var requestToken: String?

    /// The session token of the answer, if it brings a new one.
    var sessionToken: String? {
        tree["sessionToken"]?.string
    }

    /// Reads an answer.
    ///
    /// The code in the body decides, not the HTTP status: a failed log-in is a 404, a dead session a 400.
    ///
    /// - Throws: The server's error, or one that says what came instead of JSON.
    static func read(status: Int, contentType: String?, data: Data) throws -> JSONTree {
        let tree: JSONTree? = data.isEmpty && status < 300 ? .object([:]) : try? JSONTree(parsing: data)
        if let tree, let members = tree.object {
            let message = members["error"]?.string ?? members["message"]?.string
            let code = members["code"]?.int
            // An object of the server may itself have columns called code and error.
            if status >= 300 || (code != nil && message != nil && members["objectId"] == nil) {
                guard code != nil || message != nil else {
                    throw ParseError(number: nil, message: "The server answered with HTTP status \(status).")
                }
                throw ParseError(number: code, message: message)
            }
            return tree
        }
        if let tree, status < 300 {
            return tree
        }
        // A proxy in front of the server answers in HTML when it cannot reach the server.
        let isGateway = [502, 503, 504].contains(status)
        let excerpt = String(decoding: data.prefix(200), as: UTF8.self)
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
        throw ParseError(
            code: isGateway ? .connectionFailed : .otherCause,
            message: "The server answered with HTTP status \(status) and "
                + (excerpt.isEmpty
                    ? "no body." : "\(contentType ?? "no content type") instead of JSON: \(excerpt)")
        )
    }
}
