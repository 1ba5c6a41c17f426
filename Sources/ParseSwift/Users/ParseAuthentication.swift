public import Dispatch

/// A way to log in by an identity at another provider.
public protocol ParseAuthentication: Codable, Sendable {
    /// The app's type of user.
    associatedtype AuthenticatedUser: ParseUser

    /// Makes the entry to the provider.
    init()

    /// The provider's name in `authData`.
    var __type: String { get }

    /// Whether the current user has an identity at the provider.
    var isLinked: Bool { get }

    /// Logs in and calls back.
    func login(
        authData: [String: String],
        options: API.Options,
        callbackQueue: DispatchQueue,
        completion: @escaping (Result<AuthenticatedUser, ParseError>) -> Void
    )

    /// Logs in.
    func login(authData: [String: String], options: API.Options) async throws -> AuthenticatedUser

    /// Links the identity to the current user and calls back.
    func link(
        authData: [String: String],
        options: API.Options,
        callbackQueue: DispatchQueue,
        completion: @escaping (Result<AuthenticatedUser, ParseError>) -> Void
    )

    /// Links the identity to the current user.
    func link(authData: [String: String], options: API.Options) async throws -> AuthenticatedUser

    /// Whether the user has an identity at the provider.
    func isLinked(with user: AuthenticatedUser) -> Bool

    /// The user without the identity, for this device only.
    func strip(_ user: AuthenticatedUser) -> AuthenticatedUser
}

extension ParseAuthentication {
    /// Whether the current user has an identity at the provider.
    public var isLinked: Bool {
        AuthenticatedUser.current?.isLinked(with: __type) ?? false
    }

    /// Whether the user has an identity at the provider.
    public func isLinked(with user: AuthenticatedUser) -> Bool {
        user.isLinked(with: __type)
    }

    /// The user without the identity, for this device only.
    public func strip(_ user: AuthenticatedUser) -> AuthenticatedUser {
        user.strip(__type)
    }

    /// Takes the identity off the user, who must be the current one, and calls back.
    public func unlink(
        _ user: AuthenticatedUser,
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<AuthenticatedUser, ParseError>) -> Void
    ) {
        user.unlink(__type, options: options, callbackQueue: callbackQueue, completion: completion)
    }

    /// Takes the identity off the user, who must be the current one.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public func unlink(
        _ user: AuthenticatedUser,
        options: API.Options = []
    ) async throws -> AuthenticatedUser {
        try await user.unlink(__type, options: options)
    }

    /// Takes the identity off the current user and calls back.
    public func unlink(
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<AuthenticatedUser, ParseError>) -> Void
    ) {
        UserCalls.link(AuthenticatedUser.self, provider: __type, authData: nil, options: options)
            .deliver(on: callbackQueue, completion)
    }

    /// Takes the identity off the current user.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public func unlink(options: API.Options = []) async throws -> AuthenticatedUser {
        try await UserCalls.link(AuthenticatedUser.self, provider: __type, authData: nil, options: options)
            .value()
    }
}
