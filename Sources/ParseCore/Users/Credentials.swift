package import JSON
import Cryptography
import ParseWire

/// A name or address, and a password.
package struct Credentials: Sendable {
    private let username: JSONValue?
    private let email: JSONValue?
    private let password: JSONValue?

    package init(username: JSONValue?, email: JSONValue?, password: JSONValue?) {
        self.username = username
        self.email = email
        self.password = password
    }

    /// The user, if the password is right.
    ///
    /// An unknown name costs as much time as a wrong password, so that names cannot be found out by the clock.
    /// A hash of another algorithm than the one in use is replaced on the way.
    ///
    /// - Throws: ``ParseError``: 200 or 201 where something is missing; 101 `Invalid username/password.` for
    ///   everything else that is wrong, a locked user included.
    package func verifiedUser(in context: RequestContext) async throws -> StoredRow {
        guard username?.isTruthy == true || email?.isTruthy == true else {
            throw ParseError(.usernameMissing, "username/email is required.")
        }
        guard let password, password.isTruthy else {
            throw ParseError(.passwordMissing, "password is required.")
        }
        guard let secret = password.stringValue, let predicate = predicate(context.app.options) else {
            throw ParseError.invalidCredentials
        }
        let app = context.app
        let query = RowQuery(className: SystemClasses.user, predicate: predicate, limit: 2)
        let rows = try await app.reading { () throws(StorageError) in try await app.storage.find(query) }
        let name = username?.stringValue.map { app.options.convertUsernameToLowercase ? $0.lowercased() : $0 }
        // Byte by byte: Swift takes two spellings of an accented letter for equal, the database does not.
        let user =
            rows.count > 1
            ? rows.first { $0.fields["username"]?.stringValue?.utf8.elementsEqual((name ?? "").utf8) == true }
            : rows.first
        let hash = user?.hidden[HiddenField.passwordHash]?.stringValue
        guard try await app.verify(secret, hash, context.lane), let user else {
            throw ParseError.invalidCredentials
        }
        if user.acl?.isLocked == true, !context.principal.isMaster { throw ParseError.invalidCredentials }
        return try await rehashed(user, secret, hash, in: context)
    }

    /// Holds a write back when the password was changed, or the user deleted, after it was checked.
    package func stillHold(for user: StoredRow) -> WriteStep {
        .require(
            className: SystemClasses.user,
            .all([
                .id(user.objectID),
                .hidden(HiddenField.passwordHash, user.hidden[HiddenField.passwordHash] ?? .null),
            ])
        )
    }

    /// `nil` when one of them is no text, which no user matches.
    private func predicate(_ options: AppOptions) -> Predicate? {
        let name = username?.isTruthy == true ? username : nil
        let address = email?.isTruthy == true ? email : nil
        if let name, name.stringValue == nil { return nil }
        if let address, address.stringValue == nil { return nil }
        let nameText = name?.stringValue.map { options.convertUsernameToLowercase ? $0.lowercased() : $0 }
        let addressText = address?.stringValue.map { options.convertEmailToLowercase ? $0.lowercased() : $0 }
        switch (nameText, addressText) {
        case (let name?, let address?):
            return .all([.equal("username", .string(name)), .equal("email", .string(address))])
        case (nil, let address?): return .equal("email", .string(address))
        case (let name?, nil):
            let asAddress = options.convertEmailToLowercase ? name.lowercased() : name
            return .any([.equal("username", .string(name)), .equal("email", .string(asAddress))])
        case (nil, nil): return nil
        }
    }

    private func rehashed(
        _ user: StoredRow,
        _ password: String,
        _ hash: String?,
        in context: RequestContext
    ) async throws -> StoredRow {
        let app = context.app
        guard let hash, PasswordHash.needsRehash(hash, for: app.environment.passwords.algorithm) else {
            return user
        }
        let fresh = try await app.hash(password, context.lane)
        var transaction = Transaction()
        transaction.add(stillHold(for: user), orThrow: .invalidCredentials)
        transaction.add(
            .update(
                RowUpdate(
                    className: SystemClasses.user,
                    predicate: .id(user.objectID),
                    hidden: [HiddenField.passwordHash: .string(fresh)]
                )
            )
        )
        _ = try await app.commit(transaction)
        var user = user
        user.hidden[HiddenField.passwordHash] = .string(fresh)
        return user
    }
}
