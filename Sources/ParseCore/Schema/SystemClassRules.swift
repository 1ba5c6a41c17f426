import ParseWire

/// What classes of Parse's own ask of their objects (Parse REST guide, "Roles").
enum SystemClassRules {
    private static func columns(of className: String) -> [String] {
        switch className {
        case SystemClasses.role: ["name"]
        case SystemClasses.product: ["productIdentifier", "icon", "order", "title", "subtitle"]
        default: []
        }
    }

    /// - Throws: ``ParseError`` 111 for the first column that a new object lacks; 139 for the name of a role that
    ///   could not stand in an access control list.
    static func checkColumns(
        of className: String,
        _ values: [String: FieldValue],
        hasACL: Bool
    ) throws(ParseError) {
        for name in columns(of: className) where values[name] == nil || values[name] == .null {
            throw missing(name)
        }
        guard className == SystemClasses.role else { return }
        guard hasACL else { throw missing("ACL") }
        try checkRoleName(values["name"])
    }

    /// - Throws: As ``checkColumns(of:_:hasACL:)``, for what a change takes away.
    static func checkRemovals(of className: String, _ fields: ObjectBody) throws(ParseError) {
        let columns = columns(of: className)
        guard !columns.isEmpty else { return }
        for (field, change) in fields.changes where columns.contains(field) {
            switch change {
            case .unset, .set(.null): throw missing(field)
            case .set(let value) where className == SystemClasses.role: try checkRoleName(value)
            default: break
            }
        }
        if className == SystemClasses.role, fields.removesACL { throw missing("ACL") }
    }

    private static func checkRoleName(_ name: FieldValue?) throws(ParseError) {
        guard let text = name?.stringValue, text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            return
        }
        throw ParseError(.invalidRoleName, "A role's name cannot contain control characters.")
    }

    private static func missing(_ column: String) -> ParseError {
        ParseError(.incorrectType, "\(column) is required.")
    }
}
