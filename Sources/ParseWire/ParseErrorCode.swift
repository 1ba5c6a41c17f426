/// The number that tells a Parse client what went wrong.
///
/// An open set: a code this version does not know survives a round trip. The named ones are those of the
/// Parse REST guide, section "Errors".
package struct ParseErrorCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    private init(_ rawValue: Int) {
        self.rawValue = rawValue
    }

    /// A cause that has no code of its own.
    package static let otherCause = ParseErrorCode(-1)
    /// The server failed; nothing the caller sent was wrong.
    package static let internalServerError = ParseErrorCode(1)
    /// The connection to the server failed.
    package static let connectionFailed = ParseErrorCode(100)
    /// No such object, or the caller may not see it; also wrong credentials.
    package static let objectNotFound = ParseErrorCode(101)
    /// A query parameter or constraint is not allowed.
    package static let invalidQuery = ParseErrorCode(102)
    /// A class name is malformed or names no class.
    package static let invalidClassName = ParseErrorCode(103)
    /// A custom object id is empty.
    package static let missingObjectID = ParseErrorCode(104)
    /// A field name is malformed or may not be written.
    package static let invalidKeyName = ParseErrorCode(105)
    /// The request's JSON is not of the expected shape.
    package static let invalidJSON = ParseErrorCode(107)
    /// The operation is known but not available.
    package static let commandUnavailable = ParseErrorCode(108)
    /// A value is of another type than its field.
    package static let incorrectType = ParseErrorCode(111)
    /// An object is larger than it may be.
    package static let objectTooLarge = ParseErrorCode(116)
    /// The caller lacks the permission.
    package static let operationForbidden = ParseErrorCode(119)
    /// A key inside an object holds `$` or `.`.
    package static let invalidNestedKey = ParseErrorCode(121)
    /// An access control list is malformed.
    package static let invalidACL = ParseErrorCode(123)
    /// An e-mail address is malformed.
    package static let invalidEmailAddress = ParseErrorCode(125)
    /// An operation took longer than it may.
    package static let timeout = ParseErrorCode(124)
    /// A file has no name, or one that cannot be.
    package static let invalidFileName = ParseErrorCode(122)
    /// A file was not stored.
    package static let fileSaveError = ParseErrorCode(130)
    /// An installation id is needed to tell installations apart.
    package static let missingInstallationID = ParseErrorCode(132)
    /// A value that the class cannot do without is missing.
    package static let missingRequiredField = ParseErrorCode(135)
    /// A field that is set once was to be changed.
    package static let unchangeableField = ParseErrorCode(136)
    /// A file was not deleted.
    package static let fileDeleteError = ParseErrorCode(153)
    /// A request came twice with the same id.
    package static let duplicateRequest = ParseErrorCode(159)
    /// A value that must be unique is taken.
    package static let duplicateValue = ParseErrorCode(137)
    /// Too many requests at the moment; the same request may succeed later.
    package static let requestLimitExceeded = ParseErrorCode(155)
    /// A class or app has as much of something as it may have.
    package static let exceededQuota = ParseErrorCode(140)
    /// The name of a role cannot be.
    package static let invalidRoleName = ParseErrorCode(139)
    /// A required field is missing, or a rule on a value is broken.
    package static let validationError = ParseErrorCode(142)
    /// A parameter has a value that is not allowed.
    package static let invalidValue = ParseErrorCode(162)
    /// The user name is missing or empty.
    package static let usernameMissing = ParseErrorCode(200)
    /// The password is missing or empty.
    package static let passwordMissing = ParseErrorCode(201)
    /// The user name belongs to another account.
    package static let usernameTaken = ParseErrorCode(202)
    /// The e-mail address belongs to another account.
    package static let emailTaken = ParseErrorCode(203)
    /// An e-mail address must be given.
    package static let emailMissing = ParseErrorCode(204)
    /// No user has that e-mail address.
    package static let emailNotFound = ParseErrorCode(205)
    /// A user may only be changed with a session that has the right to.
    package static let sessionMissing = ParseErrorCode(206)
    /// A provider's account belongs to another user.
    package static let accountAlreadyLinked = ParseErrorCode(208)
    /// The session token belongs to no living session.
    package static let invalidSessionToken = ParseErrorCode(209)
    /// A schema cannot be changed in that way.
    package static let schemaOperation = ParseErrorCode(255)
    /// The sign-in provider is unknown or switched off.
    package static let unsupportedService = ParseErrorCode(252)
}
