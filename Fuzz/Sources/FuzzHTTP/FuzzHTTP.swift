import HTTP

/// Decodes the input as requests, once whole and once in pieces: both must say the same.
///
/// The first byte is the number of bytes of the pieces, in turn with the second.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzHTTP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // SAFETY: libFuzzer keeps `count` bytes at `start` valid during the call.
    let input = Array(UnsafeRawBufferPointer(start: start, count: count))
    guard input.count > 2 else { return 0 }
    let bytes = input.dropFirst(2)
    let whole = Transcript(of: [Array(bytes)])
    let pieces = Transcript(of: split(bytes, Int(input[0] % 64) + 1, Int(input[1] % 64) + 1))
    precondition(whole == pieces, "the same bytes in pieces are another request")
    let single = Transcript(of: split(bytes, 1, 1))
    precondition(whole == single, "the same bytes one by one are another request")
    return 0
}

private func split(_ bytes: ArraySlice<UInt8>, _ first: Int, _ second: Int) -> [[UInt8]] {
    var parts: [[UInt8]] = []
    var rest = bytes
    while !rest.isEmpty {
        let part = rest.prefix(parts.count.isMultiple(of: 2) ? first : second)
        parts.append(Array(part))
        rest = rest.dropFirst(part.count)
    }
    return parts
}

/// What a decoder made of some bytes, however they came.
private struct Transcript: Equatable {
    private var lines: [String] = []
    private var bodies: [[UInt8]] = []
    private var isIdle = false

    init(of parts: [[UInt8]]) {
        var limits = HTTPLimits()
        // Small enough for the fuzzer to reach.
        limits.requestLineBytes = 128
        limits.headerCount = 8
        limits.headerBytes = 512
        limits.chunkLineBytes = 32
        var decoder = HTTPRequestDecoder()
        var body: [UInt8] = []
        for part in parts {
            let goesOn = part.withUnsafeBytes { input in
                var consumed = 0
                while true {
                    let before = consumed
                    switch decoder.next(input, consumed: &consumed, limits: limits) {
                    case .needInput:
                        precondition(consumed == input.count, "input was left over")
                        return true
                    case .head(let head):
                        decoder.maxBodyBytes = 256
                        lines.append(Self.text(of: head))
                    case .body(let range):
                        precondition(
                            range.lowerBound >= before && range.upperBound <= input.count && !range.isEmpty,
                            "a body lies outside the input"
                        )
                        body += input[range]
                        precondition(body.count <= 256, "a body is over its limit")
                    case .end:
                        bodies.append(body)
                        body = []
                    case .refuse(let failure):
                        precondition((400...599).contains(failure.status), "a refusal has a strange status")
                        lines.append(failure.description)
                        return false
                    }
                }
            }
            guard goesOn else { return }
        }
        bodies.append(body)
        isIdle = decoder.isIdle
    }

    private static func text(of head: HTTPRequestHead) -> String {
        let fields = head.headers.map { "\($0.name)=\($0.value)" }
        return "\(head.method) \(head.target) \(head.path) \(head.query ?? "-") \(head.minorVersion) "
            + "\(head.contentLength ?? -1) \(head.isChunked) \(head.expectsContinue) \(head.keepsAlive) \(fields)"
    }
}
