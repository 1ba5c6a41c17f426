/// Where the REST API answers: at the root, as hosted platforms mount it, and below prefixes.
package enum Mount {
    package static let prefixes = prefixTexts.map(\.description)
    /// The same, for comparing bytes.
    static let prefixTexts: [StaticString] = ["/parse", "/1"]

    /// Takes the prefix off a path.
    package static func split(_ path: String) -> (mount: String, path: String) {
        for prefix in prefixes where begins(path, with: prefix) {
            let rest = path.utf8.dropFirst(prefix.utf8.count)
            if rest.isEmpty { return (prefix, "/") }
            if rest.first == UInt8(ascii: "/") { return (prefix, String(rest) ?? path) }
        }
        return ("", path)
    }

    private static func begins(_ path: String, with prefix: String) -> Bool {
        path.utf8.count >= prefix.utf8.count
            && zip(path.utf8, prefix.utf8).allSatisfy {
                $0 == $1 || ($0 | 0x20 == $1 && $1 >= UInt8(ascii: "a"))
            }
    }

    /// The path of an absolute URL, without a slash at the end.
    package static func path(ofURL url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return "" }
        let rest = url[scheme.upperBound...]
        guard let slash = rest.firstIndex(of: "/") else { return "" }
        let path = rest[slash...]
        return path.last == "/" ? String(path.dropLast()) : String(path)
    }
}
