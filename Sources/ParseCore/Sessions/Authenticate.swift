import Logging
import JSON
import Cryptography
import ParseWire

extension App {
    /// The living session with that token.
    ///
    /// - Throws: ``ParseError`` 209: `Session token is expired.` after its end, `Invalid session token` where
    ///   there is no session or its user is gone.
    package nonisolated(nonsending) func authenticate(token: String) async throws -> AuthenticatedSession {
        guard SessionToken.isWellFormed(token) else { throw ParseError.invalidSessionToken }
        let hash = SHA256.hash(token)
        if storage.isCoherent, let session = sessions.session(tokenHash: hash) {
            return try await checked(session)
        }
        let ticket = sessions.ticket()
        guard
            let found = try await reading({ () throws(StorageError) in
                try await storage.session(tokenHash: hash)
            }),
            let user = found.user
        else { throw ParseError.invalidSessionToken }
        let session = AuthenticatedSession(
            tokenHash: hash,
            sessionID: found.session.objectID,
            expiresAt: found.session.fields["expiresAt"]?.dateValue,
            updatedAt: found.session.updatedAt,
            user: user,
            roles: found.roles,
            encodedUser: UserView(of: user, in: self, viewer: .owner).encodedPrefix
        )
        sessions.insert(session, ticket)
        return try await checked(session)
    }

    private nonisolated(nonsending) func checked(_ session: AuthenticatedSession) async throws
        -> AuthenticatedSession
    {
        if let end = session.expiresAt, end < now { throw ParseError.sessionTokenExpired }
        if options.extendSessionOnUse, session.expiresAt != nil {
            do {
                try await extend(session)
            } catch {
                // The session lives on as it is; a later request tries again.
                environment.logger.warning(
                    "a session was not extended",
                    [("error", .string(String(describing: error)))]
                )
            }
        }
        return session
    }

    /// Gives a session that is used in the second half of its life a whole new one.
    private func extend(_ session: AuthenticatedSession) async throws {
        let now = now
        guard session.updatedAt.adding(seconds: options.sessionLength / 2) <= now else { return }
        var transaction = Transaction()
        transaction.add(
            .update(
                RowUpdate(
                    className: SystemClasses.session,
                    predicate: .id(session.sessionID),
                    changes: [("expiresAt", .set(.date(now.adding(seconds: options.sessionLength))))],
                    updatedAt: now,
                    mustMatch: false
                )
            )
        )
        transaction.notify(.user(session.userID))
        _ = try await commit(transaction)
    }
}

/// What session tokens look like: `r:` and 32 hexadecimal digits.
package enum SessionToken {
    package static func make() -> String {
        "r:" + SecureRandom.hex(byteCount: 16)
    }

    /// Whether it can be a revocable token at all; anything else is spared the look into the database.
    package static func isWellFormed(_ token: String) -> Bool {
        token.hasPrefix("r:") && token.utf8.count <= 256
    }

    /// How a token is shown to those who are not its holder.
    package static func shortened(tail: String) -> String {
        "r:…" + tail
    }
}
