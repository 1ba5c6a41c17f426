import HTTP
import Testing

@Suite("The request decoder") struct HTTPRequestDecoderTests {
    // MARK: - Accepted

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", ["GET / 1.1", "  Host: a", "= "]),
        ("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", ["GET / 1.1", "  Host: a", "= "]),
        ("GET / HTTP/1.0\r\n\r\n", ["GET / 1.0", "= "]),
        ("GET / HTTP/1.1\r\nHost:\r\nX:\t a b \t\r\n\r\n", ["GET / 1.1", "  Host: ", "  X: a b", "= "]),
        ("GET /a?b=c?d HTTP/1.1\r\nHost: a:80\r\n\r\n", ["GET /a?b=c?d 1.1", "  Host: a:80", "= "]),
        (
            "GET /^{}\"|é<>\\` HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
            ["GET /^{}\"|é<>\\` 1.1", "  Host: [::1]:80", "= "]
        ),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", ["OPTIONS * 1.1", "  Host: a", "= "]),
        ("M-SEARCH / HTTP/1.1\r\nHost: a\r\n\r\n", ["M-SEARCH / 1.1", "  Host: a", "= "]),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 005\r\n\r\nhello",
            ["POST / 1.1", "  Host: a", "  Content-Length: 005", "= hello"]
        ),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n1A;x=\"y z\"\r\n"
                + "abcdefghijklmnopqrstuvwxyz\r\n000\r\nTrailer: t\r\n\r\nGET /2 HTTP/1.0\r\n\r\n",
            [
                "POST / 1.1", "  Host: a", "  Transfer-Encoding: Chunked", "= abcabcdefghijklmnopqrstuvwxyz",
                "GET /2 1.0", "= ",
            ]
        ),
        ("GET / HTTP/1.1\r\nHost: a\r\n", ["wait"]),
        ("\r\n", ["wait"]),
        ("", []),
    ])
    func `reads well-formed requests, the same for every split`(text: String, expected: [String]) {
        let bytes = Array(text.utf8)
        #expect(transcript(of: [bytes]) == expected)
        for cut in bytes.indices {
            #expect(
                transcript(of: [Array(bytes[..<cut]), Array(bytes[cut...])]) == expected,
                "cut at \(cut)"
            )
        }
        #expect(transcript(of: bytes.map { [$0] }) == expected)
    }

    @Test(
        arguments: [
            ("/a/b?c=d", "/a/b", "c=d"), ("/a?", "/a", ""), ("/", "/", nil), ("http://h/a?b", "/a", "b"),
            ("HTTPS://h:1/a", "/a", nil), ("http://h", "/", nil), ("http://h?q", "/", "q"),
            ("//x", "//x", nil),
            ("/%41#f", "/%41#f", nil),
        ] as [(String, String, String?)]
    )
    func `takes a target apart`(target: String, path: String, query: String?) throws {
        let head = try head(of: "GET \(target) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(head.target == target)
        #expect(head.path == path)
        #expect(head.query == query)
    }

    @Test(arguments: [
        ("HTTP/1.1", "", true), ("HTTP/1.1", "Connection: close\r\n", false),
        ("HTTP/1.1", "Connection: foo , CLOSE\r\n", false), ("HTTP/1.0", "", false),
        ("HTTP/1.0", "Connection: Keep-Alive\r\n", true),
        ("HTTP/1.0", "Connection: keep-alive, close\r\n", false),
        ("HTTP/1.1", "Connection: closed\r\n", true),
    ])
    func `knows whether the connection goes on`(version: String, field: String, keepsAlive: Bool) throws {
        #expect(try head(of: "GET / \(version)\r\nHost: h\r\n\(field)\r\n").keepsAlive == keepsAlive)
    }

    @Test func `an expectation counts in HTTP 1.1 only`() throws {
        #expect(try head(of: "PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\n\r\n").expectsContinue)
        #expect(try !head(of: "PUT / HTTP/1.0\r\nHost: h\r\nExpect: 100-continue\r\n\r\n").expectsContinue)
    }

    private struct NoHead: Error {}

    private func head(of text: String) throws -> HTTPRequestHead {
        var decoder = HTTPRequestDecoder()
        var consumed = 0
        let action = Array(text.utf8).withUnsafeBytes {
            decoder.next($0, consumed: &consumed, limits: HTTPLimits())
        }
        guard case .head(let head) = action else { throw NoHead() }
        return head
    }

    // MARK: - Refused

    static let refused: [(String, Int)] = [
        // Line ends.
        ("GET / HTTP/1.1\nHost: a\n\n", 400), ("GET / HTTP/1.1\r\nHost: a\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\n\n", 400), ("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/1.1\rHost: a\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\n\rX: b\r\n\r\n", 400),
        ("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        // Request line.
        ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400), (" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400), ("GET /\r\nHost: a\r\n\r\n", 400),
        ("GET\r\nHost: a\r\n\r\n", 400), ("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET /\u{1} HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /\u{7F} HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("OPTIONS *a HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET ftp://h/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET http:///a HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET http:// HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("GET http://u@h/ HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET h:80 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("CONNECT h:80 HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        // Versions.
        ("GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505), ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        ("GET / HTTP/0.9\r\n\r\n", 505), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        ("GET / http/1.1\r\nHost: a\r\n\r\n", 400), ("GET / HTTP/1.11\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/11\r\nHost: a\r\n\r\n", 400), ("GET / HTTP/1,1\r\nHost: a\r\n\r\n", 400),
        // Fields.
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\n X: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n\tc\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX Y: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX(: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\né: b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: \u{7F}\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: a\u{8}\r\n\r\n", 400),
        // Host.
        ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
        ("GET / HTTP/1.0\r\nHost: a\r\nhost: b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", 400),
    ]

    static let refusedFraming: [(String, Int)] = [
        ("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", 400),
        ("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", 400),
        ("Content-Length: 1\r\nContent-Length: 2\r\n", 400),
        ("Content-Length: 1\r\ncontent-length: 1\r\n", 400),
        ("Content-Length: 1, 1\r\n", 400), ("Content-Length: +5\r\n", 400), ("Content-Length: -5\r\n", 400),
        ("Content-Length: 5a\r\n", 400), ("Content-Length: 0x5\r\n", 400), ("Content-Length: \r\n", 400),
        ("Content-Length: 5 5\r\n", 400), ("Content-Length: 99999999999999999999\r\n", 400),
        ("Content-Length: 18446744073709551621\r\n", 400), ("Content-Length: 1.0\r\n", 400),
        ("Transfer-Encoding: gzip\r\n", 501), ("Transfer-Encoding: gzip, chunked\r\n", 501),
        ("Transfer-Encoding: chunked, chunked\r\n", 501), ("Transfer-Encoding: identity\r\n", 501),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 501),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", 501), ("Transfer-Encoding:\r\n", 501),
        ("Transfer-Encoding: xchunked\r\n", 501), ("Transfer-Encoding: chunked;q=1\r\n", 501),
        ("Transfer-Encoding : chunked\r\n", 400), ("Transfer-Encoding: \u{B}chunked\r\n", 400),
        ("Expect: 200-ok\r\n", 417), ("Expect: 100-continue\r\nExpect: x\r\n", 417),
    ]

    static let refusedChunks: [(String, Int)] = [
        ("\r\n", 400), ("x\r\n", 400), ("-1\r\n", 400), ("+1\r\n", 400), ("0x1\r\n", 400), (" 1\r\n", 400),
        ("1 \r\n", 400), ("1\n", 400), ("1\ra", 400), (";x\r\n", 400), ("1;\n", 400), ("1;a\u{1}\r\n", 400),
        ("1\r\nab\r\n", 400), ("1\r\na\n", 400), ("1\r\na\rx", 400), ("FFFFFFFFFFFFFFFF\r\n", 400),
        ("10000000000000000\r\n", 400), ("0000000000000001\r\n", 400), ("7FFFFFFFFFFFFFF\r\n", 413),
        ("0\r\nX : y\r\n\r\n", 400), ("0\r\nX: y\n\r\n", 400), ("0\r\n x: y\r\n\r\n", 400), ("0\r\n\n", 400),
        ("0\r\nX\r\n\r\n", 400), ("0\r\nX: \0\r\n\r\n", 400),
    ]

    @Test(arguments: refused) func `refuses an ambiguous head`(text: String, status: Int) {
        check(text, status)
    }

    @Test(arguments: refusedFraming) func `refuses ambiguous framing`(fields: String, status: Int) {
        check("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n", status)
    }

    @Test(arguments: refusedChunks) func `refuses a malformed chunk`(chunks: String, status: Int) {
        check("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)", status)
    }

    @Test func `refuses chunks in HTTP 1.0`() {
        check("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400)
    }

    /// Refused with that status whole, byte by byte, and for good.
    private func check(_ text: String, _ status: Int) {
        let bytes = Array(text.utf8)
        #expect(refusal(of: bytes) == status)
        #expect(transcript(of: bytes.map { [$0] }) == transcript(of: [bytes]))
        #expect(
            transcript(of: [bytes, Array("GET / HTTP/1.0\r\n\r\n".utf8)]).last?.hasPrefix("refuse") == true
        )
    }

    @Test func `raw bytes of no encoding pass in targets and values`() {
        let bytes = Array("GET /".utf8) + [0xFF, 0x80] + Array(" HTTP/1.1\r\nHost: a\r\nX: ".utf8) + [0xFF]
        #expect(refusal(of: bytes + Array("\r\n\r\n".utf8)) == nil)
    }

    // MARK: - Limits

    @Test(arguments: [(-1, nil), (0, nil), (1, 414)] as [(Int, Int?)])
    func `limits the request line`(over: Int, status: Int?) {
        var limits = HTTPLimits()
        limits.requestLineBytes = 100
        // "GET /" and " HTTP/1.1" are 14 bytes.
        let line = "GET /" + String(repeating: "a", count: 86 + over) + " HTTP/1.1"
        let bytes = Array("\(line)\r\nHost: a\r\n\r\n".utf8)
        #expect(line.utf8.count == 100 + over)
        #expect(refusal(of: bytes, limits: limits) == status)
        #expect(
            transcript(of: bytes.map { [$0] }, limits: limits) == transcript(of: [bytes], limits: limits)
        )
    }

    @Test func `refuses an endless request line without waiting for its end`() {
        #expect(refusal(of: Array(repeating: UInt8(ascii: "a"), count: 17_000)) == 414)
    }

    @Test(arguments: [(99, nil), (100, nil), (101, 431)] as [(Int, Int?)])
    func `limits the number of fields`(count: Int, status: Int?) {
        let fields = "Host: a\r\n" + String(repeating: "X: y\r\n", count: count - 1)
        let bytes = Array("GET / HTTP/1.1\r\n\(fields)\r\n".utf8)
        #expect(refusal(of: bytes) == status)
        #expect(transcript(of: bytes.map { [$0] }) == transcript(of: [bytes]))
    }

    @Test(arguments: [(-1, nil), (0, nil), (1, 431)] as [(Int, Int?)])
    func `limits the size of the fields`(over: Int, status: Int?) {
        var limits = HTTPLimits()
        limits.headerBytes = 200
        // "Host: a\r\n" and "X: \r\n" are 14 bytes.
        let fields = "Host: a\r\nX: " + String(repeating: "y", count: 186 + over) + "\r\n"
        let bytes = Array("GET / HTTP/1.1\r\n\(fields)\r\n".utf8)
        #expect(fields.utf8.count == 200 + over)
        #expect(refusal(of: bytes, limits: limits) == status)
        #expect(
            transcript(of: bytes.map { [$0] }, limits: limits) == transcript(of: [bytes], limits: limits)
        )
    }

    @Test(arguments: [(9, nil), (10, nil), (11, 413)] as [(Int, Int?)])
    func `limits a chunked body by its data`(size: Int, status: Int?) {
        let chunks = String(repeating: "1;ext\r\na\r\n", count: size) + "0\r\n\r\n"
        let bytes = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)".utf8)
        #expect(refusal(of: bytes, maxBodyBytes: 10) == status)
    }

    @Test(arguments: [(9, nil), (10, nil), (11, 413)] as [(Int, Int?)])
    func `limits a body that announces its length`(size: Int, status: Int?) {
        let body = String(repeating: "a", count: size)
        let bytes = Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n\(body)".utf8)
        #expect(refusal(of: bytes, maxBodyBytes: 10) == status)
    }

    @Test(arguments: [(1023, nil), (1024, nil), (1025, 400)] as [(Int, Int?)])
    func `limits a chunk line`(count: Int, status: Int?) {
        // The carriage return is counted.
        let line = "1;" + String(repeating: "x", count: count - 3) + "\r\n"
        let bytes = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(line)a\r\n".utf8)
        #expect(refusal(of: bytes) == status)
    }

    @Test func `limits the chunk extensions of a body together`() {
        let chunk = "1;" + String(repeating: "x", count: 1000) + "\r\na\r\n"
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(refusal(of: Array((head + String(repeating: chunk, count: 16)).utf8)) == nil)
        #expect(refusal(of: Array((head + String(repeating: chunk, count: 17)).utf8)) == 400)
    }

    @Test(arguments: [(100, nil), (101, 431)] as [(Int, Int?)])
    func `limits the number of trailer fields`(count: Int, status: Int?) {
        let trailer = String(repeating: "X: y\r\n", count: count)
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        #expect(refusal(of: Array("\(head)\(trailer)\r\n".utf8)) == status)
    }

    @Test(arguments: [(-1, nil), (0, nil), (1, 431)] as [(Int, Int?)])
    func `limits the size of the trailer`(over: Int, status: Int?) {
        var limits = HTTPLimits()
        limits.headerBytes = 200
        let trailer = "X: " + String(repeating: "y", count: 195 + over) + "\r\n"
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        #expect(refusal(of: Array("\(head)\(trailer)\r\n".utf8), limits: limits) == status)
    }

    // MARK: - Random input

    @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
    func `gives the same result however mutated requests are split`(seed: UInt64) {
        var random = SplitMix64(state: seed)
        let samples =
            (Self.refused.map(\.0) + ["GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"]
            + Self.refusedChunks.map {
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + $0.0
            })
            .map { Array($0.utf8) }
        let interesting = Array("\r\n \t:;,0aF/?*%\0\u{7F}".utf8) + [0x80, 0xFF]
        for _ in 0..<3000 {
            var bytes = samples[Int.random(in: samples.indices, using: &random)]
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let position = Int.random(in: bytes.indices, using: &random)
                let byte = interesting[Int.random(in: interesting.indices, using: &random)]
                if Bool.random(using: &random) {
                    bytes[position] = byte
                } else {
                    bytes.insert(byte, at: position)
                }
            }
            var parts: [[UInt8]] = []
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + Int.random(in: 1...20, using: &random))
                parts.append(Array(bytes[start..<end]))
                start = end
            }
            let whole = transcript(of: [bytes])
            guard transcript(of: parts) == whole else {
                Issue.record("seed \(seed): \(parts) against \(whole)")
                return
            }
        }
    }
}

/// A small seedable generator.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
