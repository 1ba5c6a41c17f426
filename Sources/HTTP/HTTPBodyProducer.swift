/// A body of a response that is made while it is sent.
///
/// The connection asks for the next chunk when the client has taken most of what was sent before, so that a body
/// of any size takes the memory of a few chunks. Whatever the producer holds is released with it: when the
/// body is complete, or when the client is gone.
package struct HTTPBodyProducer: Sendable {
    /// Bytes of all chunks together; `nil` when that is not known before.
    ///
    /// The body then goes out in chunks, or, for HTTP/1.0, ends with the connection.
    package let length: Int?
    /// The next chunk; `nil` at the end.
    ///
    /// An error cuts the connection, since the status has been sent.
    package let next: @Sendable () async throws -> [UInt8]?

    /// - Parameters:
    ///   - length: Exactly what the chunks will add up to; anything else cuts the connection.
    ///   - next: Called by one task, one call after the other, on the connection's loop. Chunks of some ten
    ///     kilobytes are best.
    package init(length: Int?, next: @escaping @Sendable () async throws -> [UInt8]?) {
        self.length = length
        self.next = next
    }
}
