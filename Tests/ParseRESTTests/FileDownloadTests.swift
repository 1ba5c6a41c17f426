import HTTP
import JSON
import ParseCore
import Testing

@testable import ParseREST

@Suite struct FileDownloadTests {
    private static let types: [(name: String, type: String, isInert: Bool)] = [
        ("a.txt", "text/plain; charset=utf-8", true), ("a.TXT", "text/plain; charset=utf-8", true),
        ("a.png", "image/png", true), ("a.jpg", "image/jpeg", true), ("a.jpeg", "image/jpeg", true),
        ("a.heic", "image/heic", true), ("a.mp4", "video/mp4", true), ("a.mp3", "audio/mpeg", true),
        ("a.pdf", "application/pdf", true), ("a.json", "application/json; charset=utf-8", true),
        ("a.csv", "text/csv; charset=utf-8", true), ("a.bin", "application/octet-stream", true),
        ("a.unheard", "application/octet-stream", true), ("a.woff2", "font/woff2", true),
        ("a.", "application/octet-stream", true), ("html", "application/octet-stream", true),
        ("a.html", "text/html; charset=utf-8", false), ("a.HTM", "text/html; charset=utf-8", false),
        ("a.shtml", "text/html; charset=utf-8", false),
        ("a.xhtml", "application/xhtml+xml; charset=utf-8", false), ("a.svg", "image/svg+xml", false),
        ("a.svgz", "image/svg+xml", false), ("a.xml", "application/xml; charset=utf-8", false),
        ("a.xsl", "application/xml; charset=utf-8", false),
        ("a.rdf", "application/rdf+xml; charset=utf-8", false),
        ("a.atom", "application/atom+xml; charset=utf-8", false),
        ("a.js", "text/javascript; charset=utf-8", false),
        ("a.mjs", "text/javascript; charset=utf-8", false), ("a.css", "text/css; charset=utf-8", false),
        ("a.swf", "application/x-shockwave-flash", false), ("a.wasm", "application/wasm", false),
        ("a.eml", "message/rfc822", false), ("a.zip", "application/zip", false),
        ("a.png.html", "text/html; charset=utf-8", false), ("a.html.png", "image/png", true),
    ]

    @Test(arguments: types)
    func `a file has the type of its name, and is no page`(
        _ name: String,
        _ type: String,
        _ isInert: Bool
    ) async throws {
        let rest = try TestREST()
        let stored = try await rest.upload("/files/" + name)
        for method in ["GET", "HEAD"] {
            let reply = await rest.send(method, "/files/app/" + stored, [])
            #expect(reply.status == 200)
            #expect(reply.text == (method == "GET" ? "content" : ""))
            #expect(reply.response.headers.all("Content-Type") == [type])
            #expect(reply.response.headers.first("X-Content-Type-Options") == "nosniff")
            #expect(reply.response.headers.first("Accept-Ranges") == "bytes")
            #expect(reply.response.headers.first("Last-Modified")?.hasSuffix(" GMT") == true)
            #expect(
                reply.response.headers.first("Content-Disposition") == (isInert ? nil : "attachment")
            )
            #expect(
                reply.response.headers.first("Content-Security-Policy")
                    == (isInert ? nil : "sandbox; default-src 'none'")
            )
            #expect(reply.lines.contains("Access-Control-Allow-Origin: *\r\n"))
        }
    }

    @Test(arguments: ["", "/parse", "/1", "/Parse", "/parse/", "//"])
    func `a file is read at every mount, without any key`(mount: String) async throws {
        let rest = try TestREST(keys: .init(clientKey: "c", masterKeyHash: TestREST.masterHash))
        let stored = try await rest.upload("/files/a.txt")
        let base = mount == "//" ? "/" : mount
        #expect(await rest.send("GET", "\(base)/files/app/\(stored)", []).text == "content")
        #expect(await rest.send("GET", "\(base)/FILES/app/\(stored)", []).text == "content")
    }

    @Test(arguments: [
        "a.txt", "..", "%2e%2e", "..%2F..%2Fapp.db", "a%00", "a%zz", "%FF", "a/b", "%2Fetc%2Fpasswd",
    ])
    func `a file that is not there is answered with text`(name: String) async throws {
        let rest = try TestREST()
        for method in ["GET", "HEAD"] {
            let reply = await rest.send(method, "/files/app/" + name, [])
            #expect(reply.status == 404)
            #expect(reply.lines.contains("Content-Type: text/plain; charset=utf-8\r\n"))
            #expect(reply.text == "File not found.")
        }
    }

    @Test(arguments: ["other", "APP", "%61pp2", "%00", "%zz", "..", "%FF"])
    func `an app that is not there is answered with 403`(app: String) async throws {
        let rest = try TestREST()
        let stored = try await rest.upload("/files/a.txt")
        let reply = await rest.send("GET", "/files/\(app)/\(stored)", [])
        #expect(reply.status == 403 && reply.text == #"{"error":"Permission denied"}"#)
        #expect(await rest.send("GET", "/files/%61pp/\(stored)", []).text == "content")
    }

    @Test(arguments: [
        ("GET", "/files"), ("GET", "/files/"), ("GET", "/files/app"), ("GET", "/files/app/"),
        ("GET", "/files//a"),
        ("PUT", "/files/a"), ("DELETE", "/files"), ("DELETE", "/files/"), ("PATCH", "/files/app/a"),
        ("GET", "/filesx/a"), ("POST", "/filesx/a"), ("GET", "/xfiles/app/a"),
    ])
    func `other routes are not there`(method: String, path: String) async throws {
        let reply = await (try TestREST()).send(method, path, TestREST.masterHeaders)
        #expect(reply.status == 404 && reply.text.hasPrefix("<!DOCTYPE html>"))
    }

    // MARK: - Metadata

    @Test(arguments: [
        "app/metadata/none", "other/metadata/a", "app/metadata/..", "app/metadata/%zz", "%zz/metadata/a",
    ])
    func `of what is not there nothing is said`(path: String) async throws {
        let reply = await (try TestREST()).send("GET", "/files/" + path, [])
        #expect(reply.status == 200 && reply.text == "{}")
        #expect(reply.lines.contains("Content-Type: application/json; charset=utf-8\r\n"))
    }

    @Test func `a file of the name metadata is a file, and one without metadata has none`() async throws {
        let rest = try TestREST { $0.preserveFileName = true }
        _ = try await rest.upload("/files/metadata")
        #expect(await rest.send("GET", "/files/app/metadata", []).text == "content")
        #expect(await rest.send("GET", "/files/app/metadata/metadata", []).text == "{}")
    }

    // MARK: - Ranges and conditions

    private static let ranges: [(header: String, status: Int, range: String?, body: String)] = [
        ("bytes=0-0", 206, "bytes 0-0/10", "0"), ("bytes=2-4", 206, "bytes 2-4/10", "234"),
        ("bytes=9-9", 206, "bytes 9-9/10", "9"), ("bytes=3-", 206, "bytes 3-9/10", "3456789"),
        ("bytes=0-", 206, "bytes 0-9/10", "0123456789"), ("bytes=0-99", 206, "bytes 0-9/10", "0123456789"),
        ("bytes=5-9223372036854775807", 206, "bytes 5-9/10", "56789"),
        ("bytes=5-99999999999999999999999", 206, "bytes 5-9/10", "56789"),
        ("bytes=-3", 206, "bytes 7-9/10", "789"),
        ("bytes=-10", 206, "bytes 0-9/10", "0123456789"), ("bytes=-99", 206, "bytes 0-9/10", "0123456789"),
        ("BYTES=1-1", 206, "bytes 1-1/10", "1"), ("bytes= 1 - 1 ", 206, "bytes 1-1/10", "1"),
        ("bytes=10-", 416, "bytes */10", ""), ("bytes=10-12", 416, "bytes */10", ""),
        ("bytes=99999999999999999999999-", 416, "bytes */10", ""), ("bytes=-0", 416, "bytes */10", ""),
        ("bytes=0-1,3-4", 200, nil, "0123456789"), ("bytes=4-2", 200, nil, "0123456789"),
        ("bytes=-", 200, nil, "0123456789"), ("bytes=", 200, nil, "0123456789"),
        ("bytes", 200, nil, "0123456789"),
        ("bytes=a-b", 200, nil, "0123456789"), ("bytes=1-b", 200, nil, "0123456789"),
        ("bytes=--1", 200, nil, "0123456789"), ("bytes=+1-2", 200, nil, "0123456789"),
        ("bytes=0x1-2", 200, nil, "0123456789"), ("items=0-1", 200, nil, "0123456789"),
        ("", 200, nil, "0123456789"),
    ]

    @Test(arguments: ranges)
    func `a range is answered with its bytes`(
        _ header: String,
        _ status: Int,
        _ range: String?,
        _ body: String
    ) async throws {
        let rest = try TestREST()
        let stored = try await rest.upload("/files/a.txt", "0123456789")
        let reply = await rest.send("GET", "/files/app/" + stored, [("Range", header)])
        #expect(reply.status == status)
        #expect(reply.text == body)
        #expect(reply.response.headers.first("Content-Range") == range)
        #expect(await rest.send("HEAD", "/files/app/" + stored, [("Range", header)]).status == 200)
    }

    @Test func `a range of a large file is made while it is sent`() async throws {
        let rest = try TestREST()
        let text = String(repeating: "0123456789", count: 30_000)
        let stored = try await rest.upload("/files/a.txt", text)
        let whole = await rest.send("GET", "/files/app/" + stored, [])
        #expect(whole.response.producer?.length == 300_000 && whole.text == text)
        let part = await rest.send("GET", "/files/app/" + stored, [("Range", "bytes=7-200006")])
        #expect(part.response.producer?.length == 200_000)
        #expect(part.text.utf8.elementsEqual(text.utf8.dropFirst(7).prefix(200_000)))
    }

    @Test func `what the client has is not sent again`() async throws {
        let rest = try TestREST { $0.preserveFileName = true }
        _ = try await rest.upload("/files/a.html", "0123456789")
        let path = "/files/app/a.html"
        let tag = try #require(await rest.send("GET", path, []).response.headers.first("ETag"))
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
        for header in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
            let reply = await rest.send("GET", path, [("If-None-Match", header)])
            #expect(reply.status == 304 && reply.text.isEmpty)
            #expect(reply.response.headers.first("ETag") == tag)
        }
        #expect(await rest.send("GET", path, [("If-None-Match", "\"other\"")]).status == 200)
        // The rest of a file, if it is still the same one.
        let range = ("Range", "bytes=5-")
        #expect(await rest.send("GET", path, [range, ("If-Range", tag)]).text == "56789")
        #expect(await rest.send("GET", path, [range, ("If-Range", "\"other\"")]).text == "0123456789")
        _ = try await rest.upload("/files/a.html", "abcdefghij")
        #expect(await rest.send("GET", path, [range, ("If-Range", tag)]).text == "abcdefghij")
        #expect(await rest.send("GET", path, [("If-None-Match", tag)]).text == "abcdefghij")
    }

    // MARK: - Deletion

    @Test func `a deletion is for the master alone, and has an empty answer`() async throws {
        let rest = try TestREST()
        let stored = try await rest.upload("/files/a.txt")
        let user = try await Uploader.user.headers(rest)
        for headers in [TestREST.appHeader, user, try await Uploader.maintenance.headers(rest)] {
            let reply = await rest.send("DELETE", "/files/" + stored, headers)
            #expect(reply.status == 403)
            #expect(reply.text == #"{"error":"unauthorized: master key is required"}"#)
        }
        let reader = await rest.send("DELETE", "/files/" + stored, try await Uploader.reader.headers(rest))
        #expect(reader.json?["code"] == 119)
        #expect(await rest.send("DELETE", "/files/" + stored, []).status == 403)
        #expect(await rest.send("GET", "/files/app/" + stored, []).status == 200)
        let reply = await rest.send("DELETE", "/parse/files/" + stored, TestREST.masterHeaders)
        #expect(reply.status == 200 && reply.text.isEmpty)
        #expect(await rest.send("GET", "/files/app/" + stored, []).status == 404)
        #expect(rest.keptFiles == 0)
    }

    @Test(arguments: ["none.txt", "..", "%2e%2e", "a%2Fb", "a/b", "%zz", "%00"])
    func `what is not there cannot be deleted`(name: String) async throws {
        let reply = await (try TestREST()).send("DELETE", "/files/" + name, TestREST.masterHeaders)
        #expect(reply.status == 400 && reply.text == #"{"code":153,"error":"Could not delete file."}"#)
    }

    @Test func `a browser may ask for leave before`() async throws {
        let reply = await (try TestREST()).send("OPTIONS", "/files/a.txt", [])
        #expect(reply.status == 200 && reply.text == "OK")
    }

    @Test(arguments: [
        ("/files", true), ("/files/", true), ("/files/a", true), ("/FiLeS/a", true), ("/parse/files", true),
        ("/PARSE/files/a", true), ("/1/files/a", true), ("//files/a", true), ("/1//files/a", true),
        ("/filesa", false),
        ("/file", false), ("", false), ("/", false), ("/users/files", false), ("/parse", false),
        ("/2/files/a", false), ("files/a", false), ("///files/a", false), ("/parse/parse/files/a", false),
        ("/parsefiles/a", false), ("/1files", false),
    ])
    func `paths of files are known by their bytes`(path: String, isFiles: Bool) {
        #expect(FileRoute.isFiles(path) == isFiles)
        #expect((FileRoute(.post, Mount.split(path).path) != nil) == isFiles)
    }
}
