public import Dispatch

extension ParseUser {
    /// Logs in, and waits for the answer.
    ///
    /// A failure leaves whoever was logged in before. Wrong names and passwords have code 101.
    ///
    /// - Throws: ``ParseError``.
    public static func login(username: String, password: String, options: API.Options = []) throws -> Self {
        try UserCalls.login(Self.self, username: username, email: nil, password: password, options: options)
            .wait()
    }

    /// Logs in, and calls back on `callbackQueue`.
    ///
    /// A failure leaves whoever was logged in before. Wrong names and passwords have code 101.
    public static func login(
        username: String,
        password: String,
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Self, ParseError>) -> Void
    ) {
        UserCalls.login(Self.self, username: username, email: nil, password: password, options: options)
            .deliver(on: callbackQueue, completion)
    }

    /// Logs in.
    ///
    /// A failure leaves whoever was logged in before. Wrong names and passwords have code 101.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public static func login(username: String, password: String, options: API.Options = []) async throws
        -> Self
    {
        try await UserCalls.login(
            Self.self,
            username: username,
            email: nil,
            password: password,
            options: options
        ).value()
    }

    /// Logs in by user name, email address or both, and waits for the answer.
    ///
    /// `authData` carries what the server asks for besides, for example `["mfa": ["token": "123456"]]`.
    ///
    /// - Throws: ``ParseError``.
    public static func login(
        username: String? = nil,
        email: String? = nil,
        password: String,
        authData: [String: [String: String]?]? = nil,
        options: API.Options = []
    ) throws -> Self {
        try UserCalls.login(
            Self.self,
            username: username,
            email: email,
            password: password,
            authData: authData,
            options: options
        ).wait()
    }

    /// Logs in by user name, email address or both, and calls back on `callbackQueue`.
    ///
    /// `authData` carries what the server asks for besides, for example `["mfa": ["token": "123456"]]`.
    public static func login(
        username: String? = nil,
        email: String? = nil,
        password: String,
        authData: [String: [String: String]?]? = nil,
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Self, ParseError>) -> Void
    ) {
        UserCalls.login(
            Self.self,
            username: username,
            email: email,
            password: password,
            authData: authData,
            options: options
        ).deliver(on: callbackQueue, completion)
    }

    /// Logs in by user name, email address or both.
    ///
    /// `authData` carries what the server asks for besides, for example `["mfa": ["token": "123456"]]`.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public static func login(
        username: String? = nil,
        email: String? = nil,
        password: String,
        authData: [String: [String: String]?]? = nil,
        options: API.Options = []
    ) async throws -> Self {
        try await UserCalls.login(
            Self.self,
            username: username,
            email: email,
            password: password,
            authData: authData,
            options: options
        ).value()
    }

    /// Logs in as another user, with the master key, and calls back on `callbackQueue`.
    ///
    /// For tools of operators; it has no place in an app users get.
    public static func loginAs(
        objectId: String,
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Self, ParseError>) -> Void
    ) {
        UserCalls.loginAs(Self.self, objectId: objectId, options: options).deliver(
            on: callbackQueue,
            completion
        )
    }

    /// Logs in as another user, with the master key.
    ///
    /// For tools of operators; it has no place in an app users get.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public static func loginAs(objectId: String, options: API.Options = []) async throws -> Self {
        try await UserCalls.loginAs(Self.self, objectId: objectId, options: options).value()
    }

    /// Logs in with a session token, and calls back on `callbackQueue`.
    ///
    /// A token the server does not accept leaves whoever was logged in before.
    public static func become(
        sessionToken: String,
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Self, ParseError>) -> Void
    ) {
        UserCalls.become(Self.self, sessionToken: sessionToken, options: options).deliver(
            on: callbackQueue,
            completion
        )
    }

    /// Logs in with a session token.
    ///
    /// A token the server does not accept leaves whoever was logged in before.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public static func become(sessionToken: String, options: API.Options = []) async throws -> Self {
        try await UserCalls.become(Self.self, sessionToken: sessionToken, options: options).value()
    }

    /// Logs out, and waits for the answer.
    ///
    /// On this device it always takes effect, and at once: whatever the server answers, nobody is logged in
    /// afterwards. An error says only that the server may still hold the session. A session that was over already
    /// is no error. The installation stays.
    ///
    /// - Throws: ``ParseError``.
    public static func logout(options: API.Options = []) throws {
        try UserCalls.logout(options: options).wait()
    }

    /// Logs out, and calls back on `callbackQueue`.
    ///
    /// On this device it always takes effect, and at once: whatever the server answers, nobody is logged in
    /// afterwards. An error says only that the server may still hold the session. A session that was over already
    /// is no error. The installation stays.
    public static func logout(
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Void, ParseError>) -> Void
    ) {
        UserCalls.logout(options: options).deliver(on: callbackQueue, completion)
    }

    /// Logs out.
    ///
    /// On this device it always takes effect, and at once: whatever the server answers, nobody is logged in
    /// afterwards. An error says only that the server may still hold the session. A session that was over already
    /// is no error. The installation stays.
    ///
    /// - Throws: ``ParseError``.
    public static func logout(options: API.Options = []) async throws {
        try await UserCalls.logout(options: options).value()
    }

    /// Logs in with a session token, and waits for the answer.
    ///
    /// A token the server does not accept leaves whoever was logged in before. The value it is called on does
    /// not matter.
    ///
    /// - Throws: ``ParseError``.
    public func become(sessionToken: String, options: API.Options = []) throws -> Self {
        try UserCalls.become(Self.self, sessionToken: sessionToken, options: options).wait()
    }

    /// Logs in with a session token, and calls back on `callbackQueue`.
    ///
    /// A token the server does not accept leaves whoever was logged in before. The value it is called on does
    /// not matter.
    public func become(
        sessionToken: String,
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<Self, ParseError>) -> Void
    ) {
        UserCalls.become(Self.self, sessionToken: sessionToken, options: options).deliver(
            on: callbackQueue,
            completion
        )
    }

    /// Logs in with a session token.
    ///
    /// A token the server does not accept leaves whoever was logged in before. The value it is called on does
    /// not matter.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public func become(sessionToken: String, options: API.Options = []) async throws -> Self {
        try await UserCalls.become(Self.self, sessionToken: sessionToken, options: options).value()
    }

}
