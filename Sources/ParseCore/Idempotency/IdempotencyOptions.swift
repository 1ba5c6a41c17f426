/// Which requests are carried out once, however often they come (the option `idempotencyOptions`).
package struct IdempotencyOptions: Sendable, Hashable {
    /// Regular expressions that match from the start of a path, which is written without slashes at its ends.
    package var paths: [String]
    /// For so many seconds a request that came is remembered.
    package var ttl: Double

    package static let standardTTL: Double = 300
    /// Routes of other families are carried out as often as they come.
    private static let families: Set<String> = ["classes", "users", "installations", "functions", "jobs"]

    package init(paths: [String], ttl: Double = standardTTL) {
        self.paths = paths
        self.ttl = ttl
    }

    /// Whether a save or call at that path, which is below the mount point, counts.
    package func covers(path: String) -> Bool {
        var bare = path[...]
        while bare.first == "/" { bare = bare.dropFirst() }
        while bare.last == "/" { bare = bare.dropLast() }
        let family = bare.prefix { $0 != "/" }.lowercased()
        guard Self.families.contains(family) else { return false }
        return paths.contains { ConfiguredPattern.matchesStart(of: bare, $0) }
    }

    /// Whether the text can be one of the paths.
    package static func isUsable(_ pattern: String) -> Bool {
        ConfiguredPattern.isUsable(pattern)
    }
}
