import JSON
import Logging
import Synchronization
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Keeps the lines it is given.
private final class Recorder: Sendable {
    private let recorded = Mutex<[[UInt8]]>([])

    var lines: [[UInt8]] {
        recorded.withLock { $0 }
    }

    var texts: [String] {
        lines.map { String(decoding: $0, as: UTF8.self) }
    }

    func logger(_ minimumLevel: LogLevel = .debug) -> Logger {
        Logger(
            minimumLevel: minimumLevel,
            sink: { line in self.recorded.withLock { $0.append(line) } },
            clock: { LogTime(millisecondsSince1970: 1_767_225_600_042) }
        )
    }

    /// The only line, read back.
    func object() throws -> JSONValue {
        let line = try #require(lines.count == 1 ? lines.first : nil)
        #expect(line.last == 0x0A)
        #expect(!line.dropLast().contains(0x0A))
        return try JSONValue.parse(line)
    }
}

@Suite struct LoggerTests {
    private let recorder = Recorder()

    @Test func `a line is a JSON object with time, level, message and the fields in order`() {
        recorder.logger().warning("Slow query", [("class", "Game"), ("ms", 12.5), ("ids", [1, nil])])
        #expect(
            recorder.texts == [
                #"{"time":"2026-01-01T00:00:00.042Z","level":"warning","message":"Slow query","#
                    + #""class":"Game","ms":12.5,"ids":[1,null]}"# + "\n"
            ]
        )
    }

    @Test(arguments: LogLevel.allCases)
    func `only the minimum level and what is above it is written`(minimum: LogLevel) throws {
        let logger = recorder.logger(minimum)
        logger.debug("m")
        logger.info("m")
        logger.warning("m")
        logger.error("m")
        let names = try recorder.lines.map { try JSONValue.parse($0)["level"]?.stringValue }
        #expect(names == ["debug", "info", "warning", "error"].suffix(4 - minimum.rawValue))
        #expect(LogLevel.allCases.map(logger.isEnabled) == LogLevel.allCases.map { $0 >= minimum })
    }

    @Test func `nothing is computed for a level that is not written`() {
        var count = 0
        func counted<Result>(_ result: Result) -> Result {
            count += 1
            return result
        }
        let quiet = recorder.logger(.info)
        quiet.debug(counted("m"), counted([]))
        Logger.disabled.error(counted("m"), counted([]))
        #expect(count == 0)
        #expect(!Logger.disabled.isEnabled(.error))
        quiet.info(counted("m"), counted([]))
        #expect(count == 2)
        #expect(recorder.lines.count == 1)
    }

    @Test func `fields of a logger come first and are replaced by later ones of their name`() {
        let logger = recorder.logger().with(("request", "r1"), ("app", "a")).with([
            ("user", "u"), ("app", "b"),
        ])
        logger.info("m", [("user", "v")])
        recorder.logger().info("m")
        #expect(
            recorder.texts.map { $0.hasSuffix(#""message":"m","request":"r1","app":"b","user":"v"}"# + "\n") }
                == [true, false]
        )
        #expect(recorder.texts.last?.hasSuffix(#""message":"m"}"# + "\n") == true)
    }

    @Test func `a field cannot pose as a part of the line`() throws {
        recorder.logger().info("m", [("level", "error"), ("time", 0), ("message", 1), ("truncated", true)])
        let object = try recorder.object()
        #expect(object["level"] == "info")
        #expect(object["message"] == "m")
        #expect(
            object.objectValue?.keys
                == ["time", "level", "message", "level_", "time_", "message_", "truncated_"]
        )
    }

    @Test func `control characters do not break a line`() throws {
        let text = "a\nb\r\n{\"level\":\"error\"}\0\u{1B}[31m\u{85}\u{2028}"
        recorder.logger().info(text, [(text, .string(text))])
        let object = try recorder.object()
        #expect(object["message"]?.stringValue == text)
        #expect(object[text]?.stringValue == text)
        #expect(recorder.lines.first?.dropLast().contains { $0 < 0x20 } == false)
    }

    @Test(arguments: LogLevel.allCases)
    func `a level has a name`(level: LogLevel) {
        #expect(LogLevel(name: level.name) == level)
        #expect(LogLevel(name: level.name.uppercased()) == nil)
        #expect(LogLevel(name: "") == nil)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (1_735_689_599_001, "2024-12-31T23:59:59.001Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)]
    )
    func `a moment is written in UTC with milliseconds`(milliseconds: Int64, text: String) {
        #expect(LogTime(millisecondsSince1970: milliseconds).text == text)
    }
}

@Suite struct LogLineLengthTests {
    private let recorder = Recorder()
    private let limit = 16 << 10

    @Test func `a line of up to 16 KiB is written whole and a longer one shortened`() throws {
        recorder.logger().info("m", [("text", "")])
        let overhead = try #require(recorder.lines.first).count
        for count in [limit - 1, limit, limit + 1] {
            let recorder = Recorder()
            let text = String(repeating: "x", count: count - overhead)
            recorder.logger().info("m", [("text", .string(text))])
            let object = try recorder.object()
            if count <= limit {
                #expect(recorder.lines.first?.count == count)
                #expect(object["text"]?.stringValue == text)
                #expect(object["truncated"] == nil)
            } else {
                let shortened = try #require(object["text"]?.stringValue)
                #expect(shortened.hasSuffix("x…"))
                #expect(text.hasPrefix(shortened.dropLast()))
                #expect(object["truncated"] == true)
            }
        }
    }

    @Test(arguments: ["x", "\0", "\"", "é", "😀"])
    func `a long message of any characters is shortened to a valid line`(character: String) throws {
        let text = String(repeating: character, count: 20_000)
        recorder.logger().info(text, [("id", "r1"), ("text", .string(text)), ("list", [.string(text)])])
        let object = try recorder.object()
        #expect(try #require(recorder.lines.first).count <= limit)
        #expect(object["message"]?.stringValue?.hasSuffix(character + "…") == true)
        #expect(object["id"] == "r1")
        #expect(object["text"]?.stringValue?.hasSuffix(character + "…") == true)
        #expect(object["list"] == "…")
        #expect(object["truncated"] == true)
    }

    @Test func `fields without room are dropped`() throws {
        let fields = (0..<5000).map { ("field\($0)", JSONValue.number(Double($0))) }
        recorder.logger().info("m", fields)
        let object = try recorder.object()
        #expect(try #require(recorder.lines.first).count <= limit)
        #expect(object["field0"] == 0)
        #expect(object["field4999"] == nil)
        #expect(object.objectValue?.keys.last == "truncated")
    }
}

@Suite struct FileDescriptorSinkTests {
    @Test func `lines written by several threads do not mix`() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (input, output) = (ends[0], ends[1])
        let reader = Task.detached { readToEnd(input) }
        let sink = FileDescriptorSink(output)
        let logger = Logger(minimumLevel: .info, sink: sink.write)
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let text = String(repeating: String(writer), count: 9000)
                    for _ in 0..<50 { logger.info(text) }
                }
            }
        }
        close(output)
        let lines = await reader.value.split(separator: 0x0A)
        close(input)
        #expect(lines.count == 200)
        for line in lines {
            let message = try #require(try JSONValue.parse(line)["message"]?.stringValue)
            #expect(message.count == 9000)
            #expect(Set(message).count == 1)
        }
    }

    @Test func `a closed descriptor loses the line and nothing else`() throws {
        FileDescriptorSink(-1).write(Array("lost\n".utf8))
    }
}

private func readToEnd(_ descriptor: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return bytes }
        bytes += buffer[..<count]
    }
}
