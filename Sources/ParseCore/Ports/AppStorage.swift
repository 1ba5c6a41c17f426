package import Cryptography
package import JSON
package import ParseWire

/// The database of one app.
///
/// An adapter sees neither principals nor HTTP: it turns plans into transactions. It may be called from any
/// task; calls do not block a thread of the caller.
package protocol AppStorage: Sendable {
    /// The schema as of the last committed change.
    var schema: SchemaSnapshot { get }

    /// Runs the plan in one transaction: all of it or nothing. When it returns, the change is on disk.
    func write(_ plan: WritePlan) async throws(StorageError) -> WriteOutcome

    /// The rows that match, in order.
    func find(_ query: RowQuery) async throws(StorageError) -> [StoredRow]

    /// How many rows match, exactly; order, limit and skip do not count.
    func count(_ query: RowQuery) async throws(StorageError) -> Int

    /// The different values that the path has in the rows that match, elements of arrays one by one; neither null
    /// nor absent; in the form of an answer. Order, limit and skip do not count.
    func distinct(_ query: RowQuery, path: String) async throws(StorageError) -> [JSONValue]

    /// How the database would run the query, in its own words.
    func explain(_ query: RowQuery) async throws(StorageError) -> JSONValue

    /// The session with that token, its user and the user's roles, read at one moment; `nil` without such a session.
    func session(tokenHash: Digest256) async throws(StorageError) -> SessionRecord?

    /// So many links of a relation field, in an order that does not change, from the first on or behind one that was
    /// there; to read all of them in parts.
    func links(of relation: RelationField, after: RelationLink?, limit: Int) async throws(StorageError)
        -> [RelationLink]

    /// The names of the roles that the user has, by itself or through roles that it has.
    func roles(ofUser userID: String) async throws(StorageError) -> [String]

    /// At most two users that own one of these accounts at providers.
    func users(owning identities: [ProviderIdentity]) async throws(StorageError) -> [StoredRow]

    /// Whether what was read before may be relied on: false while changes that other processes make would go
    /// unnoticed.
    var isCoherent: Bool { get }

    /// Calls the handler for the notices of writes of other processes, in order; to be called once.
    func observe(_ handler: @escaping @Sendable (ChangeNotice) -> Void)

    /// Ends when what was under way is done; later calls fail with ``StorageError/closed``.
    func close() async
}

/// A session as it is read to find out who asks.
package struct SessionRecord: Sendable {
    package var session: StoredRow
    package var user: StoredRow?
    /// Names, as ``AppStorage/roles(ofUser:)`` gives them.
    package var roles: [String]

    package init(session: StoredRow, user: StoredRow?, roles: [String]) {
        self.session = session
        self.user = user
        self.roles = roles
    }
}

/// What a write makes out of date that somebody may have kept.
package enum ChangeNotice: Sendable, Hashable {
    /// Sessions, roles or fields of the user.
    case user(String)
    /// Roles of whomever.
    case roles
    /// Everything: notices were lost.
    case everything
}

/// An account at a sign-in provider.
package struct ProviderIdentity: Sendable, Hashable {
    package var provider: String
    package var id: String

    package init(provider: String, id: String) {
        self.provider = provider
        self.id = id
    }
}

/// A change of the database, as data: everything happens in one transaction, in order, or nothing does.
package struct WritePlan: Sendable {
    package var schemaChanges: [SchemaChange]
    package var steps: [WriteStep]
    /// What other processes must learn; a database of one process has nothing to do with them.
    package var notices: [ChangeNotice]

    package init(schemaChanges: [SchemaChange] = [], steps: [WriteStep], notices: [ChangeNotice] = []) {
        self.schemaChanges = schemaChanges
        self.steps = steps
        self.notices = notices
    }
}

/// One step of a ``WritePlan``.
package enum WriteStep: Sendable {
    /// Nothing is written unless such a row is there; fails with ``StorageError/noMatch(step:)``.
    case require(className: String, Predicate)
    /// Nothing is written unless the account at the provider is this user's; fails as ``require(className:_:)``.
    case requireAccount(ProviderIdentity, userID: String)
    case insert(className: String, StoredRow)
    case update(RowUpdate)
    case delete(RowDeletion)
    /// Links of a relation are there from now on, or not there; what is already so is no error.
    case relate(RelationChange)
    /// The account at the provider belongs to this user from now on; fails with
    /// ``StorageError/duplicate(_:)`` when it is another's.
    case link(ProviderIdentity, userID: String)
    /// The user's accounts at these providers are free again; at all of them when `nil`.
    case unlink(userID: String, providers: [String]?)
}

/// Changes the rows that match.
package struct RowUpdate: Sendable {
    package var className: String
    package var predicate: Predicate
    /// Rows that may not be written by it count as not matching.
    package var access: RowAccess
    package var changes: [(field: String, change: FieldChange)]
    package var hidden: [String: FieldValue?]
    /// `nil` leaves the list as it is.
    package var acl: AccessControlList?
    /// `nil` leaves the date as it is.
    package var updatedAt: Timestamp?
    /// Whether a write that matches no row fails with ``StorageError/noMatch(step:)``.
    package var mustMatch: Bool
    /// Whether the outcome has to have the rows; without them a write may cost a third less.
    package var returnsRow: Bool

    package init(
        className: String,
        predicate: Predicate,
        access: RowAccess = .unrestricted,
        changes: [(field: String, change: FieldChange)] = [],
        hidden: [String: FieldValue?] = [:],
        acl: AccessControlList? = nil,
        updatedAt: Timestamp? = nil,
        mustMatch: Bool = true,
        returnsRow: Bool = true
    ) {
        self.className = className
        self.predicate = predicate
        self.access = access
        self.changes = changes
        self.hidden = hidden
        self.acl = acl
        self.updatedAt = updatedAt
        self.mustMatch = mustMatch
        self.returnsRow = returnsRow
    }
}

/// Deletes the rows that match.
package struct RowDeletion: Sendable {
    package var className: String
    package var predicate: Predicate
    package var access: RowAccess
    package var mustMatch: Bool
    /// At most so many rows, so that a sweep does not hold up others; `nil` for all.
    package var limit: Int?

    package init(
        className: String,
        predicate: Predicate,
        access: RowAccess = .unrestricted,
        mustMatch: Bool = true,
        limit: Int? = nil
    ) {
        self.className = className
        self.predicate = predicate
        self.access = access
        self.mustMatch = mustMatch
        self.limit = limit
    }
}

/// Adds or removes links of a relation field.
package struct RelationChange: Sendable, Hashable {
    package var className: String
    package var field: String
    package var ownerID: String
    package var relatedIDs: [String]
    package var isRemoval: Bool

    package init(className: String, field: String, ownerID: String, relatedIDs: [String], isRemoval: Bool) {
        self.className = className
        self.field = field
        self.ownerID = ownerID
        self.relatedIDs = relatedIDs
        self.isRemoval = isRemoval
    }
}

/// A field that leads to many objects.
package struct RelationField: Sendable, Hashable {
    package var className: String
    package var field: String

    package init(className: String, field: String) {
        self.className = className
        self.field = field
    }
}

/// One object that a relation field of another leads to.
package struct RelationLink: Sendable, Hashable {
    package var ownerID: String
    package var relatedID: String

    package init(ownerID: String, relatedID: String) {
        self.ownerID = ownerID
        self.relatedID = relatedID
    }
}

/// What the steps of a plan did, by their position.
package struct WriteOutcome: Sendable {
    /// The rows that each update left behind; empty for other steps, and may be for updates that want no rows.
    package var updatedRows: [[StoredRow]]
    /// How many rows each step touched.
    package var counts: [Int]

    package init(updatedRows: [[StoredRow]], counts: [Int]) {
        self.updatedRows = updatedRows
        self.counts = counts
    }
}

/// Why the database did not do as asked.
package enum StorageError: Error, Sendable {
    case noMatch(step: Int)
    case duplicate(UniqueValue)
    case schemaConflict(SchemaConflict)
    /// A class that has rows cannot be removed.
    case classNotEmpty(String, count: Int)
    /// A write or query names a class that does not exist (any more).
    case unknownClass(String)
    /// A field change could not be applied to the row, for a reason the client can be told.
    case refused(ParseError)
    /// More work is queued than the server takes on; nothing was done.
    case overloaded
    /// The database cannot be reached at the moment; nothing was done.
    case unavailable
    /// The connection was lost at a moment that leaves it open whether the write was done.
    case outcomeUnknown
    case closed
    /// The database failed; the text is for the log alone.
    case failed(String)
}

/// What must be unique.
package enum UniqueValue: Sendable, Hashable {
    case objectID
    case username
    case email
    /// The name of a role, the id of an installation, the id of a request: a field that is unique in its class.
    case field(className: String, String)
    case providerAccount(provider: String)
    case other
}

/// A field has another type than a plan took for granted.
package struct SchemaConflict: Sendable, Hashable {
    package var className: String
    package var field: String
    package var existing: FieldType
    package var requested: FieldType

    package init(className: String, field: String, existing: FieldType, requested: FieldType) {
        self.className = className
        self.field = field
        self.existing = existing
        self.requested = requested
    }

    package var parseError: ParseError {
        .schemaMismatch(className, field, expected: existing, got: requested)
    }
}

extension ParseError {
    package static func schemaMismatch(
        _ className: String,
        _ field: String,
        expected: FieldType,
        got: FieldType
    ) -> ParseError {
        ParseError(
            .incorrectType,
            "schema mismatch for \(className).\(field); expected \(expected.description) but got \(got.description)"
        )
    }
}
