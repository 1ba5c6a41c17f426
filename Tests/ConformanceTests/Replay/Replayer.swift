import JSON
import TestSupport

/// Sends recorded requests to a server and compares the answers.
struct Replayer {
    struct Unbound: Error, CustomStringConvertible {
        let description: String
    }

    private let clients: [HTTPClient]
    private let turns: Turns
    private let mount: String
    private(set) var placeholders: Placeholders

    /// - Parameters:
    ///   - ports: The ports of the servers, which get the requests in turn.
    ///   - mount: Where the API is asked: empty, `/parse` or `/1`.
    init(ports: [Int], mount: String) {
        clients = ports.map { HTTPClient(port: $0) }
        turns = Turns(count: ports.count)
        self.mount = mount
        placeholders = Placeholders(url: "http://127.0.0.1:\(ports[0])\(mount)")
    }

    /// Sends the request of a recorded exchange.
    ///
    /// - Throws: ``Unbound`` when it needs a value that no answer gave.
    func send(_ exchange: RecordedExchange) async throws -> HTTPReply {
        let path = try filled(
            exchange.path.hasPrefix("/parse") ? mount + exchange.path.dropFirst(6) : exchange.path
        )
        let body: String? =
            switch exchange.body {
            case .null: nil
            case .string(let text): try filled(text)
            case let value:
                // The parts of a batch name the mount too.
                try filled(value.serializedString()).replacing("\"/parse/", with: "\"\(mount)/")
            }
        var headers = [("Host", String(placeholders.url.dropFirst(7).prefix { $0 != "/" }))]
        for (name, value) in exchange.headers { headers.append((name, try filled(value))) }
        var text = "\(exchange.method) \(path) HTTP/1.1\r\n"
        if let body { headers.append(("Content-Length", String(body.utf8.count))) }
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        return try await clients[turns.next(exchange.method)].exchange(
            Array((text + "\r\n" + (body ?? "")).utf8)
        )
    }

    /// What differs between a reply and the recorded answer; values of new placeholders are learnt.
    mutating func differences(_ reply: HTTPReply, from exchange: RecordedExchange) -> [String] {
        differences(reply, status: exchange.status, headers: exchange.answerHeaders, body: exchange.answer)
    }

    mutating func differences(
        _ reply: HTTPReply,
        status: Int,
        headers: [(String, String)],
        body: JSONValue
    ) -> [String] {
        var found = reply.status == status ? [] : ["status \(reply.status) is not \(status)"]
        for (name, value) in headers {
            if let difference = placeholders.difference(reply.header(name) ?? "", from: value) {
                found.append("\(name): \(difference)")
            }
        }
        switch body {
        case .null: break
        case .string(let text) where text.hasPrefix("<!DOCTYPE"):
            // The wording of a page is free.
            if reply.json != nil { found.append("the page is JSON") }
        case .string(let text):
            if reply.text != text { found.append("\"\(reply.text)\" is not \"\(text)\"") }
        default:
            guard let json = reply.json else { return found + ["\"\(reply.text)\" is no JSON"] }
            found += differences(json, from: body, at: "$")
        }
        return found
    }

    private mutating func differences(_ json: JSONValue, from pattern: JSONValue, at path: String) -> [String]
    {
        switch (pattern, json) {
        case (.object(let pattern), .object(let object)):
            return differences(object, from: pattern, at: path)
        case (.array(let pattern), .array(let elements)):
            guard pattern.count == elements.count else {
                return ["\(path): \(elements.count) elements, not \(pattern.count)"]
            }
            var found: [String] = []
            for (index, pair) in zip(elements, pattern).enumerated() {
                found += differences(pair.0, from: pair.1, at: "\(path)[\(index)]")
            }
            return found
        case (.string(let pattern), .string(let text)):
            return placeholders.difference(text, from: pattern).map { ["\(path): \($0)"] } ?? []
        default:
            return pattern == json ? [] : ["\(path): \(json) is not \(pattern)"]
        }
    }

    private mutating func differences(
        _ object: JSONObject,
        from pattern: JSONObject,
        at path: String
    ) -> [String] {
        // Ids come first, as keys of the same object may be made of them.
        let first = ["objectId", "sessionToken"]
        let ordered =
            pattern.members.filter { first.contains($0.key) }
            + pattern.members.filter { !first.contains($0.key) }
        var found: [String] = []
        var keys: Set<String> = []
        for member in ordered {
            let key = placeholders.filled(member.key) ?? member.key
            keys.insert(key)
            guard let value = object[key] else {
                found.append("\(path): no \(key)")
                continue
            }
            found += differences(value, from: member.value, at: "\(path).\(key)")
        }
        let extra = Set(object.keys).subtracting(keys).sorted()
        return extra.isEmpty ? found : found + ["\(path): \(extra) too"]
    }

    private func filled(_ text: String) throws -> String {
        guard let filled = placeholders.filled(text) else {
            throw Unbound(description: "no value yet for: \(text)")
        }
        return filled
    }
}
