import JSON
package import ParseWire

/// One object as the database holds it.
package struct StoredRow: Sendable, Hashable {
    package var objectID: String
    package var createdAt: Timestamp
    package var updatedAt: Timestamp
    /// `nil`: public.
    package var acl: AccessControlList?
    /// What is not absent, by field name; never the common fields above.
    package var fields: [String: FieldValue]
    /// Columns no client sees (``HiddenField``).
    package var hidden: [String: FieldValue]

    package init(
        objectID: String,
        createdAt: Timestamp,
        updatedAt: Timestamp,
        acl: AccessControlList? = nil,
        fields: [String: FieldValue] = [:],
        hidden: [String: FieldValue] = [:]
    ) {
        self.objectID = objectID
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.acl = acl
        self.fields = fields
        self.hidden = hidden
    }

    /// Whether one of the group may read it.
    package func isReadable(by access: RowAccess) -> Bool {
        switch access {
        case .unrestricted: true
        case .group(let keys): acl?.allowsReading(by: keys) ?? true
        }
    }

    package func isWritable(by access: RowAccess) -> Bool {
        switch access {
        case .unrestricted: true
        case .group(let keys): acl?.allowsWriting(by: keys) ?? true
        }
    }
}

/// Whose rights a read or write has.
package enum RowAccess: Sendable, Hashable {
    case unrestricted
    /// The keys of an access control list that the caller answers to: `*`, the user's id, its roles.
    case group([String])
}
