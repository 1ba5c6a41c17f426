/// What comes before the body: request line and header fields, checked.
package struct HTTPRequestHead: Sendable {
    package let method: HTTPMethod
    /// The target up to `?`, still percent-encoded; of an absolute-form target only its path.
    ///
    /// Bytes that are no UTF-8 are replaced (U+FFFD).
    package let path: String
    /// Minor version of HTTP/1: 0 or 1.
    package let minorVersion: Int
    package let headers: HTTPHeaders
    /// The declared body length; `nil` without a Content-Length field, so also for a chunked body.
    package let contentLength: Int?
    /// Whether the body comes in chunks.
    package let isChunked: Bool
    /// Whether the client waits for `100 Continue` before it sends the body.
    package let expectsContinue: Bool
    /// Whether the client wants the connection to go on after the response.
    package let keepsAlive: Bool
    private let targetRange: Range<Int>
    private let queryRange: Range<Int>?

    init(
        method: HTTPMethod,
        path: String,
        minorVersion: Int,
        headers: HTTPHeaders,
        contentLength: Int?,
        isChunked: Bool,
        expectsContinue: Bool,
        keepsAlive: Bool,
        targetRange: Range<Int>,
        queryRange: Range<Int>?
    ) {
        self.method = method
        self.path = path
        self.minorVersion = minorVersion
        self.headers = headers
        self.contentLength = contentLength
        self.isChunked = isChunked
        self.expectsContinue = expectsContinue
        self.keepsAlive = keepsAlive
        self.targetRange = targetRange
        self.queryRange = queryRange
    }

    /// The request target exactly as sent.
    package var target: String { String(decoding: headers.bytes[targetRange], as: UTF8.self) }
    /// What follows the first `?` of the target, still encoded; `nil` without one.
    package var query: String? { queryRange.map { String(decoding: headers.bytes[$0], as: UTF8.self) } }

    /// Whether a body of at least one byte will come, as far as can be told.
    package var hasBody: Bool { isChunked || (contentLength ?? 0) > 0 }
}

/// A whole request with its body in memory.
package struct HTTPRequest: Sendable {
    package let head: HTTPRequestHead
    package var body: [UInt8]
    /// The peer's IP address as text, as the kernel tells it; no port.
    package let remoteAddress: String
    /// Unique among the connections of the server's life.
    package let connectionID: UInt64

    package init(head: HTTPRequestHead, body: [UInt8], remoteAddress: String, connectionID: UInt64) {
        self.head = head
        self.body = body
        self.remoteAddress = remoteAddress
        self.connectionID = connectionID
    }

    /// A request that did not come over a socket: an operation of a batch, a test.
    ///
    /// The target is in origin form, such as `/users?limit=1`.
    package init(
        method: HTTPMethod,
        target: String,
        headers: HTTPHeaders = HTTPHeaders(),
        body: [UInt8] = [],
        remoteAddress: String = "127.0.0.1",
        connectionID: UInt64 = 0
    ) {
        let targetBytes = Array(target.utf8)
        let start = headers.bytes.count
        let end = start + targetBytes.count
        let mark = targetBytes.firstIndex(of: UInt8(ascii: "?")).map { start + $0 }
        let pathBytes = targetBytes[..<(mark.map { $0 - start } ?? targetBytes.count)]
        head = HTTPRequestHead(
            method: method,
            path: String(decoding: pathBytes, as: UTF8.self),
            minorVersion: 1,
            headers: HTTPHeaders(bytes: headers.bytes + targetBytes, fields: headers.fields),
            contentLength: body.count,
            isChunked: false,
            expectsContinue: false,
            keepsAlive: true,
            targetRange: start..<end,
            queryRange: mark.map { $0 + 1..<end }
        )
        self.body = body
        self.remoteAddress = remoteAddress
        self.connectionID = connectionID
    }

    package var method: HTTPMethod { head.method }
    /// The request target exactly as sent.
    package var target: String { head.target }
    /// The target up to `?`, still percent-encoded.
    package var path: String { head.path }
    /// What follows the first `?` of the target, still encoded; `nil` without one.
    package var query: String? { head.query }
    package var headers: HTTPHeaders { head.headers }
}
