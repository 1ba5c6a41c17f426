/// How much of a request's head is accepted; the body's limit is the handler's.
package struct HTTPLimits: Sendable {
    /// Bytes of the request line without its line end; over it 414.
    package var requestLineBytes = 16 * 1024
    /// Header fields, also of the trailer; over it 431.
    package var headerCount = 100
    /// Bytes of all header lines with their line ends, also of the trailer; over it 431.
    package var headerBytes = 32 * 1024
    /// Bytes of one chunk-size line with its extensions; over it 400.
    package var chunkLineBytes = 1024

    package init() {}
}

/// How long a client may take.
package struct HTTPDeadlines: Sendable {
    /// From the first byte of a head to its last; dripping does not extend it.
    package var header: Duration = .seconds(10)
    /// Without a byte of the body, and what a whole body may take beside ``bodyBytesPerSecond``.
    package var bodyIdle: Duration = .seconds(30)
    /// The rate a body must reach after that, so that dripping it ends.
    package var bodyBytesPerSecond = 1000
    /// Without the client taking a byte of a response.
    package var write: Duration = .seconds(30)
    /// Between a response and the first byte of the next request.
    package var keepAlive: Duration = .seconds(75)
    /// For a client that has ended its side (it may be gone altogether) until its request is cancelled.
    ///
    /// The answer is sent if there still is one.
    package var halfClosed: Duration = .seconds(5)
    /// For a client to read an answer after which the connection closes.
    package var linger: Duration = .seconds(2)

    package init() {}
}
