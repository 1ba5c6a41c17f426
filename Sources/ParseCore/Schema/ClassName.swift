/// The rules of class names (Parse REST guide, "Objects").
package enum ClassName {
    private static let joinPrefix = "_Join:"

    /// Whether a client may make a class of that name, or it is one of Parse's own.
    package static func isValid(_ name: String) -> Bool {
        FieldName.isValid(name) || SystemClasses.isSystem(name) || isJoin(name)
    }

    /// Whether a class of that name can be made or pointed to by name.
    package static func isNameable(_ name: String) -> Bool {
        name.utf8.count <= FieldName.byteLimit && (FieldName.isValid(name) || SystemClasses.isSystem(name))
    }

    /// Whether it names the links of a relation: `_Join:`, the field, `:`, the class.
    package static func isJoin(_ name: String) -> Bool {
        guard name.hasPrefix(joinPrefix) else { return false }
        let parts = name.dropFirst(joinPrefix.count).split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 && FieldName.isValid(String(parts[0]))
            && (FieldName.isValid(String(parts[1])) || SystemClasses.isSystem(String(parts[1])))
    }
}
