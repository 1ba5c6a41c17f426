import JSON

/// One line of the log: a JSON object and a line feed.
struct LogLine {
    /// The longest a line may be, in bytes and with its line feed.
    static let byteLimit = 16 << 10

    /// What a shortened line has as its last member.
    private static let mark = #","truncated":true"#

    var time: LogTime
    var level: LogLevel
    var message: String
    var fields: [(String, JSONValue)]

    /// The line in UTF-8; one that would be too long is shortened and says so with `"truncated":true`.
    func encoded() -> [UInt8] {
        let fields = unique(fields)
        let bytes = encoded(message: message) { writer in
            for member in fields {
                writer.writeRaw(",")
                writer.writeString(member.key)
                writer.writeRaw(":")
                writer.write(member.value)
            }
        }
        return bytes.count <= Self.byteLimit ? bytes : shortened(fields)
    }

    private func encoded(message: String, rest: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.writeRaw("{\"time\":")
        writer.writeString(time.text)
        writer.writeRaw(",\"level\":")
        writer.writeString(level.name)
        writer.writeRaw(",\"message\":")
        writer.writeString(message)
        rest(&writer)
        writer.writeRaw("}\n")
        return writer.bytes
    }

    /// Keeps the start of the message and of long texts, and drops the fields there is no room for.
    private func shortened(_ fields: JSONObject) -> [UInt8] {
        encoded(message: Self.prefix(of: message, encodedBytes: Self.byteLimit / 4)) { writer in
            let end = Self.byteLimit - Self.mark.utf8.count - "}\n".utf8.count
            for member in fields {
                for value in [member.value, Self.shortened(member.value)] {
                    var field = JSONWriter()
                    field.writeRaw(",")
                    field.writeString(member.key)
                    field.writeRaw(":")
                    field.write(value)
                    if writer.bytes.count + field.bytes.count <= end {
                        writer.writeRaw(field.bytes)
                        break
                    }
                }
            }
            writer.writeRaw(Array(Self.mark.utf8))
        }
    }

    private static func shortened(_ value: JSONValue) -> JSONValue {
        guard case .string(let text) = value else { return "…" }
        return .string(prefix(of: text, encodedBytes: 1024))
    }

    /// As much of a text as takes that many bytes when written as JSON, with an ellipsis when cut.
    private static func prefix(of text: String, encodedBytes: Int) -> String {
        var room = encodedBytes
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isEscaped = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
            room -= isEscaped ? 6 : UTF8.width(scalar)
            guard room >= 0 else { return String(kept) + "…" }
            kept.append(scalar)
        }
        return text
    }

    /// The fields with each name once, the last winning; the line's own names get an underscore.
    private func unique(_ fields: [(String, JSONValue)]) -> JSONObject {
        let reserved = ["time", "level", "message", "truncated"]
        return JSONObject(
            fields.lazy.map { name, value in
                JSONObject.Member(key: reserved.contains(name) ? name + "_" : name, value: value)
            }
        )
    }
}
