/// What the class-level permissions of an app say about its safety.
package enum PermissionChecks {
    /// How many classes a warning names.
    private static let namedLimit = 20

    package static func group(of schema: SchemaSnapshot) -> SecurityCheckGroup {
        // Clients reach neither of the others in the ways that are looked at.
        let classes = schema.classNames.compactMap { schema[$0] }.filter { schema in
            !SystemClasses.volatile.contains(schema.className)
                && schema.className != SystemClasses.session
        }
        let own = classes.filter { !SystemClasses.isSystem($0.className) }
        return SecurityCheckGroup(
            "Class-level permissions",
            [
                check(
                    "Classes have permissions of their own",
                    own.filter { $0.permissions == nil },
                    "Everything in these classes is open to everybody that the lists of single objects do "
                        + "not keep out",
                    "Set class-level permissions on each class."
                ),
                check(
                    "Nobody adds fields by saving",
                    classes.filter { isPublic(.addField, $0) },
                    "Any client can add fields to these classes",
                    "Take `*` out of `addField`."
                ),
                check(
                    "Users cannot be listed",
                    classes.filter { $0.className == SystemClasses.user && isPublic(.find, $0) },
                    "Any client can list and search the users that are readable to it",
                    "Take `*` out of `find` of the class `_User`."
                ),
                check(
                    "Nobody deletes without being known",
                    own.filter { isPublic(.delete, $0) && $0.permissions?.defaultACL == nil },
                    "A client without a session can delete objects of these classes that have no list of "
                        + "their own",
                    "Take `*` out of `delete`, or set a default list in `ACL` of the permissions."
                ),
            ]
        )
    }

    private static func check(
        _ title: String,
        _ open: [ClassSchema],
        _ warning: String,
        _ solution: String
    ) -> SecurityCheck {
        var names = open.prefix(namedLimit).map(\.className).joined(separator: ", ")
        if open.count > namedLimit { names += " and \(open.count - namedLimit) more" }
        return SecurityCheck(
            title,
            isSafe: open.isEmpty,
            warning: "\(warning): \(names).",
            solution: solution
        )
    }

    private static func isPublic(_ operation: ClassPermissions.Operation, _ schema: ClassSchema) -> Bool {
        guard let rule = schema.permissions?.rules[operation] else { return true }
        return rule.keys.contains("*")
    }
}
