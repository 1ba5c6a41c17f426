/// Checks and takes apart a head whose lines all end in CR LF.
enum HTTPHeadParser {
    private enum Known { case contentLength, transferEncoding, host, expect, connection }

    /// What the fields say about framing, gathered while they are read.
    private struct Framing {
        var contentLength: Int?
        var hasTransferEncoding = false
        var isChunked = false
        var hosts = 0
        var expectsContinue = false
        var hasOtherExpectation = false
        var closes = false
        var asksKeepAlive = false
    }

    static func parse(_ bytes: [UInt8]) throws(HTTPFailure) -> HTTPRequestHead {
        let result: Result<HTTPRequestHead, HTTPFailure> = bytes.withUnsafeBytes { raw in
            do throws(HTTPFailure) { return .success(try parse(raw, bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private static func parse(
        _ raw: UnsafeRawBufferPointer,
        _ bytes: [UInt8]
    ) throws(HTTPFailure) -> HTTPRequestHead {
        var position = 0
        let line = try RequestLine(raw, position: &position)
        var framing = Framing()
        let fields = try parseFields(raw, position: &position) { known, value throws(HTTPFailure) in
            try note(known, value, in: &framing)
        }
        try check(framing, line)
        let keepsAlive = framing.closes ? false : line.minorVersion == 1 || framing.asksKeepAlive
        return HTTPRequestHead(
            method: line.method,
            path: line.path(raw),
            minorVersion: line.minorVersion,
            headers: HTTPHeaders(bytes: bytes, fields: fields),
            contentLength: framing.contentLength,
            isChunked: framing.isChunked,
            // HTTP/1.0 has no interim responses (RFC 9110 §10.1.1).
            expectsContinue: framing.expectsContinue && line.minorVersion == 1,
            keepsAlive: keepsAlive,
            targetRange: line.target,
            queryRange: line.query
        )
    }

    /// The fields of a trailer are checked as those of a head are, and forgotten.
    static func checkTrailer(_ bytes: [UInt8]) throws(HTTPFailure) {
        let failure: HTTPFailure? = bytes.withUnsafeBytes { raw in
            var position = 0
            do throws(HTTPFailure) {
                _ = try parseFields(raw, position: &position) { _, _ throws(HTTPFailure) in }
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    private static func parseFields(
        _ raw: UnsafeRawBufferPointer,
        position: inout Int,
        note: (Known, Slice<UnsafeRawBufferPointer>) throws(HTTPFailure) -> Void
    ) throws(HTTPFailure) -> [HTTPHeaders.Field] {
        var fields: [HTTPHeaders.Field] = []
        fields.reserveCapacity(12)
        while raw[position] != ASCII.carriageReturn {
            let nameStart = position
            while ASCII.isToken(raw[position]) { position += 1 }
            let nameEnd = position
            guard raw[position] == ASCII.colon, nameEnd > nameStart else {
                let isFolded = raw[nameStart] == ASCII.space || raw[nameStart] == ASCII.tab
                throw .badRequest(isFolded ? "a header line is folded" : "a header field has no proper name")
            }
            position += 1
            while raw[position] == ASCII.space || raw[position] == ASCII.tab { position += 1 }
            let valueStart = position
            while !ASCII.isControl(raw[position]) || raw[position] == ASCII.tab { position += 1 }
            guard raw[position] == ASCII.carriageReturn, raw[position + 1] == ASCII.lineFeed else {
                throw .badRequest("a header value contains a control character")
            }
            var valueEnd = position
            while valueEnd > valueStart, raw[valueEnd - 1] == ASCII.space || raw[valueEnd - 1] == ASCII.tab {
                valueEnd -= 1
            }
            position += 2
            if let known = known(raw[nameStart..<nameEnd]) { try note(known, raw[valueStart..<valueEnd]) }
            fields.append(
                HTTPHeaders.Field(
                    nameStart: UInt32(nameStart),
                    nameEnd: UInt32(nameEnd),
                    valueStart: UInt32(valueStart),
                    valueEnd: UInt32(valueEnd)
                )
            )
        }
        guard raw[position + 1] == ASCII.lineFeed else {
            throw .badRequest("a carriage return stands alone")
        }
        return fields
    }

    private static func known(_ name: Slice<UnsafeRawBufferPointer>) -> Known? {
        switch name.count {
        case 4: equals(name, "host") ? .host : nil
        case 6: equals(name, "expect") ? .expect : nil
        case 10: equals(name, "connection") ? .connection : nil
        case 14: equals(name, "content-length") ? .contentLength : nil
        case 17: equals(name, "transfer-encoding") ? .transferEncoding : nil
        default: nil
        }
    }

    private static func note(
        _ known: Known,
        _ value: Slice<UnsafeRawBufferPointer>,
        in framing: inout Framing
    ) throws(HTTPFailure) {
        switch known {
        case .contentLength:
            // Equal duplicates could be merged, but no honest client sends them.
            guard framing.contentLength == nil else { throw .badRequest("Content-Length comes twice") }
            framing.contentLength = try length(value)
        case .transferEncoding:
            framing.isChunked = equals(value, "chunked") && !framing.hasTransferEncoding
            framing.hasTransferEncoding = true
        case .host:
            framing.hosts += 1
            guard value.allSatisfy(isHostByte) else { throw .badRequest("Host is malformed") }
        case .expect:
            if equals(value, "100-continue") {
                framing.expectsContinue = true
            } else {
                framing.hasOtherExpectation = true
            }
        case .connection:
            for option in value.split(separator: UInt8(ascii: ",")) {
                let option = trimmed(option)
                if equals(option, "close") { framing.closes = true }
                if equals(option, "keep-alive") { framing.asksKeepAlive = true }
            }
        }
    }

    private static func check(_ framing: Framing, _ line: RequestLine) throws(HTTPFailure) {
        if framing.hasTransferEncoding {
            guard framing.contentLength == nil else {
                throw .badRequest("Content-Length and Transfer-Encoding exclude each other")
            }
            guard line.minorVersion == 1 else { throw .badRequest("HTTP/1.0 has no Transfer-Encoding") }
            guard framing.isChunked else {
                throw HTTPFailure(status: 501, reason: "the only transfer coding is chunked")
            }
        }
        guard framing.hosts < 2 else { throw .badRequest("Host comes twice") }
        guard framing.hosts == 1 || line.minorVersion == 0 else { throw .badRequest("Host is missing") }
        if framing.hasOtherExpectation {
            throw HTTPFailure(status: 417, reason: "the only expectation is 100-continue")
        }
    }

    private static func length(_ value: Slice<UnsafeRawBufferPointer>) throws(HTTPFailure) -> Int {
        guard !value.isEmpty, value.count <= 18, value.allSatisfy({ $0 >= 48 && $0 <= 57 }) else {
            throw .badRequest("Content-Length is not a number")
        }
        return value.reduce(0) { $0 * 10 + Int($1 - 48) }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "@"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\\"),
            UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"):
            false
        default: byte > 32 && byte < 127
        }
    }

    private static func trimmed(_ value: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        var value = value
        while let first = value.first, first == ASCII.space || first == ASCII.tab { value.removeFirst() }
        while let last = value.last, last == ASCII.space || last == ASCII.tab { value.removeLast() }
        return value
    }

    /// Compares without regard to case, if the right side is in lower case.
    @inline(__always)
    static func equals(_ bytes: Slice<UnsafeRawBufferPointer>, _ lowercase: StaticString) -> Bool {
        guard bytes.count == lowercase.utf8CodeUnitCount else { return false }
        var expected = lowercase.utf8Start
        for byte in bytes {
            guard ASCII.lowercase(byte) == expected.pointee else { return false }
            expected += 1
        }
        return true
    }
}
