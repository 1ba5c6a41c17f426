public import Dispatch

extension ParseUser {
    /// Asks for a mail with a link to set a new password, and waits for the answer.
    ///
    /// Most servers do not tell whether the address is known. The current user is not touched.
    ///
    /// - Throws: ``ParseError``.
    public static func passwordReset(email: String, options: API.Options = []) throws {
        try UserCalls.passwordReset(email: email, options: options).wait()
    }

    /// Asks for a mail with a link to set a new password, and calls back on `callbackQueue`.
    ///
    /// Most servers do not tell whether the address is known. The current user is not touched.
    public static func passwordReset(
        email: String,
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Void, ParseError>) -> Void
    ) {
        UserCalls.passwordReset(email: email, options: options).deliver(on: callbackQueue, completion)
    }

    /// Asks for a mail with a link to set a new password.
    ///
    /// Most servers do not tell whether the address is known. The current user is not touched.
    ///
    /// - Throws: ``ParseError``.
    public static func passwordReset(email: String, options: API.Options = []) async throws {
        try await UserCalls.passwordReset(email: email, options: options).value()
    }

    /// Asks for another mail with a link to verify the address, and waits for the answer.
    ///
    /// Fetch the user afterwards to see `emailVerified`.
    ///
    /// - Throws: ``ParseError``.
    public static func verificationEmail(email: String, options: API.Options = []) throws {
        try UserCalls.verificationEmail(email: email, options: options).wait()
    }

    /// Asks for another mail with a link to verify the address, and calls back on `callbackQueue`.
    ///
    /// Fetch the user afterwards to see `emailVerified`.
    public static func verificationEmail(
        email: String,
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Void, ParseError>) -> Void
    ) {
        UserCalls.verificationEmail(email: email, options: options).deliver(on: callbackQueue, completion)
    }

    /// Asks for another mail with a link to verify the address.
    ///
    /// Fetch the user afterwards to see `emailVerified`.
    ///
    /// - Throws: ``ParseError``.
    public static func verificationEmail(email: String, options: API.Options = []) async throws {
        try await UserCalls.verificationEmail(email: email, options: options).value()
    }

    /// Asks the server whether this is the password of the current user, and calls back on `callbackQueue`.
    ///
    /// The password always travels in the body; `usingPost` only says how the server is asked.
    public static func verifyPassword(
        password: String,
        usingPost: Bool = false,
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Self, ParseError>) -> Void
    ) {
        UserCalls.verifyPassword(Self.self, password: password, usingPost: usingPost, options: options)
            .deliver(on: callbackQueue, completion)
    }

    /// Asks the server whether this is the password of the current user.
    ///
    /// The password always travels in the body; `usingPost` only says how the server is asked.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public static func verifyPassword(password: String, usingPost: Bool = false, options: API.Options = [])
        async throws -> Self
    {
        try await UserCalls.verifyPassword(
            Self.self,
            password: password,
            usingPost: usingPost,
            options: options
        ).value()
    }

}
