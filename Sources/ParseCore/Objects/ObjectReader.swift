package import JSON
import ParseWire

/// Reads objects of one class for the caller of a request: which rows there are for it, and what it sees of each.
package struct ObjectReader: Sendable {
    package let access: ClassAccess
    package let protected: ProtectedFields
    /// `nil` for a class without files.
    let files: FileAddresses?
    private let context: RequestContext

    package init(_ className: String, in context: RequestContext) {
        access = ClassAccess(className, in: context)
        protected = ProtectedFields(access, in: context)
        files = FileAddresses(context, for: access.schema)
        self.context = context
    }

    package var className: String {
        access.className
    }

    /// The rows that class-level permissions leave, and of sessions the caller's own.
    ///
    /// - Throws: As ``ClassAccess/requireReachable(for:)`` and ``ClassAccess/filter(for:isUpdate:)``; 209 for sessions
    ///   without one.
    package func filter(for operation: ClassPermissions.Operation) throws(ParseError) -> Predicate {
        try access.requireReachable(for: operation == .get ? .get : .find)
        let rows = try access.filter(for: operation)
        guard className == SystemClasses.session else { return rows }
        return rows.and(try SessionAccess.ownRows(of: context.principal))
    }

    /// Whose rights a read of rows has; of sessions ``filter(for:)`` says it all.
    package var rowAccess: RowAccess {
        className == SystemClasses.session ? .unrestricted : context.principal.access
    }

    /// Writes rows as the caller sees them.
    func encoder(_ projection: Projection) -> ObjectEncoder {
        context.app.encoders.encoder(access.schema, projection, version: access.schemaVersion)
    }

    /// Whether an answer shows fields as they are stored, some left out; users and sessions are shown in ways of
    /// their own.
    static func showsRowsAsStored(of className: String) -> Bool {
        className != SystemClasses.user && className != SystemClasses.session
    }

    /// What the caller sees of the row, the fields of `projection`.
    package func object(_ row: StoredRow, _ projection: Projection) -> JSONObject {
        let object: JSONObject
        switch className {
        case SystemClasses.session: object = SessionView.object(row, in: context)
        case SystemClasses.user:
            object = UserView(of: row, in: context, hiding: protected.fields(of: row)).object
        default:
            object = ObjectView.object(
                of: row,
                access.schema,
                hiding: protected.fields(of: row),
                files: files
            )
        }
        return ObjectView.projected(object, projection, access.schema)
    }
}
