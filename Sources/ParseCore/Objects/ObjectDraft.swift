import JSON
import ParseWire

/// The body of a create, checked, with what the class adds to it.
struct ObjectDraft {
    let fields: ObjectBody
    /// The values of the new row, defaults included.
    private(set) var values: [String: FieldValue]
    private(set) var acl: AccessControlList?
    /// What the reply tells beside id and date.
    private(set) var replyFields: JSONObject

    /// Checks in the order of the contract: new fields, types, columns of system classes, defaults and required
    /// fields, and last whether the caller may create at all.
    init(creating body: JSONObject, _ access: ClassAccess, in context: RequestContext) throws(ParseError) {
        let className = access.className
        fields = try ObjectBody(
            body,
            className: className,
            kind: .create,
            in: context.app,
            isMaster: context.principal.isUnrestricted
        )
        if fields.addsFields { _ = try access.filter(for: .addField) }
        values = try fields.initialValues()
        try SystemClassRules.checkColumns(of: className, values, hasACL: fields.acl != nil)
        let defaults = try access.schema?.fillDefaults(&values) ?? [:]
        try access.schema?.checkRequired(values)
        _ = try access.filter(for: .create)
        replyFields = fields.resultFields(of: values)
        for member in defaults { replyFields[member.key] = member.value }
        acl = fields.acl
        if acl == nil, let given = access.schema?.permissions?.acl(ofNewObjectBy: context.principal) {
            acl = given
            replyFields["ACL"] = given.json
        }
    }

    /// The maintenance key may set the dates.
    func dated(_ row: StoredRow, by principal: Principal) throws(ParseError) -> StoredRow {
        guard principal.isMaintenance, let created = fields.createdAt else { return row }
        var row = row
        row.createdAt = created
        row.updatedAt = fields.updatedAt ?? created
        guard row.updatedAt >= row.createdAt else {
            throw ParseError(.validationError, "updatedAt cannot occur before createdAt")
        }
        return row
    }
}

extension ClassSchema {
    /// Gives fields that are absent their defaults.
    ///
    /// - Returns: What was given, as the reply tells it.
    func fillDefaults(_ values: inout [String: FieldValue]) throws(ParseError) -> JSONObject {
        var filled = JSONObject()
        guard !fieldOptions.isEmpty else { return filled }
        for name in fieldNames where values[name] == nil {
            guard let json = fieldOptions[name]?.defaultValue,
                case .set(let value) = try FieldInput(json).change
            else { continue }
            values[name] = value
            filled.append(name, value.json)
        }
        return filled
    }

    /// - Throws: ``ParseError`` 142 for the first required field without a value; an empty text is none.
    func checkRequired(_ values: [String: FieldValue]) throws(ParseError) {
        guard !fieldOptions.isEmpty else { return }
        for name in fieldNames where fieldOptions[name]?.isRequired == true {
            if values[name]?.isMissing ?? true { throw Self.required(name) }
        }
    }

    /// - Throws: ``ParseError`` 142 for a change that takes the value off a required field.
    func checkRequired(_ changes: [(field: String, change: FieldChange)]) throws(ParseError) {
        guard !fieldOptions.isEmpty else { return }
        for (field, change) in changes where fieldOptions[field]?.isRequired == true {
            switch change {
            case .unset: throw Self.required(field)
            case .set(let value) where value.isMissing: throw Self.required(field)
            default: break
            }
        }
    }

    private static func required(_ field: String) -> ParseError {
        ParseError(.validationError, "\(field) is required")
    }
}

extension FieldValue {
    fileprivate var isMissing: Bool {
        self == .null || self == .string("")
    }
}

extension ClassPermissions {
    /// The list that an object gets that brings none; `nil` for a public one.
    func acl(ofNewObjectBy principal: Principal) -> AccessControlList? {
        guard let defaultACL, defaultACL != ["*": ["read": true, "write": true]] else { return nil }
        var entries = JSONObject()
        for member in defaultACL {
            if member.key != "currentUser" {
                entries[member.key] = member.value
            } else if let userID = principal.userID {
                entries[userID] = member.value
            }
        }
        return (try? AccessControlList(entries)) ?? AccessControlList()
    }
}
