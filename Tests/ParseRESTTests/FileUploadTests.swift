import FileStorage
import HTTP
import JSON
import Locking
import Logging
import ParseCore
import ParseREST
import TestSupport
import Testing

/// Who uploads, in the tables below.
enum Uploader: String, Sendable, CaseIterable {
    case nobody, anonymous, user, master, reader, maintenance

    func headers(_ rest: TestREST) async throws -> [(String, String)] {
        switch self {
        case .nobody: return TestREST.appHeader
        case .master: return TestREST.appHeader + [("X-Parse-Master-Key", "master")]
        case .reader: return TestREST.appHeader + [("X-Parse-Master-Key", "reader")]
        case .maintenance: return TestREST.appHeader + [("X-Parse-Maintenance-Key", "maintenance")]
        case .user:
            return try await rest.session(["username": "u", "password": "p"])
        case .anonymous:
            return try await rest.session(["authData": ["anonymous": ["id": "0123"]]])
        }
    }
}

extension TestREST {
    func session(_ body: JSONValue) async throws -> [(String, String)] {
        let reply = await send("POST", "/users", json: body)
        let token = try #require(reply.json?["sessionToken"]?.stringValue)
        return Self.appHeader + [("X-Parse-Session-Token", token)]
    }

    static let masterHeaders = appHeader + [("X-Parse-Master-Key", "master")]

    /// Uploads with the master key; the stored name.
    func upload(
        _ target: String,
        type: String? = nil,
        _ text: String = "content",
        headers: [(String, String)] = TestREST.masterHeaders
    ) async throws -> String {
        let fields = headers + (type.map { [("Content-Type", $0)] } ?? [])
        let reply = await send("POST", target, fields, body: Array(text.utf8))
        #expect(reply.status == 201, "\(target): \(reply.text)")
        return try #require(reply.json?["name"]?.stringValue)
    }

    /// Status, code and text of a refusal, in one line.
    func refusal(
        _ target: String,
        _ headers: [(String, String)],
        _ text: String = "content"
    ) async -> String {
        let reply = await send("POST", target, headers, body: Array(text.utf8))
        let code = reply.json?["code"]?.numberValue.map { String(Int($0)) } ?? "-"
        return "\(reply.status)/\(code) \(reply.json?["error"]?.stringValue ?? "-")"
    }

    /// How many files are kept, and how many are under way.
    var keptFiles: Int { TemporaryFolder.files(below: folder.path + "/files").count }
}

@Suite struct FileUploadTests {
    @Test(arguments: ["", "/parse", "/1", "/PARSE", "//"])
    func `an upload is answered with its name and address, and can be read there`(mount: String) async throws
    {
        let rest = try TestREST()
        let base = mount == "//" ? "/" : mount
        let headers = TestREST.masterHeaders + [("Host", "example.org:1"), ("Content-Type", "text/plain")]
        let reply = await rest.send("POST", base + "/files/hello.txt", headers, body: Array("hello".utf8))
        #expect(reply.status == 201)
        let name = try #require(reply.json?["name"]?.stringValue)
        let url = try #require(reply.json?["url"]?.stringValue)
        #expect(name.wholeMatch(of: /[0-9a-f]{32}_hello\.txt/) != nil)
        let shown = mount == "/PARSE" ? "/parse" : mount == "//" ? "" : mount
        #expect(url == "http://example.org:1\(shown)/files/app/\(name)")
        #expect(reply.lines.contains("Location: \(url)\r\n"))
        #expect(reply.lines.contains("Access-Control-Allow-Origin: *\r\n"))
        #expect(reply.json?.objectValue?.keys.sorted() == ["name", "url"])
        let path = String(url.dropFirst("http://example.org:1".count))
        #expect(await rest.send("GET", path, []).text == "hello")
    }

    @Test func `the address is the public one where there is one, and the name in it is encoded`()
        async throws
    {
        let rest = try TestREST {
            $0.publicServerURL = "https://example.org/api"
            $0.preserveFileName = true
        }
        let reply = await rest.send("POST", "/files/a%20b%40c~d.txt", TestREST.masterHeaders, body: [1])
        #expect(reply.json?["name"] == "a b@c~d.txt")
        #expect(reply.json?["url"] == "https://example.org/api/files/app/a%20b%40c~d.txt")
        #expect(await rest.send("GET", "/files/app/a%20b%40c~d.txt", []).response.body == [1])
    }

    // MARK: - Who

    private static func policy(_ enabled: Set<Uploader>) -> FileUploadPolicy {
        var policy = FileUploadPolicy()
        policy.enableForPublic = enabled.contains(.nobody)
        policy.enableForAnonymousUser = enabled.contains(.anonymous)
        policy.enableForAuthenticatedUser = enabled.contains(.user)
        return policy
    }

    private static let who: [(Set<Uploader>?, Uploader, String?)] = [
        (nil, .nobody, "400/130 File upload by public is disabled."),
        (nil, .anonymous, "400/130 File upload by anonymous user is disabled."), (nil, .user, nil),
        (nil, .master, nil), (nil, .maintenance, "400/130 File upload by public is disabled."),
        (nil, .reader, "400/119 read-only masterKey isn't allowed to perform the create operation."),
        ([], .nobody, "400/130 File upload by public is disabled."),
        ([], .anonymous, "400/130 File upload by anonymous user is disabled."),
        ([], .user, "400/130 File upload by authenticated user is disabled."), ([], .master, nil),
        ([.nobody], .nobody, nil), ([.nobody], .maintenance, nil),
        ([.nobody], .anonymous, "400/130 File upload by anonymous user is disabled."),
        ([.nobody], .user, "400/130 File upload by authenticated user is disabled."),
        ([.anonymous], .anonymous, nil),
        ([.anonymous], .nobody, "400/130 File upload by public is disabled."),
        ([.anonymous], .user, "400/130 File upload by authenticated user is disabled."),
        ([.user], .user, nil), ([.user], .anonymous, "400/130 File upload by anonymous user is disabled."),
    ]

    @Test(arguments: who)
    func `who may upload is the policy's to say`(
        _ enabled: Set<Uploader>?,
        _ uploader: Uploader,
        _ refusal: String?
    ) async throws {
        let rest = try TestREST { if let enabled { $0.fileUpload = Self.policy(enabled) } }
        let headers = try await uploader.headers(rest)
        if let refusal {
            #expect(await rest.refusal("/files/a.txt", headers) == refusal)
            #expect(rest.keptFiles == 0)
        } else {
            _ = try await rest.upload("/files/a.txt", headers: headers)
            #expect(rest.keptFiles == 1)
        }
    }

    @Test func `an anonymous user that becomes a full one may upload`() async throws {
        let rest = try TestREST()
        let headers = try await Uploader.anonymous.headers(rest)
        let id = try #require(await rest.send("GET", "/users/me", headers).json?["objectId"]?.stringValue)
        let full: JSONValue = ["username": "u", "password": "p"]
        let reply = await rest.send("PUT", "/users/\(id)", headers, json: full)
        let token = reply.json?["sessionToken"]?.stringValue
        let session = token.map { TestREST.appHeader + [("X-Parse-Session-Token", $0)] } ?? headers
        _ = try await rest.upload("/files/a.txt", headers: session)
    }

    // MARK: - Names

    private static let invalid = "400/122 Filename contains invalid characters."
    private static let names: [(target: String, outcome: String)] = [
        ("a", "a"), ("_", "_"), ("0.TXT", "0.TXT"), ("a@b.c~d_e-f%20g", "a@b.c~d_e-f g"), ("a..b", "a..b"),
        ("%61.txt", "a.txt"), ("a.txt/", "a.txt"),
        (String(repeating: "a", count: 128), String(repeating: "a", count: 128)),
        (String(repeating: "a", count: 129), "400/122 Filename too long."),
        (String(repeating: "%2F", count: 129), "400/122 Filename too long."),
        (String(repeating: "%C3%A9", count: 128), invalid),
        (String(repeating: "%F0%9F%98%80", count: 64), invalid),
        (String(repeating: "%F0%9F%98%80", count: 65), "400/122 Filename too long."),
        (".hidden", invalid), (".", invalid), ("..", invalid), ("-a", invalid), ("~a", invalid),
        ("@a", invalid),
        ("%20a", invalid), ("a%2Fb", invalid), ("a/b", invalid), ("..%2Fa", invalid), ("../a", invalid),
        ("a%5Cb", invalid), ("a%00", invalid), ("%00", invalid), ("a%0Ab", invalid),
        ("a%0D%0AX-A: b", invalid),
        ("a+b", invalid), ("a%2Bb", invalid), ("a%25b", invalid), ("a%zz", invalid), ("a%", invalid),
        ("a%C3%28", invalid), ("%FF", invalid), ("%C0%AF", invalid), ("%ED%A0%80", invalid),
        ("caf%C3%A9", invalid),
        ("a%E2%80%AEb", invalid), ("app/a.txt", invalid), ("a:b", invalid), ("a*", invalid),
        ("a%3Fb", invalid),
    ]

    @Test(arguments: names)
    func `a name is taken or refused`(_ target: String, _ outcome: String) async throws {
        let rest = try TestREST()
        if outcome.hasPrefix("400") {
            #expect(await rest.refusal("/files/" + target, TestREST.masterHeaders) == outcome)
            #expect(rest.keptFiles == 0)
        } else {
            let name = try await rest.upload("/files/" + target)
            #expect(name.dropFirst(33) == outcome)
        }
    }

    @Test(arguments: ["/files", "/files/", "/parse/files", "/1/files/", "/FILES/", "//files"])
    func `an upload needs a name, whoever asks`(target: String) async throws {
        let rest = try TestREST()
        for headers in [[], TestREST.masterHeaders, [("X-Parse-Application-Id", "other")]] {
            #expect(await rest.refusal(target, headers) == "400/122 Filename not provided.")
        }
    }

    private static let stored: [(name: String, type: String?, tail: String)] = [
        ("hello", "text/plain", "hello.txt"), ("hello", "text/plain; charset=utf-8", "hello.txt"),
        ("photo", "image/png", "photo.png"), ("photo", "IMAGE/JPEG", "photo.jpg"),
        ("photo", "image/jpg", "photo.jpg"),
        ("photo.png", "image/jpeg", "photo.png"), ("a", "application/octet-stream", "a.bin"), ("a", nil, "a"),
        ("a", "application/x-unheard-of", "a"), ("a", "application/x-www-form-urlencoded", "a"),
        ("a", "", "a"),
        ("a", "nonsense", "a"), ("a.", "text/plain", "a."), ("song", "audio/mpeg", "song.mp3"),
        ("film", "video/quicktime", "film.mov"), ("page", "text/html", "page.html"),
        ("data", "application/json", "data.json"),
    ]

    @Test(arguments: stored)
    func `a name without extension gets that of the content type`(
        _ name: String,
        _ type: String?,
        _ tail: String
    ) async throws {
        let rest = try TestREST()
        let name = try await rest.upload("/files/" + name, type: type)
        #expect(name.dropFirst(33) == tail)
    }

    @Test func `a preserved name is kept, and its next upload replaces the file`() async throws {
        let rest = try TestREST { $0.preserveFileName = true }
        #expect(try await rest.upload("/files/a", type: "text/plain", "first") == "a.txt")
        #expect(try await rest.upload("/files/a.txt", "second") == "a.txt")
        #expect(await rest.send("GET", "/files/app/a.txt", []).text == "second")
        // Byte for byte: another case is another file.
        #expect(try await rest.upload("/files/A.txt", "third") == "A.txt")
        #expect(await rest.send("GET", "/files/app/a.txt", []).text == "second")
    }

    // MARK: - Kinds

    private static let kinds: [(name: String, type: String?, extension: String?)] = [
        ("a.txt", nil, nil), ("a.png", nil, nil), ("a.js", nil, nil), ("a.xmlx", nil, nil),
        ("a.htmlx", nil, nil),
        ("a.xhtm", nil, nil), ("a", nil, nil), ("html", nil, nil), ("a.html.txt", "text/html", nil),
        ("page.html", nil, "html"), ("page.HTML", nil, "HTML"), ("page.HtM", nil, "HtM"),
        ("a.txt.html", nil, "html"),
        ("a.shtml", nil, "shtml"), ("a.xhtml", nil, "xhtml"), ("a.xht", nil, "xht"), ("a.svg", nil, "svg"),
        ("a.SVGZ", nil, "SVGZ"), ("a.xml", nil, "xml"), ("a.xsl", nil, "xsl"), ("a.xslt", nil, "xslt"),
        ("a.xsd", nil, "xsd"), ("a.rng", nil, "rng"), ("a.rdf", nil, "rdf"), ("a.owl", nil, "owl"),
        ("a.mathml", nil, "mathml"), ("a.h%20t%20m%20l", nil, "html"), ("a.%20html", nil, "html"),
        ("a", "text/html", "html"), ("a", "text/html; charset=utf-8", "html"), ("a", "TEXT/HTML", "HTML"),
        ("a", "text/ html ", "html"), ("a", "image/svg+xml", "svg+xml"),
        ("a", "application/xhtml+xml", "xhtml+xml"),
        ("a", "application/mathml+xml", "mathml+xml"), ("a", "application/xslt+xml", "xslt+xml"),
        ("a", "text/xml", "xml"), ("a", "html", "html"), ("a.", "text/html", "html"),
        ("a", "application/svg", "svg"),
        ("a", "text/html,text/plain", nil),
    ]

    @Test(arguments: kinds)
    func `kinds that a browser would run are refused, but not to the master`(
        _ name: String,
        _ type: String?,
        _ refused: String?
    ) async throws {
        let rest = try TestREST()
        let headers = try await Uploader.user.headers(rest) + (type.map { [("Content-Type", $0)] } ?? [])
        if let refused {
            let refusal = "400/130 File upload of extension \(refused) is disabled."
            #expect(await rest.refusal("/files/" + name, headers) == refusal)
        } else {
            _ = try await rest.upload("/files/" + name, headers: headers)
        }
        _ = try await rest.upload("/files/" + name, type: type)
    }

    @Test(
        arguments: [
            (["*"], "a.html", true), (["^(png|jpg)$"], "a.png", true), (["^(png|jpg)$"], "a.PNG", false),
            (["^(png|jpg)$"], "a.txt", false), (["png", "txt"], "a.txt", true), (["png"], "a.apngx", true),
            ([], "a.txt", false), ([], "a", true), (["((", "png"], "a.png", true), (["(("], "a.png", false),
        ] as [([String], String, Bool)]
    )
    func `the kinds are what the expressions find`(
        _ patterns: [String],
        _ name: String,
        _ isAllowed: Bool
    ) async throws {
        let rest = try TestREST {
            $0.fileUpload.enableForPublic = true
            $0.fileUpload.fileExtensions = patterns
        }
        let reply = await rest.send("POST", "/files/" + name, body: [1])
        #expect(reply.status == (isAllowed ? 201 : 400))
    }

    // MARK: - Order

    @Test func `what is wrong is said in order`() async throws {
        let rest = try TestREST(keys: .init(clientKey: "c", masterKeyHash: TestREST.masterHash))
        let page = "/files/.a%00.html"
        let app = TestREST.appHeader
        let client = app + [("X-Parse-Client-Key", "c")]
        let bad = client + [("X-Parse-Session-Token", "r:0123456789abcdef0123456789abcdef")]
        #expect(await rest.refusal(page, app, "") == "403/- unauthorized")
        #expect(await rest.refusal(page, bad, "") == "400/209 Invalid session token")
        #expect(await rest.refusal(page, client, "") == "400/130 File upload by public is disabled.")
        let sign = await rest.send("POST", "/users", client, json: ["username": "u", "password": "p"])
        let token = try #require(sign.json?["sessionToken"]?.stringValue)
        let user = client + [("X-Parse-Session-Token", token)]
        #expect(await rest.refusal(page, user, "") == Self.invalid)
        #expect(
            await rest.refusal("/files/a.html", user, "")
                == "400/130 File upload of extension html is disabled."
        )
        let keywords =
            user + [
                ("X-Parse-Upload-Mode", "stream"), ("X-Parse-File-Metadata", #"{"constructor":1}"#),
            ]
        #expect(await rest.refusal("/files/a.txt", keywords, "") == "400/130 Invalid file upload.")
        #expect(
            await rest.refusal("/files/a.txt", keywords)
                == #"400/105 Prohibited keyword in request data: {"key":"constructor"}."#
        )
        #expect(rest.keptFiles == 0)
    }

    @Test func `the content is not asked for before the rest is in order`() async throws {
        let rest = try TestREST()
        let asked = Locked(0)
        func run(_ name: String, _ type: String?, _ principal: Principal) async throws {
            let file = NewFile {
                asked.withLock { $0 += 1 }
                return nil
            }
            let context = RequestContext(
                app: rest.app,
                principal: principal,
                sessionToken: nil,
                installationID: nil,
                lane: nil
            )
            _ = try await SaveFile(name: name, contentType: type, file: file).run(in: context)
        }
        await #expect(throws: ParseError.self) { try await run("a.txt", nil, .nobody) }
        await #expect(throws: ParseError.self) { try await run(".a", nil, .master) }
        await #expect(throws: ParseError.self) { try await run("a", nil, .readOnlyMaster) }
        #expect(asked.withLock { $0 } == 0)
        await #expect(throws: ParseError.self) { try await run("a", nil, .master) }
        #expect(asked.withLock { $0 } == 1)
    }

    @Test func `without a place for files nothing is kept`() async throws {
        let rest = try TestREST(hasFiles: false)
        let refusal = await rest.refusal("/files/a.txt", TestREST.masterHeaders)
        #expect(refusal == "400/130 Could not store file: a.txt.")
        #expect(await rest.send("GET", "/files/app/a.txt", []).status == 404)
    }

    @Test func `a store that fails is said in the words of the API`() async throws {
        let rest = try TestREST()
        rest.files.shutdown()
        let refusal = await rest.refusal("/files/a.txt", TestREST.masterHeaders)
        #expect(refusal == "400/130 Could not store file: a.txt.")
        #expect(await rest.send("GET", "/files/app/a.txt", []).status == 500)
        #expect(await rest.send("GET", "/files/app/metadata/a.txt", []).text == "{}")
    }

    @Test func `a compressed body is not unpacked but refused`() async throws {
        let rest = try TestREST()
        let headers = TestREST.masterHeaders + [("Content-Encoding", "gzip")]
        #expect(
            await rest.refusal("/files/a.txt", headers) == "415/- unsupported content encoding \"gzip\""
        )
        let plain = TestREST.masterHeaders + [("Content-Encoding", "identity")]
        _ = try await rest.upload("/files/a.txt", headers: plain)
    }

    @Test func `a malformed cloud context is refused`() async throws {
        let headers = TestREST.masterHeaders + [("X-Parse-Cloud-Context", "[]")]
        let refusal = await (try TestREST()).refusal("/files/a.txt", headers)
        #expect(refusal == "400/107 Invalid object for context.")
    }

    @Test func `an upload in stream mode may say something about the file`() async throws {
        let rest = try TestREST()
        let mode = TestREST.masterHeaders + [("X-Parse-Upload-Mode", "stream")]
        let said = mode + [("X-Parse-File-Metadata", #"{"a":1}"#), ("X-Parse-File-Tags", #"{"t":"x"}"#)]
        let name = try await rest.upload("/files/a.txt", headers: said)
        #expect(await rest.send("GET", "/files/app/metadata/\(name)", []).text == #"{"metadata":{"a":1}}"#)
        #expect(try await rest.files.attributes(of: name, ofApp: "app")?.tags == ["t": "x"])
        for (field, refusal) in [
            (
                ("X-Parse-File-Metadata", "[1]"),
                "400/107 The header X-Parse-File-Metadata must be a JSON object."
            ),
            (("X-Parse-File-Tags", "{"), "400/107 The header X-Parse-File-Tags must be a JSON object."),
            (("X-Parse-File-Directory", "a/b"), "400/130 Files have no directories."),
        ] {
            #expect(await rest.refusal("/files/a.txt", mode + [field]) == refusal)
        }
        let large = mode + [("X-Parse-File-Metadata", "{\"a\":\"\(String(repeating: "x", count: 66_000))\"}")]
        #expect(
            await rest.refusal("/files/a.txt", large)
                == "400/130 The metadata or tags of the file are too large."
        )
    }
}

@Suite struct FileFormTests {
    private static let form: JSONObject = [
        "base64": "SGVsbG8=", "_ApplicationId": "app", "_JavaScriptKey": "js", "_ContentType": "text/plain",
        "_ClientVersion": "js5.0.0", "_InstallationId": "i",
    ]

    private func rest() throws -> TestREST {
        try TestREST(keys: .init(javascriptKey: "js", masterKeyHash: TestREST.masterHash)) {
            $0.fileUpload.enableForPublic = true
        }
    }

    private func with(_ change: (inout JSONObject) -> Void) -> String {
        var form = Self.form
        change(&form)
        return JSONValue.object(form).serializedString()
    }

    @Test func `the form of browsers is unpacked when no header names the app`() async throws {
        let rest = try rest()
        for headers in [[], [("X-Parse-Application-Id", "unknown")], [("Content-Type", "image/png")]] {
            let reply = await rest.send("POST", "/files/hello", headers, json: .object(Self.form))
            #expect(reply.status == 201)
            let name = try #require(reply.json?["name"]?.stringValue)
            #expect(name.hasSuffix("_hello.txt"))
            #expect(await rest.send("GET", "/files/app/\(name)", []).text == "Hello")
        }
    }

    @Test func `with a header that names the app the form is the file`() async throws {
        let rest = try rest()
        let text = with { _ in }
        let headers = TestREST.appHeader + [("X-Parse-Javascript-Key", "js")]
        let name = try await rest.upload("/files/hello", text, headers: headers)
        #expect(await rest.send("GET", "/files/app/\(name)", []).text == text)
    }

    @Test func `what the form says about the file is kept with it`() async throws {
        let rest = try rest()
        let text = with { $0["fileData"] = ["metadata": ["a": "b"], "tags": ["t": "1"]] }
        let reply = await rest.send("POST", "/files/hello", [], body: Array(text.utf8))
        let name = try #require(reply.json?["name"]?.stringValue)
        #expect(await rest.send("GET", "/files/app/metadata/\(name)", []).text == #"{"metadata":{"a":"b"}}"#)
        #expect(try await rest.files.attributes(of: name, ofApp: "app")?.tags == ["t": "1"])
    }

    @Test func `the session and the master key of the form count`() async throws {
        let rest = try TestREST(keys: .init(javascriptKey: "js", masterKeyHash: TestREST.masterHash))
        let sign = await rest.send(
            "POST",
            "/users",
            TestREST.appHeader + [("X-Parse-Javascript-Key", "js")],
            json: ["username": "u", "password": "p"]
        )
        let token = try #require(sign.json?["sessionToken"])
        for (key, value, status) in [
            ("_SessionToken", token, 201), ("_MasterKey", "master", 201), ("_SessionToken", "r:none", 400),
            ("_InstallationId", "j", 400),
        ] {
            let text = with { $0[key] = value }
            #expect(
                await rest.send("POST", "/files/a", [], body: Array(text.utf8)).status == status,
                "\(key)"
            )
        }
    }

    @Test func `what is no form, or is for no app, is unauthorized`() async throws {
        let rest = try rest()
        let bodies = [
            "", "Hello", "[]", "1", "{", "\u{0}", with { $0["_ApplicationId"] = nil },
            with { $0["_ApplicationId"] = "unknown" }, with { $0["_ApplicationId"] = 1 },
            with { $0["_JavaScriptKey"] = "wrong" }, with { $0["_JavaScriptKey"] = nil },
            with { $0["_ContentType"] = 1 }, with { $0["_SessionToken"] = 1 },
            with { $0["_MasterKey"] = ["a"] },
        ]
        for body in bodies {
            #expect(await rest.refusal("/files/a", [], body) == "403/- unauthorized", "\(body)")
        }
        #expect(rest.keptFiles == 0)
    }

    @Test func `a form without a content, or with one that is none, is an empty file`() async throws {
        let rest = try rest()
        for value in [nil, "", 1, ["a"], "a*b", "!!!!"] as [JSONValue?] {
            let text = with { $0["base64"] = value }
            #expect(await rest.refusal("/files/a", [], text) == "400/130 Invalid file upload.", "\(text)")
        }
    }

    @Test(arguments: [#"{"constructor":1}"#, #"{"a":{"__proto__":1}}"#, #"{"_bsontype":"Code"}"#])
    func `prohibited keywords are looked for in what is said`(said: String) async throws {
        let rest = try rest()
        for part in ["metadata", "tags"] {
            let text = with { $0["fileData"] = try? JSONValue.parse("{\"\(part)\":\(said)}") }
            let refusal = await rest.refusal("/files/a", [], text)
            #expect(refusal.hasPrefix("400/105 Prohibited keyword in request data: "))
        }
        #expect(rest.keptFiles == 0)
    }
}
