package import JSON
import Cryptography
import ParseWire

/// The session of the request, also after its end (`GET /sessions/me`).
package struct CurrentSession: Sendable {
    package init() {}

    package func run(in context: RequestContext) async throws -> JSONObject {
        guard let token = context.sessionToken else { throw ParseError.sessionTokenRequired }
        let app = context.app
        let notFound = ParseError(.invalidSessionToken, "Session token not found.")
        guard SessionToken.isWellFormed(token) else { throw notFound }
        let found = try await app.reading { () throws(StorageError) in
            try await app.storage.session(tokenHash: SHA256.hash(token))
        }
        guard let found else { throw notFound }
        return SessionView.object(found.session, in: context)
    }
}

/// Who reaches which sessions.
enum SessionAccess {
    /// - Throws: ``ParseError`` 209 for who has none, the maintenance key included.
    static func ownRows(of principal: Principal) throws(ParseError) -> Predicate {
        if principal.isMaster { return .everything }
        guard let userID = principal.userID else { throw .invalidSessionToken }
        return .pointsTo(user: userID)
    }
}

extension Predicate {
    /// A token in a query is looked for by its hash, the only form in which it is stored.
    func hashingTokens() -> Predicate {
        switch self {
        case .equal("sessionToken", .string(let token)): Self.token(token)
        case .among("sessionToken", let values):
            .any(values.map { $0.stringValue.map(Self.token) ?? .none([.everything]) })
        case .notEqual("sessionToken", .string(let token)): .none([Self.token(token)])
        case .all(let parts): .all(parts.map { $0.hashingTokens() })
        case .any(let parts): .any(parts.map { $0.hashingTokens() })
        case .none(let parts): .none(parts.map { $0.hashingTokens() })
        default: self
        }
    }

    private static func token(_ text: String) -> Predicate {
        .hidden(HiddenField.tokenHash, .binary(SHA256.hash(text).bytes))
    }
}
