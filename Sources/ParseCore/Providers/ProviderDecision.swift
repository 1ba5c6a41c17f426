import ParseWire

/// Whose the accounts named in `authData` are.
package enum ProviderDecision: Sendable {
    /// Nobody's yet; the providers vouched for them.
    case nobodysAccount(ValidatedAuthData)
    /// One user's: the current one's, or that of the user who logs in by it.
    case account(StoredRow)

    /// Looks for the owners.
    ///
    /// - Parameters:
    ///   - authData: What was sent.
    ///   - current: The user that is logged in or is being changed.
    ///   - context: The request.
    /// - Returns: Whose they are; data that are nobody's are validated already.
    /// - Throws: ``ParseError``: what a provider says; 208 when an account is another user's. The provider is
    ///   asked before that is said, so that ids cannot be probed.
    static func make(
        _ authData: AuthData,
        current: String?,
        in context: RequestContext
    ) async throws -> ProviderDecision {
        let app = context.app
        let identities = authData.identities
        let owners =
            identities.isEmpty
            ? []
            : try await app.reading { () throws(StorageError) in
                try await app.storage.users(owning: identities)
            }
        let isLocked = !context.principal.isMaster && owners.contains { $0.acl?.isLocked == true }
        if let owner = owners.first, owners.count == 1, !isLocked, current == nil || current == owner.objectID
        {
            return .account(owner)
        }
        let validated = try await authData.validated(in: app)
        guard owners.isEmpty else { throw ParseError.accountAlreadyLinked }
        return .nobodysAccount(validated)
    }
}
