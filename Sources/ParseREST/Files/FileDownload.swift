import HTTP
import Locking
import ParseCore
import ParseWire

/// The answer to whoever downloads a file.
struct FileDownload {
    /// What is read at once, and the size up to which a file is answered from memory.
    private static let chunkBytes = 64 * 1024

    let file: any OpenFile
    let name: String
    let request: HTTPRequest
    /// Complete header lines that every answer has.
    let lines: [UInt8]

    nonisolated(nonsending) func response() async throws -> HTTPResponse {
        let tag = "\"\(file.version)\""
        if let known = request.headers.first("If-None-Match"), RESTService.lists(known, tag) {
            return bare(304, tag)
        }
        switch range(tag) {
        case .whole:
            return try await response(200, tag, 0..<file.size)
        case .part(let range):
            var response = try await response(206, tag, range)
            let bounds = "\(range.lowerBound)-\(range.upperBound - 1)"
            response.headers.add("Content-Range", "bytes \(bounds)/\(file.size)")
            return response
        case .unsatisfiable:
            var response = bare(416, tag)
            response.headers.add("Content-Range", "bytes */\(file.size)")
            return response
        }
    }

    /// A range holds for GET alone, and only of the content that the client has a part of already.
    private func range(_ tag: String) -> ByteRange {
        guard request.method == .get else { return .whole }
        if let condition = request.headers.first("If-Range"), condition != tag { return .whole }
        return ByteRange(request.headers.first("Range"), size: file.size)
    }

    private func bare(_ status: Int, _ tag: String) -> HTTPResponse {
        var response = HTTPResponse(status: status)
        response.preformattedHeaders = lines
        response.headers.add("ETag", tag)
        return response
    }

    private nonisolated(nonsending) func response(
        _ status: Int,
        _ tag: String,
        _ range: Range<Int>
    ) async throws -> HTTPResponse {
        var response = bare(status, tag)
        let type = MediaType(fileName: name)
        response.headers.add("Content-Type", type.headerValue)
        response.headers.add("Accept-Ranges", "bytes")
        let seconds = Int(max(0, file.modifiedAt.milliseconds) / 1000)
        response.headers.add("Last-Modified", HTTPDate.format(secondsSince1970: seconds))
        // No browser is to take it for anything else, or to run it with the rights of the server's origin.
        response.headers.add("X-Content-Type-Options", "nosniff")
        if !type.isInert {
            response.headers.add("Content-Disposition", "attachment")
            response.headers.add("Content-Security-Policy", "sandbox; default-src 'none'")
        }
        if request.method == .get, range.count <= Self.chunkBytes {
            response.body = try await file.read(from: range.lowerBound, count: range.count)
        } else {
            response.producer = producer(range)
        }
        return response
    }

    private func producer(_ range: Range<Int>) -> HTTPBodyProducer {
        let next = Locked(range.lowerBound)
        return HTTPBodyProducer(length: range.count) { [file] in
            let start = next.withLock { $0 }
            guard start < range.upperBound else { return nil }
            let bytes = try await file.read(
                from: start,
                count: min(Self.chunkBytes, range.upperBound - start)
            )
            // A file that somebody cut short meanwhile must not look whole: the length was promised.
            guard !bytes.isEmpty else { throw CancellationError() }
            next.withLock { $0 += bytes.count }
            return bytes
        }
    }
}
