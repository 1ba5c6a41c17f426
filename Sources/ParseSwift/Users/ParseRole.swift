/// A named group of users, which an ACL can name.
public protocol ParseRole: ParseObject {
    /// The app's type of user.
    associatedtype RoleUser: ParseUser
    /// The name, which cannot be changed after the first save.
    var name: String? { get set }
}

extension ParseRole {
    /// The name of the class on the server.
    public static var className: String { "_Role" }

    /// Makes a role with a name; servers also want an ACL before it can be saved.
    ///
    /// - Throws: ``ParseError`` when the name has other characters than letters, digits, `_`, `-` and blanks.
    public init(name: String) throws {
        let isAllowed = name.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                    || "_- ".unicodeScalars.contains(scalar))
        }
        guard isAllowed, !name.isEmpty else {
            throw ParseError(
                code: .invalidRoleName,
                message:
                    "A role's name has only letters, digits, \"_\", \"-\" and blanks; \"\(name)\" has not."
            )
        }
        self.init()
        self.name = name
    }

    /// Makes a role with a name and an ACL.
    ///
    /// - Throws: ``ParseError`` when the name has other characters than letters, digits, `_`, `-` and blanks.
    public init(name: String, acl: ParseACL) throws {
        try self.init(name: name)
        ACL = acl
    }
}
