extension ParseError {
    /// The kinds of error, by the numbers of the Parse protocol.
    public enum Code: Int, Codable, Hashable, Sendable, CaseIterable {
        /// Some other cause, named in the message.
        case unknownError = -1
        /// The server failed; nothing the client did.
        case internalServer = 1
        /// The service is not available.
        case serviceUnavailable = 2
        /// The client went away before the answer.
        case clientDisconnected = 4
        /// The server could not be reached, or refused for its load.
        case connectionFailed = 100
        /// No such object, or wrong user name or password.
        case objectNotFound = 101
        /// The query cannot be run.
        case invalidQuery = 102
        /// The class name is missing or malformed.
        case invalidClassName = 103
        /// An objectId is needed here.
        case missingObjectId = 104
        /// A field name is malformed or reserved.
        case invalidKeyName = 105
        /// A pointer is malformed.
        case invalidPointer = 106
        /// The JSON is malformed, or not what is expected.
        case invalidJSON = 107
        /// The feature is only for internal use.
        case commandUnavailable = 108
        /// A field has another type than its column.
        case incorrectType = 111
        /// A channel name is malformed.
        case invalidChannelName = 112
        /// A subscription type is malformed.
        case invalidSubscriptionType = 113
        /// A device token is malformed.
        case invalidDeviceToken = 114
        /// Push is not set up.
        case pushMisconfigured = 115
        /// The object is too large.
        case objectTooLarge = 116
        /// The limit of a query is malformed.
        case invalidLimitError = 117
        /// The skip of a query is malformed.
        case invalidSkipError = 118
        /// This client may not do that.
        case operationForbidden = 119
        /// The result is not in the cache.
        case cacheMiss = 120
        /// A nested key holds a dot or a dollar sign.
        case invalidNestedKey = 121
        /// A file name is malformed.
        case invalidFileName = 122
        /// An ACL is malformed.
        case invalidACL = 123
        /// The server took too long.
        case timeout = 124
        /// The email address is malformed.
        case invalidEmailAddress = 125
        /// The content type is missing.
        case missingContentType = 126
        /// The content length is missing.
        case missingContentLength = 127
        /// The content length is wrong.
        case invalidContentLength = 128
        /// The file is too large.
        case fileTooLarge = 129
        /// The file could not be saved.
        case fileSaveFailure = 130
        /// The installation id is malformed.
        case invalidInstallationIdError = 132
        /// The device type is malformed.
        case invalidDeviceTypeError = 133
        /// The list of channels is malformed.
        case invalidChannelsArrayError = 134
        /// A required field is missing.
        case missingRequiredFieldError = 135
        /// A field that cannot change was changed.
        case changedImmutableFieldError = 136
        /// A value that must be unique exists already.
        case duplicateValue = 137
        /// An expiration is malformed.
        case invalidExpirationError = 138
        /// A role name is malformed.
        case invalidRoleName = 139
        /// A quota is used up.
        case exceededQuota = 140
        /// Cloud code failed.
        case scriptFailed = 141
        /// Cloud code or a policy refused the values.
        case validationFailed = 142
        /// The image is malformed; servers also send this number when a web hook failed.
        case invalidImageData = 143
        /// The file is not saved yet.
        case unsavedFileFailure = 151
        /// The push time is malformed.
        case invalidPushTime = 152
        /// The file could not be deleted.
        case fileDeleteFailure = 153
        /// The query is too expensive.
        case inefficientQueryError = 154
        /// Too many requests.
        case requestLimitExceeded = 155
        /// The hosting failed.
        case hostingError = 158
        /// A request with this id was already processed.
        case duplicateRequest = 159
        /// An event name is malformed.
        case invalidEventName = 160
        /// The file to delete has no name.
        case fileDeleteUnnamedFailure = 161
        /// A value is malformed.
        case invalidValue = 162
        /// The user name is missing.
        case usernameMissing = 200
        /// The password is missing.
        case userPasswordMissing = 201
        /// The user name is taken.
        case usernameTaken = 202
        /// The email address is taken.
        case userEmailTaken = 203
        /// The email address is missing.
        case userEmailMissing = 204
        /// No user has this address, or it is not verified.
        case userWithEmailNotFound = 205
        /// A user can only be changed by itself.
        case userCannotBeAlteredWithoutSession = 206
        /// Users are made by signing up.
        case userCanOnlyBeCreatedThroughSignUp = 207
        /// The account is linked to another user.
        case accountAlreadyLinked = 208
        /// The session is over.
        case invalidSessionToken = 209
        /// Multi-factor authentication failed.
        case mfaError = 210
        /// A multi-factor token is needed.
        case mfaTokenRequired = 211
        /// The id of the provider is missing.
        case linkedIdMissing = 250
        /// The session of the provider is over.
        case invalidLinkedSession = 251
        /// The provider is not supported.
        case unsupportedService = 252
        /// The data of the provider is malformed.
        case invalidAuthDataError = 253
        /// The schema cannot be changed like that.
        case invalidSchemaOperation = 255
        /// Several errors at once.
        case aggregateError = 600
        /// The file could not be read.
        case fileReadError = 601
        /// The browser refused a request to another domain.
        case xDomainRequest = 602
        /// A number this list has no name for; see ``ParseError/otherCode``.
        case other = 9000

        /// The same as ``unknownError``, by its newer name.
        public static var otherCause: Code { .unknownError }

        /// The same as ``invalidImageData``: the protocol uses one number for both.
        public static var webhookError: Code { .invalidImageData }
    }
}

extension Error {
    /// This error as a ``ParseError`` when it is one with that code, else `nil`.
    public func equalsTo(_ errorCode: ParseError.Code) -> ParseError? {
        containedIn([errorCode])
    }

    /// Whether this is a ``ParseError`` with that code.
    public func equalsTo(_ errorCode: ParseError.Code) -> Bool {
        containedIn([errorCode])
    }

    /// This error as a ``ParseError`` when its code is in the list, else `nil`.
    public func containedIn(_ errorCodes: [ParseError.Code]) -> ParseError? {
        guard let error = self as? ParseError, errorCodes.contains(error.code) else { return nil }
        return error
    }

    /// This error as a ``ParseError`` when its code is in the list, else `nil`.
    public func containedIn(_ errorCodes: ParseError.Code...) -> ParseError? {
        containedIn(errorCodes)
    }

    /// Whether this is a ``ParseError`` with one of those codes.
    public func containedIn(_ errorCodes: [ParseError.Code]) -> Bool {
        guard let error = self as? ParseError else { return false }
        return errorCodes.contains(error.code)
    }

    /// Whether this is a ``ParseError`` with one of those codes.
    public func containedIn(_ errorCodes: ParseError.Code...) -> Bool {
        containedIn(errorCodes)
    }
}
