/// Turns a response into bytes: the head, and the body too while it is small.
struct HTTPResponseEncoder {
    /// Larger bodies are sent from where they are instead of being copied behind the head.
    static let copiedBodyBytes = 16 * 1024

    enum Connection { case close, keepAlive, unsaid }

    /// Appends the head to `output`, which the caller has emptied, and the body if it is small.
    ///
    /// `isHead` tells that the method was HEAD, so that the body only counts; `dateLine` is a whole `Date` line.
    /// A body that is made while it is sent goes in chunks if `isChunked`. Returns whether the body is still to be
    /// sent.
    static func encode(
        _ response: HTTPResponse,
        isHead: Bool,
        isChunked: Bool = false,
        connection: Connection,
        dateLine: [UInt8],
        into output: inout [UInt8]
    ) -> Bool {
        HTTPStatus.appendLine(for: response.status, to: &output)
        appendFields(response.headers, to: &output)
        output += response.preformattedHeaders
        // 204 and 304 have no body by definition, and a length would be about something else (RFC 9110 §8.6).
        let isBodiless = response.status == 204 || response.status == 304
        if !isBodiless { appendFraming(of: response, isChunked, to: &output) }
        output += dateLine
        switch connection {
        case .close: output.append("Connection: close\r\n")
        case .keepAlive: output.append("Connection: keep-alive\r\n")
        case .unsaid: break
        }
        output.append("\r\n")
        guard !isBodiless, !isHead else { return false }
        guard response.producer == nil else { return true }
        guard !response.body.isEmpty else { return false }
        guard response.body.count <= copiedBodyBytes else { return true }
        output += response.body
        return false
    }

    private static func appendFraming(of response: HTTPResponse, _ isChunked: Bool, to output: inout [UInt8])
    {
        if isChunked { return output.append("Transfer-Encoding: chunked\r\n") }
        // Without a length and without chunks the body ends with the connection.
        guard let length = response.producer.map(\.length) ?? response.body.count else { return }
        output.append("Content-Length: ")
        output.append(decimal: length)
        output.append("\r\n")
    }

    private static func appendFields(_ headers: HTTPHeaders, to output: inout [UInt8]) {
        for field in headers.fields {
            guard !isOwn(headers.bytes[field.name]) else { continue }
            output += headers.bytes[field.name]
            output.append(": ")
            output += headers.bytes[field.value]
            output.append("\r\n")
        }
    }

    /// Whether the server alone writes the field: two voices about framing would be one too many.
    private static func isOwn(_ name: ArraySlice<UInt8>) -> Bool {
        switch name.count {
        case 4: ASCII.equalIgnoringCase(name, "date".utf8)
        case 10: ASCII.equalIgnoringCase(name, "connection".utf8)
        case 14: ASCII.equalIgnoringCase(name, "content-length".utf8)
        case 17: ASCII.equalIgnoringCase(name, "transfer-encoding".utf8)
        default: false
        }
    }
}
