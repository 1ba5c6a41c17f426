package import JSON
import ParseWire

/// Deletes a user; its sessions end in the same transaction.
package struct DeleteUser: Sendable {
    package let userID: String

    package init(userID: String) {
        self.userID = userID
    }

    package func run(in context: RequestContext) async throws -> JSONObject {
        if case .nobody = context.principal {
            throw ParseError(.sessionMissing, "Insufficient auth to delete user")
        }
        let access = ClassAccess(SystemClasses.user, in: context)
        try access.requireReachable(for: .delete)
        let filter = try access.filter(for: .delete)
        var transaction = Transaction()
        transaction.requireSession(of: context.principal)
        transaction.add(
            .delete(
                RowDeletion(
                    className: SystemClasses.user,
                    predicate: Predicate.id(userID).and(filter),
                    access: context.principal.access
                )
            ),
            orThrow: context.principal.isUnrestricted ? .objectNotFound : .insufficientAuth
        )
        transaction.add(.endSessions(of: userID))
        transaction.add(.unlink(userID: userID, providers: nil))
        transaction.notify(.user(userID))
        _ = try await context.commit(transaction)
        return [:]
    }
}
