package import JSON
import Cryptography
import ParseWire

/// A session that is about to be stored.
package struct NewSession: Sendable {
    package let token: String
    package let row: StoredRow
    private let userID: String
    private let installationID: String?

    /// - Parameters:
    ///   - userID: Whose session it is.
    ///   - app: Whose options set its end.
    ///   - createdWith: How it came to be; `nil` for the one after a password change.
    ///   - installationID: Where it is used; one that is empty counts as none.
    ///   - fields: Further fields of the row.
    package init(
        for userID: String,
        in app: App,
        createdWith: JSONObject?,
        installationID: String?,
        fields: [String: FieldValue] = [:]
    ) {
        let now = app.now
        let installationID = installationID.flatMap { $0.isEmpty ? nil : $0 }
        token = SessionToken.make()
        self.userID = userID
        self.installationID = installationID
        var fields = fields
        fields["user"] = .pointer(className: SystemClasses.user, objectID: userID)
        if let createdWith { fields["createdWith"] = .object(createdWith) }
        if let installationID { fields["installationId"] = .string(installationID) }
        if app.options.expireInactiveSessions {
            fields["expiresAt"] = .date(now.adding(seconds: app.options.sessionLength))
        }
        row = StoredRow(
            objectID: app.environment.newObjectID(),
            createdAt: now,
            updatedAt: now,
            fields: fields,
            hidden: [
                HiddenField.tokenHash: .binary(SHA256.hash(token).bytes),
                HiddenField.tokenTail: .string(String(token.suffix(4))),
            ]
        )
    }

    /// Stores it; an older session of the same user on the same installation ends.
    package var steps: [WriteStep] {
        var steps: [WriteStep] = []
        if let installationID { steps.append(.endSession(of: userID, on: installationID)) }
        steps.append(.insert(className: SystemClasses.session, row))
        return steps
    }
}

extension WriteStep {
    /// Ends the session of the user on that installation: there is one at most.
    package static func endSession(of userID: String, on installationID: String) -> WriteStep {
        .delete(
            RowDeletion(
                className: SystemClasses.session,
                predicate: .all([
                    .pointsTo(user: userID), .equal("installationId", .string(installationID)),
                ]),
                mustMatch: false
            )
        )
    }

    /// Ends every session of the user.
    package static func endSessions(of userID: String) -> WriteStep {
        .delete(
            RowDeletion(
                className: SystemClasses.session,
                predicate: .pointsTo(user: userID),
                mustMatch: false
            )
        )
    }

    /// Holds the write back unless the session it acts for still lives: one that ended while the request was
    /// on its way writes nothing more.
    package static func requireSession(_ session: AuthenticatedSession) -> WriteStep {
        .require(className: SystemClasses.session, .id(session.sessionID))
    }
}
