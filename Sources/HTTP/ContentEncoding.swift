import CZlib

/// Content codings of request bodies (RFC 9110 §8.4.1).
package enum ContentEncoding: Sendable {
    case gzip
    /// The zlib format of the standard, or raw deflate as some clients send by mistake.
    case deflate

    /// The coding of that name in any case, also `x-gzip`; `nil` for others.
    package init?(name: String) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default: return nil
        }
    }

    /// Expands `body`.
    ///
    /// Memory stays within `maxBytes` and one buffer, whatever the body pretends. Blocks for as long as the
    /// work takes, some milliseconds per megabyte.
    ///
    /// - Throws: ``HTTPFailure`` 413 when the result is over `maxBytes`, 400 when the body is corrupt or cut off.
    package static func inflate(
        _ body: [UInt8],
        encoding: ContentEncoding,
        maxBytes: Int
    ) throws(HTTPFailure) -> [UInt8] {
        switch encoding {
        case .gzip:
            return try inflate(body, windowBits: 15 + 16, maxBytes: maxBytes)
        case .deflate:
            // A zlib header is a multiple of 31 and names method 8; raw deflate passes for one only by chance,
            // and then fails at once.
            let looksLikeZlib =
                body.count >= 2 && body[0] & 15 == 8 && (Int(body[0]) << 8 | Int(body[1])) % 31 == 0
            return try inflate(body, windowBits: looksLikeZlib ? 15 : -15, maxBytes: maxBytes)
        }
    }

    private static func inflate(
        _ body: [UInt8],
        windowBits: Int32,
        maxBytes: Int
    ) throws(HTTPFailure) -> [UInt8] {
        var stream = z_stream()
        guard
            inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { throw HTTPFailure(status: 500, reason: "no memory to expand the body") }
        defer { inflateEnd(&stream) }

        var input = body
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        var offset = 0
        while true {
            let (status, used, made) = input.withUnsafeMutableBufferPointer { input in
                buffer.withUnsafeMutableBufferPointer { buffer in
                    stream.next_in = input.baseAddress.map { $0 + offset }
                    stream.avail_in = UInt32(clamping: input.count - offset)
                    stream.next_out = buffer.baseAddress
                    stream.avail_out = UInt32(buffer.count)
                    let offered = stream.avail_in
                    let status = CZlib.inflate(&stream, Z_NO_FLUSH)
                    return (status, Int(offered - stream.avail_in), buffer.count - Int(stream.avail_out))
                }
            }
            offset += used
            guard output.count + made <= maxBytes else { throw .bodyTooLarge }
            output += buffer[..<made]
            switch status {
            case Z_STREAM_END:
                // gzip allows members one after the other (RFC 1952 §2.2).
                if offset == input.count { return output }
                guard windowBits > 15, inflateReset(&stream) == Z_OK else { throw corrupt }
            case Z_OK:
                continue
            default:
                throw corrupt
            }
        }
    }

    private static let corrupt = HTTPFailure.badRequest("the compressed body is corrupt")
}
