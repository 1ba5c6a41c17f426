package import HTTP
package import JSON
import ParseCore
import ParseWire

/// A request whose body is read, before it is known who asks.
package struct DecodedRequest: Sendable {
    package var method: HTTPMethod
    package var mount: String
    package var path: String
    package var query: [(name: String, value: String)]
    package var body: JSONObject

    /// Reads the body and the method override.
    ///
    /// - Parameters:
    ///   - request: As HTTP delivered it.
    ///   - maxBodyBytes: For a compressed body, what it may hold at most.
    /// - Throws: ``RequestRefusal``: 400 for malformed JSON, 413 for too much of it, 415 for a charset or
    ///   encoding that is not known; ``ParseError`` 107 for a cloud context that is no object.
    package init(_ request: HTTPRequest, maxBodyBytes: Int) throws {
        (mount, path) = Mount.split(request.path)
        query = request.query.map { FormEncoding.parse($0) } ?? []
        body = try BodyDecoder(request, maxBodyBytes: maxBodyBytes).object()
        method = request.method
        if method == .post, let override = body["_method"], override.isTruthy {
            body["_method"] = nil
            if let name = override.stringValue { method = HTTPMethod(rawValue: name.uppercased()) }
        }
        try Self.checkCloudContext(request.headers)
    }

    /// - Throws: ``ParseError`` 107 for a cloud context that is no object.
    static func checkCloudContext(_ headers: HTTPHeaders) throws(ParseError) {
        guard let context = headers.first(ParseHeader.cloudContext) else { return }
        guard (try? JSONValue.parse(context, limits: RequestLimits.json))?.objectValue != nil else {
            throw ParseError(.invalidJSON, "Invalid object for context.")
        }
    }
}

/// A refusal that is said before anybody knows which app is asked: a status and a text, no Parse code.
package struct RequestRefusal: Error, Sendable {
    package let status: Int
    package let message: String
}

/// Reads a body by its headers (Parse REST guide, "Request Format"): a form when it says so, else JSON whatever
/// it says.
private struct BodyDecoder {
    let request: HTTPRequest
    let maxBodyBytes: Int

    init(_ request: HTTPRequest, maxBodyBytes: Int) {
        self.request = request
        self.maxBodyBytes = maxBodyBytes
    }

    func object() throws -> JSONObject {
        guard !request.body.isEmpty else { return JSONObject() }
        let type = request.headers.first("Content-Type").map(MediaType.init)
        if let charset = type?.charset, charset.uppercased() != "UTF-8" {
            throw RequestRefusal(status: 415, message: "unsupported charset \"\(charset.uppercased())\"")
        }
        let bytes = try inflated()
        if type?.name == "application/x-www-form-urlencoded" { return try form(bytes) }
        do {
            guard let object = try JSONValue.parse(bytes, limits: RequestLimits.json).objectValue else {
                throw RequestRefusal(status: 400, message: "The body must be a JSON object.")
            }
            return object
        } catch let error as JSONError {
            throw RequestRefusal(status: 400, message: error.description)
        }
    }

    private func inflated() throws -> [UInt8] {
        guard let name = request.headers.first("Content-Encoding"), name.lowercased() != "identity" else {
            return request.body
        }
        guard let encoding = ContentEncoding(name: name) else {
            throw RequestRefusal(status: 415, message: "unsupported content encoding \"\(name)\"")
        }
        return try ContentEncoding.inflate(request.body, encoding: encoding, maxBytes: maxBodyBytes)
    }

    private func form(_ bytes: [UInt8]) throws -> JSONObject {
        guard bytes.count <= RequestLimits.formBytes else {
            throw RequestRefusal(status: 413, message: "request entity too large")
        }
        var object = JSONObject()
        for (name, value) in FormEncoding.parse(bytes) { object[name] = .string(value) }
        return object
    }
}

/// The header `Content-Type` (RFC 9110, section 8.3).
private struct MediaType {
    let name: String
    let charset: String?

    init(_ text: String) {
        let parts = text.split(separator: ";").map { part in
            String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        name = parts.first?.lowercased() ?? ""
        charset =
            parts.dropFirst().lazy
            .compactMap { part -> String? in
                let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
                guard pair.count == 2, pair[0].lowercased() == "charset" else { return nil }
                return pair[1].filter { $0 != "\"" }
            }
            .first
    }
}
