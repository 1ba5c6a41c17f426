/// Decodes a chunked body (RFC 9112 §7.1), byte by byte where lines are, in one go where data is.
struct ChunkedBody: Sendable {
    enum Step {
        case needInput
        case body(Range<Int>)
        case end
        case refuse(HTTPFailure)
    }

    private enum Place: Sendable {
        case sizeStart, size, extensions, sizeLineFeed
        case data, dataReturn, dataLineFeed
        case trailer
    }

    private var place = Place.sizeStart
    private var remaining = 0
    private var total = 0
    private var lineBytes = 0
    /// Extensions of all chunks together: one byte of data with a kilobyte beside it must not go on for ever.
    private var extensionBytes = 0
    private var trailer: [UInt8] = []
    private var trailerLineStart = 0
    private var trailerLines = 0

    mutating func next(
        _ input: UnsafeRawBufferPointer,
        consumed: inout Int,
        maxBodyBytes: Int,
        limits: HTTPLimits
    ) -> Step {
        while consumed < input.count {
            if place == .data {
                let available = min(remaining, input.count - consumed)
                let range = consumed..<consumed + available
                consumed += available
                remaining -= available
                if remaining == 0 { place = .dataReturn }
                return .body(range)
            }
            let byte = input[consumed]
            consumed += 1
            do throws(HTTPFailure) {
                if try step(byte, maxBodyBytes, limits) { return .end }
            } catch {
                return .refuse(error)
            }
        }
        return .needInput
    }

    /// Returns whether the body is complete.
    private mutating func step(_ byte: UInt8, _ maxBodyBytes: Int, _ limits: HTTPLimits) throws(HTTPFailure)
        -> Bool
    {
        switch place {
        case .sizeStart, .size:
            try countLineByte(limits)
            if let digit = ASCII.hexValue(byte) {
                // Fifteen digits cannot overflow; more are refused even if they are zeros.
                guard lineBytes <= 15 else { throw .badRequest("a chunk size is too long") }
                remaining = remaining << 4 | Int(digit)
                place = .size
            } else if place == .size, byte == UInt8(ascii: ";") {
                place = .extensions
            } else if place == .size, byte == ASCII.carriageReturn {
                place = .sizeLineFeed
            } else {
                throw .badRequest("a chunk size is malformed")
            }
        case .extensions:
            try countLineByte(limits)
            extensionBytes += 1
            guard extensionBytes <= 16 * 1024 else { throw .badRequest("chunk extensions are too large") }
            if byte == ASCII.carriageReturn {
                place = .sizeLineFeed
            } else if ASCII.isControl(byte), byte != ASCII.tab {
                throw .badRequest("a chunk extension contains a control character")
            }
        case .sizeLineFeed:
            guard byte == ASCII.lineFeed else { throw .badRequest("a chunk size is malformed") }
            guard remaining <= maxBodyBytes - total else { throw .bodyTooLarge }
            total += remaining
            place = remaining == 0 ? .trailer : .data
        case .data:
            break
        case .dataReturn:
            guard byte == ASCII.carriageReturn else { throw .badRequest("a chunk is longer than its size") }
            place = .dataLineFeed
        case .dataLineFeed:
            guard byte == ASCII.lineFeed else { throw .badRequest("a chunk is longer than its size") }
            place = .sizeStart
            remaining = 0
            lineBytes = 0
        case .trailer:
            return try stepTrailer(byte, limits)
        }
        return false
    }

    private mutating func countLineByte(_ limits: HTTPLimits) throws(HTTPFailure) {
        lineBytes += 1
        guard lineBytes <= limits.chunkLineBytes else { throw .badRequest("a chunk line is too long") }
    }

    private mutating func stepTrailer(_ byte: UInt8, _ limits: HTTPLimits) throws(HTTPFailure) -> Bool {
        guard trailer.count < limits.headerBytes + 2 else {
            throw HTTPFailure(status: 431, reason: "the trailer fields are too large")
        }
        trailer.append(byte)
        guard byte == ASCII.lineFeed else { return false }
        guard trailer.count >= trailerLineStart + 2, trailer[trailer.count - 2] == ASCII.carriageReturn else {
            throw .badRequest("a line ends without a carriage return")
        }
        if trailer.count == trailerLineStart + 2 {
            try HTTPHeadParser.checkTrailer(trailer)
            return true
        }
        trailerLines += 1
        trailerLineStart = trailer.count
        guard trailerLines <= limits.headerCount else {
            throw HTTPFailure(status: 431, reason: "too many trailer fields")
        }
        return false
    }
}
