import ParseCore
import Postgres

/// What is wrong with a database, in one line that does not tell the password of its URL.
struct DatabaseProblem {
    private let secrets: [String]

    init(url: String) {
        secrets = Self.passwords(in: url)
    }

    func error(_ error: any Error) -> ConfigurationError {
        if let error = error as? ConfigurationError { return error }
        var line = text(error).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for secret in secrets { line.replace(secret, with: "***") }
        if line.last == "." { line.removeLast() }
        return ConfigurationError("The database cannot be used: \(line).")
    }

    private func text(_ error: any Error) -> String {
        switch error {
        case StorageError.failed(let text): text
        case let error as PostgresError where error.sqlState == "42501":
            "\(error.message); its role must be allowed to create schemas (GRANT CREATE ON DATABASE)"
        case let error as PostgresError where error.kind == .server: error.message
        case let error as PostgresError where error.kind == .unavailable: error.message
        default: String(describing: error)
        }
    }

    /// As the URL has them; libpq quotes parts of a URL that it cannot read.
    private static func passwords(in url: String) -> [String] {
        var found: [String] = []
        let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        if let at = rest.lastIndex(of: "@"), let colon = rest[..<at].firstIndex(of: ":") {
            found.append(String(rest[rest.index(after: colon)..<at]))
        }
        for part in rest.split(whereSeparator: { "?&".contains($0) }) where part.hasPrefix("password=") {
            found.append(String(part.dropFirst("password=".count)))
        }
        return found.filter { !$0.isEmpty }
    }
}
