#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Finds the end of a head, across any split, keeping to the limits and refusing bare line feeds.
struct HeadScanner: Sendable {
    /// What earlier inputs held of this head.
    private var kept: [UInt8] = []
    /// Where the line begins that is being read, how many came before, and where the fields begin.
    private var lineStart: Int32 = 0
    private var lines: Int32 = 0
    private var fieldsStart: Int32 = 0
    private var sawEmptyLine = false

    var isEmpty: Bool { kept.isEmpty && !sawEmptyLine }

    /// The whole head with its empty line, or `nil` until there is more.
    mutating func scan(
        _ input: UnsafeRawBufferPointer,
        consumed: inout Int,
        limits: HTTPLimits
    ) throws(HTTPFailure) -> [UInt8]? {
        let start = consumed
        var from = start
        // Offsets count from the head's first byte, which may have come in an earlier input.
        let base = kept.count - start
        while let lineFeed = Self.find(ASCII.lineFeed, in: input, from: from) {
            let position = base + lineFeed
            try checkLength(position, limits)
            let before: UInt8? =
                lineFeed > start ? input[lineFeed - 1] : kept.last
            guard position > Int(lineStart), before == ASCII.carriageReturn else {
                throw .badRequest("a line ends without a carriage return")
            }
            from = lineFeed + 1
            if position == Int(lineStart) + 1 {
                if lines > 0 {
                    let head = joined(input, start..<from)
                    consumed = from
                    self = HeadScanner()
                    return head
                }
                // One empty line before a request is forgiven (RFC 9112 §2.2).
                guard !sawEmptyLine else { throw .badRequest("empty lines come before the request line") }
                consumed = from
                self = HeadScanner()
                sawEmptyLine = true
                return try scan(input, consumed: &consumed, limits: limits)
            }
            if lines == 0 { fieldsStart = Int32(position + 1) }
            lines += 1
            lineStart = Int32(position + 1)
            if Int(lines) - 1 > limits.headerCount {
                throw HTTPFailure(status: 431, reason: "too many header fields")
            }
        }
        try checkLength(base + input.count - 1, limits)
        kept.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[start...]))
        consumed = input.count
        return nil
    }

    private func joined(_ input: UnsafeRawBufferPointer, _ range: Range<Int>) -> [UInt8] {
        let rest = UnsafeRawBufferPointer(rebasing: input[range])
        return kept.isEmpty ? Array(rest) : kept + rest
    }

    /// Refuses a head that has a byte at this position when it should have ended before.
    private func checkLength(_ position: Int, _ limits: HTTPLimits) throws(HTTPFailure) {
        if lines == 0 {
            // The line end is two more bytes, of which `position` may be the second.
            if position > limits.requestLineBytes + 1 {
                throw HTTPFailure(status: 414, reason: "the request line is too long")
            }
        } else if position - Int(fieldsStart) > limits.headerBytes + 1 {
            throw HTTPFailure(status: 431, reason: "the header fields are too large")
        }
    }

    private static func find(_ byte: UInt8, in input: UnsafeRawBufferPointer, from: Int) -> Int? {
        guard from < input.count, let base = input.baseAddress else { return nil }
        guard let found = memchr(base + from, Int32(byte), input.count - from) else { return nil }
        return UnsafeRawPointer(found) - base
    }
}
