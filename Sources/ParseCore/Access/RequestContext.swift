package import Cryptography
package import ParseWire

/// Everything a command knows about the request it serves.
///
/// After this is made nobody looks at headers to decide permissions.
package struct RequestContext: Sendable {
    package let app: App
    package let principal: Principal
    /// The session token as sent, also beside a master key and where it belongs to no session.
    package let sessionToken: String?
    package let installationID: String?
    /// One place in the queue of the password hashing pool, shared by all parts of a batch; `nil` for a
    /// request that has nothing to hash.
    private let hashingLane: HashingLane?
    /// Makes ``baseURL``; most requests never ask for it.
    private let makeBaseURL: (@Sendable () -> String)?
    /// Set where the request is a part of a batch that is one transaction.
    package var jointCommit: JointCommitPart?
    /// The moment that all parts of a batch take for the present one.
    package var moment: Timestamp?

    package init(
        app: App,
        principal: Principal,
        sessionToken: String?,
        installationID: String?,
        lane: HashingLane?,
        baseURL: (@Sendable () -> String)? = nil
    ) {
        self.app = app
        self.principal = principal
        self.sessionToken = sessionToken
        self.installationID = installationID
        hashingLane = lane
        makeBaseURL = baseURL
    }

    /// The address of the API that the request was sent to, with its mount and without a slash at the end.
    ///
    /// `nil` for what did not come by HTTP. Made anew each time it is asked for.
    package var baseURL: String? {
        makeBaseURL?()
    }

    /// The date of what the request makes or changes.
    package var now: Timestamp {
        moment ?? app.now
    }

    package var lane: HashingLane {
        hashingLane ?? HashingLane()
    }

    /// - Throws: ``ParseError/masterKeyRequired`` for everybody but the master, read-only or not.
    package func requireMaster() throws(ParseError) {
        guard principal.isMaster else { throw .masterKeyRequired }
    }

    /// - Throws: 119 that names the operation, for the read-only master key.
    package func refuseReadOnly(_ operation: String) throws(ParseError) {
        if principal.isReadOnly { throw .readOnlyMaster(operation) }
    }
}
