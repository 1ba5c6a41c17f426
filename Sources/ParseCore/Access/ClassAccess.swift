import JSON
import ParseWire

/// What the caller of a request may do with one class.
///
/// Made once per class and request; everything that reads or writes objects asks it first.
package struct ClassAccess: Sendable {
    package let className: String
    /// `nil` for a class that does not exist (yet).
    package let schema: ClassSchema?
    /// The version of the schema that this was looked up in.
    let schemaVersion: Int64
    private let principal: Principal
    private let options: AppOptions

    package init(_ className: String, in context: RequestContext) {
        self.className = className
        principal = context.principal
        options = context.app.options
        let snapshot = context.app.storage.schema
        schemaVersion = snapshot.version
        schema =
            snapshot[className]
            ?? (SystemClasses.isSystem(className) ? SystemClasses.schema(of: className) : nil)
    }

    /// Refuses what the server keeps to itself in classes of its own, and writes with the read-only key.
    ///
    /// - Throws: ``ParseError`` 119 that names operation and class.
    package func requireReachable(for operation: ClassOperation) throws(ParseError) {
        if className == SystemClasses.installation, !principal.isUnrestricted,
            operation == .find || operation == .delete
        {
            throw Self.refusal(operation, "installation")
        }
        if SystemClasses.volatile.contains(className) || ClassName.isJoin(className),
            !principal.isUnrestricted
        {
            throw Self.refusal(operation, className)
        }
        if principal.isReadOnly, operation.isWrite { throw .readOnlyMaster(operation.rawValue) }
    }

    /// A class that does not exist is empty to those who could make it, and refused to all others.
    ///
    /// - Returns: Whether it exists.
    /// - Throws: ``ParseError`` 119 that names the class.
    package func requireExistence() throws(ParseError) -> Bool {
        if schema != nil { return true }
        guard principal.isUnrestricted || options.allowClientClassCreation else {
            throw ParseError(
                .operationForbidden,
                "This user is not allowed to access non-existent class: \(className)"
            )
        }
        return false
    }

    /// The rows that the class-level permissions leave of the operation (Parse REST guide, "Class-Level
    /// Permissions").
    ///
    /// They narrow access control lists and never widen them.
    ///
    /// - Parameters:
    ///   - operation: What is asked for.
    ///   - isUpdate: Whether a new field comes with an update; pointers allow that, and no create.
    /// - Returns: A condition that rows must meet beside whatever is asked for.
    /// - Throws: ``ParseError``: 101 for a caller who would have to log in, 119 that names operation and class
    ///   for any other who may not.
    package func filter(
        for operation: ClassPermissions.Operation,
        isUpdate: Bool = false
    ) throws(ParseError) -> Predicate {
        guard !principal.isUnrestricted, let permissions = schema?.permissions,
            let rule = permissions.rules[operation], rule.keys.isDisjoint(with: principal.group)
        else { return .everything }
        let group = operation.isRead ? permissions.readUserFields : permissions.writeUserFields
        let fields = operation == .create ? [] : rule.pointerFields + group
        if rule.requiresAuthentication {
            guard principal.userID != nil else {
                throw ParseError(
                    .objectNotFound,
                    "Permission denied, user needs to be authenticated."
                )
            }
            if fields.isEmpty { return .everything }
        }
        guard !fields.isEmpty, operation != .addField || isUpdate else {
            throw ParseError(
                .operationForbidden,
                "Permission denied for action \(operation.rawValue) on class \(className)."
            )
        }
        guard let userID = principal.userID else { return .any([]) }
        return .any(fields.map { pointing($0, to: userID) })
    }

    private func pointing(_ field: String, to userID: String) -> Predicate {
        if case .object = schema?.type(of: field),
            let object = FieldValue.pointerJSON(SystemClasses.user, userID).objectValue
        {
            return .equal(field, .object(object))
        }
        return .pointsTo(user: userID, by: field)
    }

    private static func refusal(_ operation: ClassOperation, _ collection: String) -> ParseError {
        ParseError(
            .operationForbidden,
            "Clients aren't allowed to perform the \(operation.rawValue) operation on the \(collection) collection."
        )
    }
}

/// What a request does with a class, as refusals name it.
package enum ClassOperation: String, Sendable {
    case find, get, create, update, delete

    var isWrite: Bool {
        switch self {
        case .find, .get: false
        case .create, .update, .delete: true
        }
    }
}
