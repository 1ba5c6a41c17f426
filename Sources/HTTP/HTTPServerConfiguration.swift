/// Where an ``HTTPServer`` listens and what it allows.
package struct HTTPServerConfiguration: Sendable {
    /// An address or a name; `::` means all addresses of both families.
    package var host: String
    /// 0…65,535; 0 takes any that is free.
    package var port: Int
    package var backlog = 1024
    package var limits = HTTPLimits()
    package var deadlines = HTTPDeadlines()
    /// Open connections; one more is answered 503 and closed.
    package var maxConnections = 20_000
    /// Bytes a client may leave unread before its next pipelined request waits.
    package var outputBytesCap = 256 * 1024
    /// Told, on a loop, of what no client can be told, such as running out of descriptors.
    package var onProblem: (@Sendable (String) -> Void)?

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}
