public import Dispatch
import Foundation

/// Users without name and password.
///
/// An anonymous user is known to this device only, and is lost with a log-out. A sign-up turns it into a
/// user with a name and a password that keeps its `objectId`.
public struct ParseAnonymous<AuthenticatedUser: ParseUser>: ParseAuthentication {
    /// Makes the entry to anonymous users.
    public init() {}

    /// The provider's name in `authData`.
    public var __type: String { "anonymous" }

    /// Logs in as an anonymous user, a new one unless the current user is anonymous, and waits.
    ///
    /// - Throws: ``ParseError``.
    public func login(options: API.Options = []) throws -> AuthenticatedUser {
        try login(authData: identity(), options: options)
    }

    /// Logs in as an anonymous user, a new one unless the current user is anonymous, and calls back.
    public func login(
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<AuthenticatedUser, ParseError>) -> Void
    ) {
        login(authData: identity(), options: options, callbackQueue: callbackQueue, completion: completion)
    }

    /// Logs in as an anonymous user, a new one unless the current user is anonymous.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public func login(options: API.Options = []) async throws -> AuthenticatedUser {
        try await login(authData: identity(), options: options)
    }

    /// Logs in as the anonymous user whose `id` is in `authData`, and waits.
    ///
    /// - Throws: ``ParseError``.
    public func login(authData: [String: String], options: API.Options = []) throws -> AuthenticatedUser {
        try call(authData, options).wait()
    }

    /// Logs in as the anonymous user whose `id` is in `authData`, and calls back.
    public func login(
        authData: [String: String],
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<AuthenticatedUser, ParseError>) -> Void
    ) {
        call(authData, options).deliver(on: callbackQueue, completion)
    }

    /// Logs in as the anonymous user whose `id` is in `authData`.
    ///
    /// - Throws: ``ParseError``.
    @discardableResult
    public func login(
        authData: [String: String],
        options: API.Options = []
    ) async throws -> AuthenticatedUser {
        try await call(authData, options).value()
    }

    /// Always fails: a user cannot be linked to an anonymous identity.
    public func link(
        authData: [String: String],
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<AuthenticatedUser, ParseError>) -> Void
    ) {
        unsupported.deliver(on: callbackQueue, completion)
    }

    /// Always fails: a user cannot be linked to an anonymous identity.
    ///
    /// - Throws: ``ParseError`` with code 252.
    @discardableResult
    public func link(authData: [String: String], options: API.Options = []) async throws -> AuthenticatedUser
    {
        try await unsupported.value()
    }

    private var unsupported: Call<AuthenticatedUser> {
        ParseClient.call { _ in
            throw ParseError(
                code: .unsupportedService,
                message: "A user cannot be linked to an anonymous identity."
            )
        }
    }

    private func call(_ authData: [String: String], _ options: API.Options) -> Call<AuthenticatedUser> {
        guard authData["id"]?.isEmpty == false else {
            return ParseClient.call { _ in
                throw ParseError(
                    code: .linkedIdMissing,
                    message: "authData needs an \"id\" that is not empty."
                )
            }
        }
        return UserCalls.login(
            AuthenticatedUser.self,
            provider: __type,
            authData: authData,
            options: options
        )
    }

    private func identity() -> [String: String] {
        ["id": ParseClient.current?.session.logIn?.anonymousId ?? UUID().uuidString.lowercased()]
    }
}
