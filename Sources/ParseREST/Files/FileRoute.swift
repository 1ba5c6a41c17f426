import HTTP

/// What a path below `/files` asks for.
///
/// Names are percent-decoded; `nil` stands for one that cannot be. Slashes are parts of them, so that a name with
/// one is refused as a name and not as a route.
enum FileRoute: Equatable {
    case upload(name: String?)
    /// An upload without a name.
    case uploadOfNothing
    case download(appID: String?, name: String?)
    case metadata(appID: String?, name: String?)
    case delete(name: String?)

    /// `nil` when there is no such route; the path is the one below the mount, as it was sent.
    init?(_ method: HTTPMethod, _ path: String) {
        guard let rest = Self.rest(of: path) else { return nil }
        let name = rest.hasSuffix("/") ? String(rest.dropLast()) : String(rest)
        switch method {
        case .post:
            self = name.isEmpty ? .uploadOfNothing : .upload(name: PercentEncoding.decode(name))
        case .delete where !name.isEmpty:
            self = .delete(name: PercentEncoding.decode(name))
        case .get, .head:
            let parts = name.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
            let appID = PercentEncoding.decode(parts[0])
            let inner = parts[1].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            if inner.count == 2, inner[0] == "metadata", !inner[1].isEmpty {
                self = .metadata(appID: appID, name: PercentEncoding.decode(inner[1]))
            } else {
                self = .download(appID: appID, name: PercentEncoding.decode(parts[1]))
            }
        default:
            return nil
        }
    }

    /// Whether a path, with its mount, is that of files, whatever comes behind.
    ///
    /// Every request is asked this, so nothing is allocated.
    static func isFiles(_ path: String) -> Bool {
        var path = path
        return path.withUTF8 { path in
            isFiles(path, at: 0)
                || Mount.prefixTexts.contains { prefix in
                    begins(path, at: 0, with: prefix) && isFiles(path, at: prefix.utf8CodeUnitCount)
                }
        }
    }

    private static func isFiles(_ path: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        var start = start
        // A doubled slash passes, as it does for the other routes.
        if begins(path, at: start, with: "//") { start += 1 }
        guard begins(path, at: start, with: "/files") else { return false }
        return path.count == start + 6 || path[start + 6] == UInt8(ascii: "/")
    }

    /// Letters of the path may be in either case.
    private static func begins(
        _ path: UnsafeBufferPointer<UInt8>,
        at start: Int,
        with text: StaticString
    ) -> Bool {
        guard path.count >= start + text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount {
            let expected = text.utf8Start[index]
            let isLetter = expected >= UInt8(ascii: "a")
            guard path[start + index] == expected || isLetter && path[start + index] | 0x20 == expected else {
                return false
            }
        }
        return true
    }

    private static func rest(of path: String) -> Substring? {
        var text = path
        guard text.withUTF8({ isFiles($0, at: 0) }) else { return nil }
        let path = path.hasPrefix("//") ? path.dropFirst() : path[...]
        return path.dropFirst("/files/".count)
    }
}
