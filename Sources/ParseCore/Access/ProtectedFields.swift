import JSON
import ParseWire

/// The fields of a class that the caller of a request does not get to see (Parse REST guide, "Protected
/// Fields").
///
/// What several groups of the caller protect is protected only where they all do.
package struct ProtectedFields: Sendable {
    private let className: String
    private let userID: String?
    private let isRestricted: Bool
    /// What is protected in every row.
    package let fields: Set<String>
    /// By field that points to users: what is protected from them.
    private let byUserField: [(field: String, protected: Set<String>)]

    package init(_ access: ClassAccess, in context: RequestContext) {
        className = access.className
        let principal = context.principal
        userID = principal.userID
        isRestricted = !principal.isUnrestricted
        var lists = access.schema?.permissions?.protectedFields ?? [:]
        for (group, fields) in context.app.options.protectedFields[className] ?? [:] {
            lists[group, default: []] += fields
        }
        guard !principal.isUnrestricted, !lists.isEmpty else {
            fields = []
            byUserField = []
            return
        }
        var groups = principal.group
        if principal.userID != nil { groups.append("authenticated") }
        let matching = groups.compactMap { lists[$0].map { Set($0) } }
        fields = matching.dropFirst().reduce(matching.first ?? []) { $0.intersection($1) }
        byUserField = lists.compactMap { group, fields in
            let prefix = "userField:"
            return group.hasPrefix(prefix) ? (String(group.dropFirst(prefix.count)), Set(fields)) : nil
        }
    }

    /// What is protected in that row; users see all of themselves.
    package func fields(of row: StoredRow) -> Set<String> {
        guard !fields.isEmpty else { return fields }
        if className == SystemClasses.user, row.objectID == userID { return [] }
        guard let userID, !byUserField.isEmpty else { return fields }
        return byUserField.reduce(fields) { left, entry in
            Self.points(row.fields[entry.field], to: userID) ? left.intersection(entry.protected) : left
        }
    }

    /// Refuses a search or an order by what the caller may not see, and by sign-in data, where an anonymous user's id
    /// is its password.
    ///
    /// - Parameters:
    ///   - paths: What `where` names, at any depth.
    ///   - order: What it is sorted by.
    ///   - ownID: The id the query asks for by equality; a user may search itself.
    /// - Throws: ``ParseError`` 119 that names the path and the class.
    package func check(paths: [String], order: [SortKey], ownID: String?) throws(ParseError) {
        let isOwn = className == SystemClasses.user && ownID != nil && ownID == userID
        for path in paths {
            let field = FieldName.root(of: path)
            guard !hides(field), isOwn || !fields.contains(field) else {
                throw refusal("query \(path)")
            }
        }
        for key in order {
            let field = FieldName.root(of: key.field)
            guard !hides(field), !fields.contains(field) else { throw refusal("sort by \(key.field)") }
        }
    }

    /// Whether nobody but a master may search by it.
    private func hides(_ field: String) -> Bool {
        isRestricted && className == SystemClasses.user && field == "authData"
    }

    private func refusal(_ action: String) -> ParseError {
        ParseError(
            .operationForbidden,
            "This user is not allowed to \(action) on class \(className)"
        )
    }

    private static func points(_ value: FieldValue?, to userID: String) -> Bool {
        switch value {
        case .pointer(SystemClasses.user, let id): id == userID
        case .array(let elements): elements.contains(FieldValue.pointerJSON(SystemClasses.user, userID))
        default: false
        }
    }
}
