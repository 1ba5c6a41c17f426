import HTTP
import JSON
import ParseCore
import ParseREST

/// Decodes the input as the target, headers and body of a request of the REST API.
///
/// The first byte chooses method, `Content-Type` and `Content-Encoding`; then the target up to a line feed, then
/// a cloud context up to a line feed, then the body.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzRequest(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // SAFETY: libFuzzer keeps `count` bytes at `start` valid during the call.
    let input = Array(UnsafeRawBufferPointer(start: start, count: count))
    guard let choice = input.first else { return 0 }
    let lines = input.dropFirst().split(
        separator: UInt8(ascii: "\n"),
        maxSplits: 2,
        omittingEmptySubsequences: false
    )
    let text = lines.map { String(decoding: $0, as: UTF8.self) }
    var headers = HTTPHeaders()
    if let type = types[Int(choice % 5)] { headers.add("Content-Type", type) }
    if let encoding = encodings[Int(choice / 5 % 5)] { headers.add("Content-Encoding", encoding) }
    if text.count > 1, !text[1].isEmpty { headers.add("X-Parse-Cloud-Context", text[1]) }
    let request = HTTPRequest(
        method: choice < 128 ? .post : .get,
        target: "/" + text[0],
        headers: headers,
        body: lines.count > 2 ? Array(lines[2]) : []
    )
    do {
        let decoded = try DecodedRequest(request, maxBodyBytes: 64 * 1024)
        precondition(decoded.path.utf8.first == UInt8(ascii: "/"), "a path does not begin with a slash")
        precondition(decoded.mount.isEmpty || Mount.prefixes.contains(decoded.mount), "an unknown mount")
        precondition(
            decoded.method == .get || request.method == .post,
            "the method of another request is replaced"
        )
        precondition(
            decoded.method.rawValue == decoded.method.rawValue.uppercased(),
            "a method is not in capitals"
        )
        _ = router.match(method: decoded.method, path: decoded.path)
        let again = try DecodedRequest(request, maxBodyBytes: 64 * 1024)
        precondition(
            again.body == decoded.body && again.method == decoded.method,
            "decoding is not the same twice"
        )
    } catch let error as RequestRefusal {
        precondition([400, 413, 415].contains(error.status), "a refusal has a strange status")
        precondition(!error.message.isEmpty, "a refusal says nothing")
    } catch let error as ParseError {
        precondition(error.message == "Invalid object for context.", "an unexpected error")
    } catch let error as HTTPFailure {
        precondition([400, 413].contains(error.status), "a refusal has a strange status")
    } catch {
        fatalError("an error that nobody expects: \(error)")
    }
    return 0
}

private let router = Router.rest()
private let types: [String?] = [
    nil, "application/json", "application/x-www-form-urlencoded", "text/plain; charset=utf-8",
    "application/json; charset=\"latin1\"",
]
private let encodings: [String?] = [nil, "gzip", "deflate", "identity", "br"]
