/// The first line of a request, taken apart.
struct RequestLine {
    let method: HTTPMethod
    let minorVersion: Int
    /// All of the target.
    let target: Range<Int>
    /// Its path and what follows `?`.
    private let path: Range<Int>?
    let query: Range<Int>?

    /// Reads the line at `position`, which is followed by CR LF at some place.
    init(_ raw: UnsafeRawBufferPointer, position: inout Int) throws(HTTPFailure) {
        let start = position
        while ASCII.isToken(raw[position]) { position += 1 }
        guard position > start, raw[position] == ASCII.space else {
            throw .badRequest("the request line does not begin with a method")
        }
        method = Self.method(raw[start..<position])
        position += 1

        let targetStart = position
        var question: Int?
        // Only what would end the line or the word is refused: clients do send `^`, `{`, `|` and raw UTF-8.
        while raw[position] > ASCII.space, raw[position] != 127 {
            if question == nil, raw[position] == UInt8(ascii: "?") { question = position }
            position += 1
        }
        target = targetStart..<position
        guard !target.isEmpty, raw[position] == ASCII.space else {
            throw .badRequest("the request target is malformed")
        }
        position += 1
        minorVersion = try Self.version(raw, &position)
        path = try Self.path(raw, target, pathEnd: question ?? target.upperBound, method)
        query = question.map { [target] in $0 + 1..<target.upperBound }
        if method == .connect { throw HTTPFailure(status: 501, reason: "CONNECT is not served") }
    }

    func path(_ raw: UnsafeRawBufferPointer) -> String {
        path.map { String(decoding: raw[$0], as: UTF8.self) } ?? "/"
    }

    private static func method(_ bytes: Slice<UnsafeRawBufferPointer>) -> HTTPMethod {
        switch bytes.count {
        case 3 where bytes.elementsEqual("GET".utf8): .get
        case 3 where bytes.elementsEqual("PUT".utf8): .put
        case 4 where bytes.elementsEqual("POST".utf8): .post
        default: HTTPMethod(rawValue: String(decoding: bytes, as: UTF8.self))
        }
    }

    private static func version(
        _ raw: UnsafeRawBufferPointer,
        _ position: inout Int
    ) throws(HTTPFailure) -> Int {
        let start = position
        while !ASCII.isControl(raw[position]) { position += 1 }
        guard raw[position] == ASCII.carriageReturn, raw[position + 1] == ASCII.lineFeed,
            position - start == 8,
            isHTTP(raw, start), isDigit(raw[start + 5]), raw[start + 6] == UInt8(ascii: "."),
            isDigit(raw[start + 7])
        else { throw .badRequest("the request line does not end with a version") }
        position += 2
        let minor = Int(raw[start + 7]) - 48
        guard raw[start + 5] == UInt8(ascii: "1"), minor < 2 else {
            throw HTTPFailure(status: 505, reason: "only HTTP/1.0 and HTTP/1.1 are served")
        }
        return minor
    }

    /// The four forms of RFC 9112 §3.2; `nil` means the root.
    private static func path(
        _ raw: UnsafeRawBufferPointer,
        _ target: Range<Int>,
        pathEnd: Int,
        _ method: HTTPMethod
    ) throws(HTTPFailure) -> Range<Int>? {
        let start = target.lowerBound
        if raw[start] == UInt8(ascii: "/") { return start..<pathEnd }
        if method == .connect { return nil }
        if target.count == 1, raw[start] == UInt8(ascii: "*") {
            guard method == .options else { throw .badRequest("only OPTIONS may ask for *") }
            return start..<pathEnd
        }
        for scheme in ["http://", "https://"] as [StaticString] {
            let authority = start + scheme.utf8CodeUnitCount
            guard authority < pathEnd, HTTPHeadParser.equals(raw[start..<authority], scheme) else { continue }
            let slash = raw[authority..<pathEnd].firstIndex(of: UInt8(ascii: "/")) ?? pathEnd
            // Names before the host are for misleading people (RFC 9110 §4.2.4).
            guard slash > authority, !raw[authority..<slash].contains(UInt8(ascii: "@")) else { break }
            return slash < pathEnd ? slash..<pathEnd : nil
        }
        throw .badRequest("the request target is malformed")
    }

    private static func isHTTP(_ raw: UnsafeRawBufferPointer, _ start: Int) -> Bool {
        raw[start] == UInt8(ascii: "H") && raw[start + 1] == UInt8(ascii: "T")
            && raw[start + 2] == UInt8(ascii: "T") && raw[start + 3] == UInt8(ascii: "P")
            && raw[start + 4] == UInt8(ascii: "/")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }
}
