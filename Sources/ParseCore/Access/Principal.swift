/// On whose behalf a request acts.
package enum Principal: Sendable {
    /// A client without a session.
    case nobody
    /// A client with a living session.
    case user(AuthenticatedSession)
    case master
    /// Reads as master; writes nothing.
    case readOnlyMaster
    /// Reaches hidden fields; no master for routes that ask for one.
    case maintenance

    package var session: AuthenticatedSession? {
        if case .user(let session) = self { session } else { nil }
    }

    package var userID: String? {
        session?.userID
    }

    package var isMaster: Bool {
        switch self {
        case .master, .readOnlyMaster: true
        case .nobody, .user, .maintenance: false
        }
    }

    package var isMaintenance: Bool {
        if case .maintenance = self { true } else { false }
    }

    package var isReadOnly: Bool {
        if case .readOnlyMaster = self { true } else { false }
    }

    /// Whether access control lists do not hold for it.
    package var isUnrestricted: Bool {
        isMaster || isMaintenance
    }

    /// The keys of access control lists and class-level permissions that it answers to.
    package var group: [String] {
        session?.group ?? ["*"]
    }

    package var access: RowAccess {
        if isUnrestricted { return .unrestricted }
        return .group(group)
    }
}
