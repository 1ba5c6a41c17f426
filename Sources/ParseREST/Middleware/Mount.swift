/// Where the REST API answers: at the root, as hosted platforms mount it, and below prefixes.
package enum Mount {
    package static let prefixes = ["/parse", "/1"]

    /// Takes the prefix off a path.
    package static func split(_ path: String) -> (mount: String, path: String) {
        for prefix in prefixes {
            let utf8 = path.utf8
            guard utf8.count >= prefix.utf8.count, path.prefix(prefix.count).lowercased() == prefix else { continue }
            let rest = path.dropFirst(prefix.count)
            if rest.isEmpty { return (prefix, "/") }
            if rest.first == "/" { return (prefix, String(rest)) }
        }
        return ("", path)
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
