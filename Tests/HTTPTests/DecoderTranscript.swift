import HTTP

/// What a decoder made of some bytes, as text that does not depend on how they were split.
///
/// One line per head and per body; `refuse <status>` at the end if it was refused, `wait` if it wants more.
func transcript(
    of parts: [[UInt8]],
    limits: HTTPLimits = HTTPLimits(),
    maxBodyBytes: Int = 1 << 20
) -> [String] {
    var decoder = HTTPRequestDecoder()
    var lines: [String] = []
    var body: [UInt8] = []
    for part in parts {
        let isRefused = part.withUnsafeBytes { input in
            var consumed = 0
            while true {
                switch decoder.next(input, consumed: &consumed, limits: limits) {
                case .needInput:
                    return false
                case .head(let head):
                    decoder.maxBodyBytes = maxBodyBytes
                    lines.append("\(head.method) \(head.target) 1.\(head.minorVersion)")
                    lines += head.headers.map { "  \($0.name): \($0.value)" }
                case .body(let range):
                    body += input[range]
                case .end:
                    lines.append("= " + String(decoding: body, as: UTF8.self))
                    body = []
                case .refuse(let failure):
                    lines.append("refuse \(failure.status) \(failure.reason)")
                    return true
                }
            }
        }
        if isRefused { return lines }
    }
    if !decoder.isIdle { lines.append("wait") }
    return lines
}

func transcript(of text: String, limits: HTTPLimits = HTTPLimits(), maxBodyBytes: Int = 1 << 20) -> [String] {
    transcript(of: [Array(text.utf8)], limits: limits, maxBodyBytes: maxBodyBytes)
}

/// The status a request is refused with, or `nil`.
func refusal(of bytes: [UInt8], limits: HTTPLimits = HTTPLimits(), maxBodyBytes: Int = 1 << 20) -> Int? {
    let last = transcript(of: [bytes], limits: limits, maxBodyBytes: maxBodyBytes).last ?? ""
    return last.hasPrefix("refuse ") ? Int(last.dropFirst(7).prefix(3)) : nil
}
