import JSON
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Files, against a server of its own.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct FilesOverTheWireTests {
    private static let size = 15_000_000
    private static let master = [("X-Parse-Master-Key", "master")]

    /// Bytes that differ from number to number and place to place.
    private static func content(_ number: Int, _ size: Int = size) -> [UInt8] {
        let unit = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ number) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        while bytes.count < size { bytes += unit.prefix(size - bytes.count) }
        return bytes
    }

    /// The path of a file's address.
    private static func path(_ reply: HTTPReply) throws -> String {
        guard reply.status == 201, let url = reply["url"]?.stringValue,
            let start = url.firstRange(of: "/parse/files/")
        else { throw Unexpected(reply) }
        return String(url[start.lowerBound...])
    }

    private func files(_ server: TestServer) -> [String] {
        TemporaryFolder.files(below: server.process.dataFolder + "/files")
    }

    /// Waits until a condition holds; whether it does.
    private func holds(_ condition: () -> Bool) -> Bool {
        for _ in 0..<500 {
            if condition() { return true }
            pause(milliseconds: 10)
        }
        return condition()
    }

    /// The most memory that a process has had; `nil` where the system does not tell.
    private func peakBytes(_ process: Int32) -> Int? {
        guard let file = fopen("/proc/\(process)/status", "r") else { return nil }
        defer { fclose(file) }
        var buffer = [CChar](repeating: 0, count: 256)
        while fgets(&buffer, 256, file) != nil {
            let line = String(
                decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
                as: UTF8.self
            )
            if line.hasPrefix("VmHWM:") { return Int(line.filter(\.isNumber)).map { $0 * 1024 } }
        }
        return nil
    }

    @Test func `large files go in and out of a small process, several at once`() async throws {
        let server = try await TestServer.start()
        _ = try await server.api.send(
            "POST",
            "/files/warm",
            body: Self.content(9, 300_000),
            headers: Self.master
        )
        let before = residentBytes(server.process.processID)
        let paths = try await concurrently(6) { number in
            let client = server.connect()
            let reply = try await client.send(
                "POST",
                "/files/f\(number).bin",
                body: Self.content(number),
                headers: Self.master
            )
            // The connection goes on.
            #expect(try await client.call("GET", "/health").status == 200)
            #expect(await client.client.connectionsOpened == 1)
            return try Self.path(reply)
        }
        let readers = try await concurrently(12) { number in
            let client = server.connect().client
            let reply = try await client.send("GET", paths[number % 6])
            #expect(try await client.send("GET", "/health").status == 200)
            #expect(await client.connectionsOpened == 1)
            return reply.status == 200 && reply.header("Content-Length") == "\(Self.size)"
                && reply.body == Self.content(number % 6)
        }
        #expect(readers.allSatisfy { $0 })
        if let before, let peak = peakBytes(server.process.processID) {
            #expect(peak - before < 8 << 20, "grew by \(peak - before) bytes")
        }
        #expect(files(server).count == 7)
        await server.process.stop()
    }

    @Test func `a file is read in parts, and the rest of a broken download can be had`() async throws {
        let server = try await TestServer.start()
        let content = Self.content(1, 1_000_000)
        let reply = try await server.api.send("POST", "/files/a.mp4", body: content, headers: Self.master)
        let path = try Self.path(reply)
        let client = server.connect().client
        for (header, status, range) in [
            ("bytes=0-1", 206, 0..<2), ("bytes=100000-899999", 206, 100_000..<900_000),
            ("bytes=-70000", 206, 930_000..<1_000_000), ("bytes=999999-", 206, 999_999..<1_000_000),
            ("bytes=1000000-", 416, 0..<0), ("bytes=0-1,5-6", 200, 0..<1_000_000),
        ] {
            let part = try await client.send("GET", path, headers: [("Range", header)])
            #expect(part.status == status)
            #expect(part.body.elementsEqual(content[range]), "\(header)")
        }
        let whole = try await client.send("HEAD", path)
        #expect(whole.header("Content-Length") == "1000000" && whole.header("Content-Type") == "video/mp4")
        let tag = try #require(whole.header("ETag"))
        #expect(try await client.send("GET", path, headers: [("If-None-Match", tag)]).status == 304)
        let start = try await server.connect().client.use { connection in
            try connection.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
            while !connection.hasInput { pause(milliseconds: 1) }
            return 400_000
        }
        let rest = try await client.send(
            "GET",
            path,
            headers: [("Range", "bytes=\(start)-"), ("If-Range", tag)]
        )
        #expect(rest.status == 206 && rest.body.elementsEqual(content[start...]))
        #expect(await client.connectionsOpened == 1)
        await server.process.stop()
    }

    private static let policy: [(options: JSONObject, name: String, type: String?, refusal: String?)] = [
        ([:], "a.txt", nil, "400/130 File upload by public is disabled."),
        (["enableForPublic": true], "a.txt", nil, nil),
        (["enableForPublic": true], "a.html", nil, "400/130 File upload of extension html is disabled."),
        (["enableForPublic": true], "a", "text/html", "400/130 File upload of extension html is disabled."),
        (["enableForPublic": true, "fileExtensions": ["*"]], "a.html", nil, nil),
        (
            ["enableForPublic": true, "fileExtensions": ["^png$"]], "a.txt", nil,
            "400/130 File upload of extension txt is disabled."
        ),
        (["enableForPublic": true], ".a", nil, "400/122 Filename contains invalid characters."),
    ]

    @Test func `the options decide who uploads what`() async throws {
        for entry in Self.policy {
            try await LocalServer.run(options: ["fileUpload": .object(entry.options)]) { server in
                let headers = entry.type.map { [("Content-Type", $0)] } ?? []
                let reply = try await server.api.send(
                    "POST",
                    "/files/" + entry.name,
                    body: [1, 2],
                    headers: headers
                )
                if let refusal = entry.refusal {
                    #expect(reply.refusal == refusal)
                } else {
                    #expect(reply.status == 201)
                }
                let user = try await server.api.signUp("u")
                let session = [("X-Parse-Session-Token", user.token)]
                let own = try await server.api.send("POST", "/files/a.png", body: [1], headers: session)
                #expect(own.status == 201)
                // Refused or not, the connection goes on.
                #expect(await server.api.client.connectionsOpened == 1)
            }
        }
    }

    @Test func `a body over the limit is refused early and leaves nothing`() async throws {
        let server = try await TestServer.start(options: ["maxUploadSize": "1mb"])
        let head =
            "POST /parse/files/a.bin HTTP/1.1\r\nHost: h\r\nX-Parse-Application-Id: app\r\nX-Parse-Master-Key: master\r\n"
        let announced = try await server.connect().client.exchange(
            Array((head + "Content-Length: 1048577\r\n\r\n").utf8)
        )
        #expect(announced.refusal == "413/- request entity too large")
        #expect(announced.header("Access-Control-Allow-Origin") == "*")
        let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 7, count: 65_536) + Array("\r\n".utf8)
        let streamed = try await server.connect().client.use { connection in
            try connection.send(head + "Transfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<16 { try connection.send(chunk) }
            // One byte over the limit is announced, and not sent.
            try connection.send("1\r\n")
            return try connection.receive()
        }
        #expect(streamed.refusal == "413/- request entity too large" && streamed.closes)
        #expect(holds { files(server).isEmpty })
        let exact = Self.content(0, 1 << 20)
        #expect(
            try await server.api.send("POST", "/files/a", body: exact, headers: Self.master).status == 201
        )
        await server.process.stop()
    }

    @Test func `a connection that is cut within an upload leaves nothing`() async throws {
        let server = try await TestServer.start()
        let head =
            "POST /parse/files/a.bin HTTP/1.1\r\nHost: h\r\nX-Parse-Application-Id: app\r\nX-Parse-Master-Key: master\r\nContent-Length: 5000000\r\n\r\n"
        for _ in 0..<3 {
            let client = server.connect().client
            try await client.use { connection in
                try connection.send(Array(head.utf8) + Self.content(0, 2_000_000))
            }
            #expect(holds { files(server).count == 1 })
            await client.close()
            #expect(holds { files(server).isEmpty })
        }
        #expect(try await server.api.call("GET", "/health").status == 200)
        await server.process.stop()
    }

    @Test func `what a killed server was writing is gone after the next start`() async throws {
        let server = try await TestServer.start()
        let kept = try await server.api.send(
            "POST",
            "/files/kept.txt",
            body: [1, 2, 3],
            headers: Self.master
        )
        let client = server.connect().client
        let head =
            "POST /parse/files/a.bin HTTP/1.1\r\nHost: h\r\nX-Parse-Application-Id: app\r\nX-Parse-Master-Key: master\r\nContent-Length: 5000000\r\n\r\n"
        try await client.use { try $0.send(Array(head.utf8) + Self.content(0, 1_000_000)) }
        #expect(holds { files(server).count == 2 })
        await server.process.kill()
        #expect(files(server).count == 2)
        let next = try await server.startAgain()
        #expect(files(next).count == 1)
        #expect(try await next.connect().client.send("GET", Self.path(kept)).body == [1, 2, 3])
        await next.process.stop()
    }

    @Test func `slow clients take their time and nobody else's`() async throws {
        let server = try await TestServer.start()
        let content = Self.content(3, 8_000_000)
        let path = try Self.path(
            try await server.api.send("POST", "/files/a.bin", body: content, headers: Self.master)
        )
        let reader = HTTPClient(port: server.port, receiveBuffer: 16_384)
        try await reader.use { try $0.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n") }
        let writer = server.connect().client
        let head =
            "POST /parse/files/b.bin HTTP/1.1\r\nHost: h\r\nX-Parse-Application-Id: app\r\nX-Parse-Master-Key: master\r\nContent-Length: 300000\r\n\r\n"
        let slow = Self.content(4, 300_000)
        try await writer.use { try $0.send(Array(head.utf8)) }
        for start in stride(from: 0, to: slow.count, by: 30_000) {
            try await writer.use { try $0.send(Array(slow[start..<start + 30_000])) }
            let clock = ContinuousClock.now
            #expect(try await server.api.call("GET", "/health").status == 200)
            #expect(ContinuousClock.now - clock < .seconds(1))
        }
        let stored = try Self.path(try await writer.use { try $0.receive() })
        #expect(try await writer.send("GET", stored).body == slow)
        #expect(try await reader.use { try $0.receive() }.body == content)
        await server.process.stop()
    }

    @Test func `a disk that takes no more is told, and nothing is left`() async throws {
        let folder = try TemporaryFolder()
        // As a full disk, but for the number of the error: no file may grow over 4 MB.
        let process = try await ServerProcess(
            dataFolder: folder.path + "/data",
            arguments: pinnedApp,
            wrapper: ["bash", "-c", "trap '' XFSZ; ulimit -f 4096; exec \"$@\"", "_"]
        )
        let server = TestServer(
            folder: folder,
            process: process,
            more: [],
            api: API(port: process.port),
            database: []
        )
        let large = try await server.api.send(
            "POST",
            "/files/a.bin",
            body: Self.content(0, 6_000_000),
            headers: Self.master
        )
        #expect(large.refusal == "400/130 Could not store file: a.bin.")
        #expect(holds { files(server).isEmpty })
        let small = try await server.api.send("POST", "/files/a.bin", body: [1], headers: Self.master)
        #expect(small.status == 201)
        #expect(process.log.contains("a file cannot be stored"))
        #expect(!process.log.contains(folder.path + "/data/files"))
        await process.stop()
    }

    @Test func `a deleted app takes its files along`() async throws {
        let folder = try TemporaryFolder()
        let process = try await ServerProcess(dataFolder: folder.path + "/data")
        let made = try await ProgramRun.martlet(
            "app",
            "create",
            "One",
            "--json",
            "--data",
            process.dataFolder
        )
        let app = try JSONValue.parse(made.output)
        let id = try #require(app["applicationId"]?.stringValue)
        var api = API(port: process.port)
        api.applicationID = id
        api.clientKey = nil
        api.masterKey = try #require(app["masterKey"]?.stringValue)
        let master = [("X-Parse-Master-Key", api.masterKey)]
        var reply = try await api.send("POST", "/files/a.txt", body: [1], headers: master)
        for _ in 0..<100 where reply.status == 403 {
            pause(milliseconds: 20)
            reply = try await api.send("POST", "/files/a.txt", body: [1], headers: master)
        }
        let path = try Self.path(reply)
        #expect(TemporaryFolder.files(below: process.dataFolder + "/files").count == 1)
        _ = try await ProgramRun.martlet("app", "delete", id, "--yes", "--data", process.dataFolder)
        #expect(TemporaryFolder.files(below: process.dataFolder + "/files").isEmpty)
        #expect(
            holds { TemporaryFolder.names(in: process.dataFolder + "/files") == ["+incoming"] }
        )
        for _ in 0..<100 where reply.status != 403 {
            pause(milliseconds: 20)
            reply = try await api.client.send("GET", path)
        }
        #expect(reply.refusal == "403/- Permission denied")
        await process.stop()
    }
}
