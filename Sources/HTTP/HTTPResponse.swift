/// A response, its body in memory or still to be made.
///
/// The server adds `Content-Length` or `Transfer-Encoding`, `Date` and, when it will close, `Connection: close`; fields of these names
/// and `Transfer-Encoding` in ``headers`` are dropped.
package struct HTTPResponse: Sendable {
    /// 200…599.
    package var status: Int
    package var headers: HTTPHeaders
    /// Complete `Name: value\r\n` lines that are sent verbatim, for fields that many responses share.
    package var preformattedHeaders: [UInt8]
    package var body: [UInt8]
    /// Makes the body while it is sent; ``body`` is not looked at then.
    package var producer: HTTPBodyProducer?
    /// Whether the server closes the connection after this response.
    package var closesConnection: Bool

    package init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
        preformattedHeaders = []
        closesConnection = false
    }
}
