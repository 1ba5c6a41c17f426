package import ParseWire

/// The one error that crosses the wire.
///
/// Its message is safe to show to anyone: it never carries a database's words, a key or a token. An error of
/// another type that reaches a protocol boundary is a fault of the server: it is logged under the request id
/// and answered as `Internal server error.`
package struct ParseError: Error, Hashable, Sendable {
    /// The Parse code; `nil` for refusals that Parse answers by an HTTP status alone.
    package var code: ParseErrorCode?
    /// What was wrong, in a sentence; `nil` where Parse answers the code alone.
    package var message: String?
    /// The HTTP status, where it does not follow from the code.
    package var httpStatus: Int?
    /// After how many seconds it makes sense to try again.
    package var retryAfterSeconds: Int?

    package init(_ code: ParseErrorCode, _ message: String?) {
        self.code = code
        self.message = message
    }

    /// A refusal that carries no Parse code.
    package init(httpStatus: Int, _ message: String) {
        self.httpStatus = httpStatus
        self.message = message
    }
}

extension ParseError {
    /// The answer to whoever has not shown the keys of an app.
    package static let unauthorized = ParseError(httpStatus: 403, "unauthorized")
    package static let masterKeyRequired = ParseError(
        httpStatus: 403,
        "unauthorized: master key is required"
    )
    package static let invalidSessionToken = ParseError(.invalidSessionToken, "Invalid session token")
    package static let sessionTokenExpired = ParseError(.invalidSessionToken, "Session token is expired.")
    package static let sessionTokenRequired = ParseError(.invalidSessionToken, "Session token required.")
    package static let invalidCredentials = ParseError(.objectNotFound, "Invalid username/password.")
    package static let objectNotFound = ParseError(.objectNotFound, "Object not found.")
    package static let objectNotFoundForDelete = ParseError(.objectNotFound, "Object not found for delete.")
    package static let insufficientAuth = ParseError(.sessionMissing, "Insufficient auth.")
    package static let usernameMissing = ParseError(.usernameMissing, "bad or missing username")
    package static let passwordMissing = ParseError(.passwordMissing, "password is required")
    package static let usernameTaken = ParseError(
        .usernameTaken,
        "Account already exists for this username."
    )
    package static let emailTaken = ParseError(
        .emailTaken,
        "Account already exists for this email address."
    )
    package static let invalidEmail = ParseError(.invalidEmailAddress, "Email address format is invalid.")
    package static let accountAlreadyLinked = ParseError(.accountAlreadyLinked, "this auth is already used")
    package static let unsupportedProvider = ParseError(
        .unsupportedService,
        "This authentication method is unsupported."
    )
    package static let duplicateValue = ParseError(
        .duplicateValue,
        "A duplicate value for a field with unique values was provided"
    )

    /// The server cannot check a password now, because too many others wait for theirs.
    package static var busyHashing: ParseError {
        var error = ParseError(
            .requestLimitExceeded,
            "The server is checking too many passwords at the moment. Try again shortly."
        )
        error.httpStatus = 503
        error.retryAfterSeconds = 1
        return error
    }

    package static func readOnlyMaster(_ operation: String) -> ParseError {
        ParseError(
            .operationForbidden,
            "read-only masterKey isn't allowed to perform the \(operation) operation."
        )
    }

    package static func invalidFieldName(_ name: String) -> ParseError {
        ParseError(.invalidKeyName, "Invalid field name: \(name).")
    }

    package static func invalidKeyName(_ name: String) -> ParseError {
        ParseError(.invalidKeyName, "Invalid key name: \(name)")
    }
}
