/// One response as it came over the wire.
package struct HTTPReply: Sendable {
    package let status: Int
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The body as text; bytes that are not UTF-8 are replaced.
    package var text: String {
        String(decoding: body, as: UTF8.self)
    }

    /// The value of the first header of that name, in whatever case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Whether the server says that it closes the connection after this.
    package var closes: Bool {
        header("Connection")?.lowercased() == "close"
    }
}
