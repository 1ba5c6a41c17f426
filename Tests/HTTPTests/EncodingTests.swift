import HTTP
import Testing

@Suite("Percent encoding") struct PercentEncodingTests {
    @Test(
        arguments: [
            ("", ""), ("abc", "abc"), ("a%20b", "a b"), ("%41%5a%5A", "AZZ"), ("a+b", "a+b"), ("%C3%A9", "é"),
            ("100%", nil), ("%", nil), ("%4", nil), ("%4g", nil), ("%%41", nil), ("%ff", nil), ("é%41", "éA"),
        ] as [(String, String?)]
    )
    func `is decoded strictly`(text: String, decoded: String?) {
        #expect(PercentEncoding.decode(text) == decoded)
    }

    @Test(arguments: [
        ("", ""), ("aZ09-._~", "aZ09-._~"), ("a b/c?d", "a%20b%2Fc%3Fd"), ("é", "%C3%A9"),
        ("+&=%", "%2B%26%3D%25"),
    ])
    func `encodes all but unreserved characters`(text: String, encoded: String) {
        #expect(PercentEncoding.encode(text) == encoded)
        #expect(PercentEncoding.decode(encoded) == text)
    }
}

@Suite("Form encoding") struct FormEncodingTests {
    @Test(
        arguments: [
            ("", []), ("a=1&b=2", ["a=1", "b=2"]), ("a", ["a="]), ("=x", ["=x"]), ("a=b=c", ["a=b=c"]),
            ("a+b=c+d", ["a b=c d"]), ("a%20=%3D", ["a =="]), ("&&a=1&&", ["a=1"]),
            ("a=1&a=2", ["a=1", "a=2"]),
            ("a=%zz%4", ["a=%zz%4"]), ("a=%", ["a=%"]), ("a=%4&1=b", ["a=%4", "1=b"]), ("n=%C3%A9", ["n=é"]),
            ("n=%FF", ["n=\u{FFFD}"]),
        ] as [(String, [String])]
    )
    func `is parsed leniently`(query: String, pairs: [String]) {
        #expect(FormEncoding.parse(query).map { "\($0.name)=\($0.value)" } == pairs)
    }

    @Test(arguments: [999, 1000, 1001]) func `stops at a thousand pairs`(count: Int) {
        let query = (0..<count).map { "k\($0)=v" }.joined(separator: "&")
        #expect(FormEncoding.parse(query).count == min(count, 1000))
    }
}

@Suite("A compressed body") struct ContentEncodingTests {
    /// `printf 'hello hello hello' | gzip -n`, zlib and raw deflate of the same.
    private static let text = Array("hello hello hello".utf8)
    private static let raw: [UInt8] = [0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x90, 0x00]
    private static let gzip: [UInt8] =
        [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + raw + [0x80, 0x88, 0xF9, 0xE5, 0x11, 0, 0, 0]
    private static let zlib: [UInt8] = [0x78, 0x9C] + raw + [0x3A, 0x2E, 0x06, 0x7D]

    private func inflate(
        _ body: [UInt8],
        _ encoding: ContentEncoding,
        maxBytes: Int = 1000
    ) -> Result<[UInt8], HTTPFailure> {
        Result { () throws(HTTPFailure) in
            try ContentEncoding.inflate(body, encoding: encoding, maxBytes: maxBytes)
        }
    }

    @Test func `is expanded in each of its formats`() {
        #expect(inflate(Self.gzip, .gzip) == .success(Self.text))
        #expect(inflate(Self.zlib, .deflate) == .success(Self.text))
        #expect(inflate(Self.raw, .deflate) == .success(Self.text))
        #expect(inflate(Self.gzip + Self.gzip, .gzip) == .success(Self.text + Self.text))
    }

    @Test func `may expand to the limit and not over it`() {
        let tooLarge = HTTPFailure(status: 413, reason: "request entity too large")
        #expect(inflate(Self.gzip, .gzip, maxBytes: 18) == .success(Self.text))
        #expect(inflate(Self.gzip, .gzip, maxBytes: 17) == .success(Self.text))
        #expect(inflate(Self.gzip, .gzip, maxBytes: 16) == .failure(tooLarge))
    }

    @Test func `is refused when corrupt, cut off or followed by rubbish`() {
        var wrongSum = Self.gzip
        wrongSum[wrongSum.count - 8] ^= 1
        for body in [
            [], Array(Self.gzip.dropLast()), Array(Self.gzip.prefix(5)), wrongSum, Self.gzip + [1], Self.raw,
        ] {
            #expect(throws: HTTPFailure.self) { try inflate(body, .gzip).get() }
            if case .failure(let failure) = inflate(body, .gzip) { #expect(failure.status == 400) }
        }
        #expect(throws: HTTPFailure.self) { try inflate(Self.zlib.dropLast(), .deflate).get() }
        #expect(throws: HTTPFailure.self) { try inflate(Self.zlib + [0], .deflate).get() }
    }

    @Test func `knows its names`() {
        #expect(ContentEncoding(name: "GZIP") == .gzip)
        #expect(ContentEncoding(name: "x-gzip") == .gzip)
        #expect(ContentEncoding(name: "deflate") == .deflate)
        #expect(ContentEncoding(name: "br") == nil)
    }
}

@Suite("An HTTP date") struct HTTPDateTests {
    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (1_709_251_200, "Fri, 01 Mar 2024 00:00:00 GMT"), (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
    ]) func `is written as RFC 9110 wants it`(seconds: Int, text: String) {
        #expect(HTTPDate.format(secondsSince1970: seconds) == text)
    }
}

@Suite("Header fields") struct HTTPHeadersTests {
    @Test func `are found without regard to case, in order`() {
        var headers = HTTPHeaders([("Accept", "a"), ("X-One", "1"), ("accept", "b")])
        #expect(headers.first("ACCEPT") == "a")
        #expect(headers.all("Accept") == ["a", "b"])
        #expect(headers.first("Accep") == nil)
        headers.set("accept", "c")
        #expect(headers.map(\.name) == ["X-One", "accept"])
        headers.remove("x-one")
        #expect(headers.count == 1)
        #expect(headers.withFirst("Accept") { $0.elementsEqual("c".utf8) } == true)
        #expect(headers.withFirst("Other") { _ in } == nil)
    }

    @Test func `cannot be split by what is put into them`() {
        let headers = HTTPHeaders([("X\r\nY", "a\r\nSet-Cookie: b\0")])
        #expect(headers.map { "\($0.name)=\($0.value)" } == ["X  Y=a  Set-Cookie: b "])
    }
}
