public import Dispatch

extension ParseUser {
    /// Logs in with an identity at another provider, and waits for the answer.
    ///
    /// When somebody is logged in, the identity is linked to that user instead.
    ///
    /// - Throws: ``ParseError``.
    public static func login(_ type: String, authData: [String: String], options: API.Options) throws -> Self
    {
        try UserCalls.login(Self.self, provider: type, authData: authData, options: options).wait()
    }

    /// Logs in with an identity at another provider, and calls back on `callbackQueue`.
    ///
    /// When somebody is logged in, the identity is linked to that user instead.
    public static func login(
        _ type: String,
        authData: [String: String],
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Self, ParseError>) -> Void
    ) {
        UserCalls.login(Self.self, provider: type, authData: authData, options: options).deliver(
            on: callbackQueue,
            completion
        )
    }

    /// Logs in with an identity at another provider.
    ///
    /// When somebody is logged in, the identity is linked to that user instead.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public static func login(_ type: String, authData: [String: String], options: API.Options = [])
        async throws -> Self
    {
        try await UserCalls.login(Self.self, provider: type, authData: authData, options: options).value()
    }

    /// Links an identity at another provider to the current user, and waits for the answer.
    ///
    /// Code 208 says that it belongs to another user.
    ///
    /// - Throws: ``ParseError``.
    public static func link(_ type: String, authData: [String: String], options: API.Options) throws -> Self {
        try UserCalls.link(Self.self, provider: type, authData: authData, options: options).wait()
    }

    /// Links an identity at another provider to the current user, and calls back on `callbackQueue`.
    ///
    /// Code 208 says that it belongs to another user.
    public static func link(
        _ type: String,
        authData: [String: String],
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Self, ParseError>) -> Void
    ) {
        UserCalls.link(Self.self, provider: type, authData: authData, options: options).deliver(
            on: callbackQueue,
            completion
        )
    }

    /// Links an identity at another provider to the current user.
    ///
    /// Code 208 says that it belongs to another user.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public static func link(_ type: String, authData: [String: String], options: API.Options = [])
        async throws -> Self
    {
        try await UserCalls.link(Self.self, provider: type, authData: authData, options: options).value()
    }

    /// Takes an identity off the current user, and calls back on `callbackQueue`.
    ///
    /// The user logs in with the others from then on.
    public func unlink(
        _ type: String,
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Self, ParseError>) -> Void
    ) {
        UserCalls.link(Self.self, provider: type, authData: nil, options: options).deliver(
            on: callbackQueue,
            completion
        )
    }

    /// Takes an identity off the current user.
    ///
    /// The user logs in with the others from then on.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public func unlink(_ type: String, options: API.Options = []) async throws -> Self {
        try await UserCalls.link(Self.self, provider: type, authData: nil, options: options).value()
    }

    /// Whether the user has an identity at that provider.
    public func isLinked(with type: String) -> Bool {
        authData?[type].flatMap { $0 } != nil
    }

    /// The user without the identity at that provider, for this device only.
    public func strip(_ type: String) -> Self {
        var user = self
        user.authData?[type] = nil
        return user
    }

    /// Users without name and password.
    public static var anonymous: ParseAnonymous<Self> { ParseAnonymous() }

    /// Users without name and password.
    public var anonymous: ParseAnonymous<Self> { ParseAnonymous() }
}
