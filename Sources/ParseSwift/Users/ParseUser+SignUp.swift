public import Dispatch

extension ParseUser {
    /// Registers a new user, who is then the current one, and waits for the answer.
    ///
    /// An anonymous current user becomes the new one and keeps its `objectId`. Anybody else who is logged in
    /// is left as it is on the server. When the server demands a verified address it may give no session; then the
    /// user is registered and not logged in.
    ///
    /// - Throws: ``ParseError``.
    public static func signup(username: String, password: String, options: API.Options = []) throws -> Self {
        try UserCalls.signup(UserCalls.newUser(Self.self, username, password), options: options).wait()
    }

    /// Registers a new user, who is then the current one, and calls back on `callbackQueue`.
    ///
    /// An anonymous current user becomes the new one and keeps its `objectId`. Anybody else who is logged in
    /// is left as it is on the server. When the server demands a verified address it may give no session; then the
    /// user is registered and not logged in.
    public static func signup(
        username: String,
        password: String,
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Self, ParseError>) -> Void
    ) {
        UserCalls.signup(UserCalls.newUser(Self.self, username, password), options: options).deliver(
            on: callbackQueue,
            completion
        )
    }

    /// Registers a new user, who is then the current one.
    ///
    /// An anonymous current user becomes the new one and keeps its `objectId`. Anybody else who is logged in
    /// is left as it is on the server. When the server demands a verified address it may give no session; then the
    /// user is registered and not logged in.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public static func signup(username: String, password: String, options: API.Options = []) async throws
        -> Self
    {
        try await UserCalls.signup(UserCalls.newUser(Self.self, username, password), options: options).value()
    }

    /// Registers this user with all its fields, who is then the current one, and waits for the answer.
    ///
    /// An anonymous current user becomes the new one and keeps its `objectId`. Anybody else who is logged in
    /// is left as it is on the server.
    ///
    /// - Throws: ``ParseError``.
    public func signup(options: API.Options = []) throws -> Self {
        try UserCalls.signup(self, options: options).wait()
    }

    /// Registers this user with all its fields, who is then the current one, and calls back on `callbackQueue`.
    ///
    /// An anonymous current user becomes the new one and keeps its `objectId`. Anybody else who is logged in
    /// is left as it is on the server.
    public func signup(
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Self, ParseError>) -> Void
    ) {
        UserCalls.signup(self, options: options).deliver(on: callbackQueue, completion)
    }

    /// Registers this user with all its fields, who is then the current one.
    ///
    /// An anonymous current user becomes the new one and keeps its `objectId`. Anybody else who is logged in
    /// is left as it is on the server.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public func signup(options: API.Options = []) async throws -> Self {
        try await UserCalls.signup(self, options: options).value()
    }

}
