package import Cryptography
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

    /// The session with that token and its user, read at one moment; `nil` without such a session.
    func session(tokenHash: Digest256) async throws(StorageError) -> (session: StoredRow, user: StoredRow?)?

    /// At most two users that own one of these accounts at providers.
    func users(owning identities: [ProviderIdentity]) async throws(StorageError) -> [StoredRow]

    /// Ends when what was under way is done; later calls fail with ``StorageError/closed``.
    func close() async
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

    package init(schemaChanges: [SchemaChange] = [], steps: [WriteStep]) {
        self.schemaChanges = schemaChanges
        self.steps = steps
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

    package init(
        className: String,
        predicate: Predicate,
        access: RowAccess = .unrestricted,
        changes: [(field: String, change: FieldChange)] = [],
        hidden: [String: FieldValue?] = [:],
        acl: AccessControlList? = nil,
        updatedAt: Timestamp? = nil,
        mustMatch: Bool = true
    ) {
        self.className = className
        self.predicate = predicate
        self.access = access
        self.changes = changes
        self.hidden = hidden
        self.acl = acl
        self.updatedAt = updatedAt
        self.mustMatch = mustMatch
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

/// What the steps of a plan did, by their position.
package struct WriteOutcome: Sendable {
    /// The rows that each update left behind; empty for other steps.
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
    /// A field change could not be applied to the row, for a reason the client can be told.
    case refused(ParseError)
    /// More work is queued than the server takes on; nothing was done.
    case overloaded
    case closed
    /// The database failed; the text is for the log alone.
    case failed(String)
}

/// What must be unique.
package enum UniqueValue: Sendable, Hashable {
    case objectID
    case username
    case email
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
