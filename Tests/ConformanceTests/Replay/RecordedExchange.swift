import Foundation
import JSON

/// A request that was sent to parse-server 9.10.0, and its answer.
///
/// Values that differ from run to run stand as placeholders such as `<objectId:1>`.
struct RecordedExchange: Sendable {
    struct Malformed: Error {
        let line: String
    }

    let name: String
    /// The options of the server beside those of the base server; `base` for none.
    let configuration: String
    let method: String
    let path: String
    let headers: [(String, String)]
    let body: JSONValue
    let status: Int
    let answerHeaders: [(String, String)]
    let answer: JSONValue

    /// All lines of a file in `Exchanges`, in their order.
    static func all(_ file: String) throws -> [RecordedExchange] {
        let folder = Bundle.module.resourceURL?.appendingPathComponent("Exchanges")
        guard let url = folder?.appendingPathComponent(file) else { throw Malformed(line: file) }
        return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map { line in
            try RecordedExchange(String(line))
        }
    }

    private init(_ line: String) throws {
        let root = try JSONValue.parse(line)
        guard let name = root["name"]?.stringValue, let request = root["request"],
            let response = root["response"],
            let method = request["method"]?.stringValue, let path = request["path"]?.stringValue,
            let status = response["status"]?.numberValue
        else { throw Malformed(line: line) }
        self.name = name
        self.method = method
        self.path = path
        self.status = Int(status)
        configuration = root["config"]?.stringValue ?? "base"
        headers = Self.texts(request["headers"])
        body = request["body"] ?? .null
        answerHeaders = Self.texts(response["headers"])
        answer = response["body"] ?? .null
    }

    private static func texts(_ json: JSONValue?) -> [(String, String)] {
        (json?.objectValue?.members ?? []).map { ($0.key, $0.value.stringValue ?? "") }
    }
}
