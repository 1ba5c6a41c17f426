public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

// These are free functions so that an app writes `ParseSwift.initialize(…)` with the name of the module. A
// type called ParseSwift would hide the module, and `ParseSwift.ParseACL` with it.

/// Tells the module where the server is; call it once, before anything else.
///
/// It returns at once: nothing is read from disk or sent. A second call replaces the first one: requests
/// under way still end, and their answers do not touch the new configuration's user.
///
/// - Parameters:
///   - applicationId: The id of the app on the server.
///   - clientKey: The client key of the app, if the server asks for one.
///   - masterKey: Sent only with ``API/Option/useMasterKey``.
///   - serverURL: The address of the server, with its mount path.
///   - liveQueryServerURL: The address for LiveQuery when it is another one.
///   - allowingCustomObjectIds: Whether the app chooses the ids of objects.
///   - usingTransactions: Whether batch calls are transactions unless they say otherwise.
///   - usingEqualQueryConstraint: Whether `==` in a query is sent as `$eq`.
///   - usingPostForQuery: Whether queries are sent by POST.
///   - keyValueStore: Keeps the user and the installation instead of the store of the platform.
///   - requestCachePolicy: Without effect; answers are never cached.
///   - cacheMemoryCapacity: Without effect.
///   - cacheDiskCapacity: Without effect.
///   - usingDataProtectionKeychain: macOS only.
///   - deletingKeychainIfNeeded: Apple only: forget an earlier installation's user at the first start.
///   - httpAdditionalHeaders: Headers added to each request.
///   - maxConnectionAttempts: How often a request is sent at most.
///   - authentication: Answers challenges of TLS or basic authentication (Apple only).
public func initialize(
    applicationId: String,
    clientKey: String? = nil,
    masterKey: String? = nil,
    serverURL: URL,
    liveQueryServerURL: URL? = nil,
    allowingCustomObjectIds: Bool = false,
    usingTransactions: Bool = false,
    usingEqualQueryConstraint: Bool = false,
    usingPostForQuery: Bool = false,
    keyValueStore: (any ParseKeyValueStore)? = nil,
    requestCachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy,
    cacheMemoryCapacity: Int = 512_000,
    cacheDiskCapacity: Int = 10_000_000,
    usingDataProtectionKeychain: Bool = false,
    deletingKeychainIfNeeded: Bool = false,
    httpAdditionalHeaders: [AnyHashable: Any]? = nil,
    maxConnectionAttempts: Int = 5,
    authentication: (
        (URLAuthenticationChallenge, (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) -> Void
    )? = nil
) {
    initialize(
        configuration: ParseConfiguration(
            applicationId: applicationId,
            clientKey: clientKey,
            masterKey: masterKey,
            serverURL: serverURL,
            liveQueryServerURL: liveQueryServerURL,
            allowingCustomObjectIds: allowingCustomObjectIds,
            usingTransactions: usingTransactions,
            usingEqualQueryConstraint: usingEqualQueryConstraint,
            usingPostForQuery: usingPostForQuery,
            keyValueStore: keyValueStore,
            requestCachePolicy: requestCachePolicy,
            cacheMemoryCapacity: cacheMemoryCapacity,
            cacheDiskCapacity: cacheDiskCapacity,
            usingDataProtectionKeychain: usingDataProtectionKeychain,
            deletingKeychainIfNeeded: deletingKeychainIfNeeded,
            httpAdditionalHeaders: httpAdditionalHeaders,
            maxConnectionAttempts: maxConnectionAttempts,
            authentication: authentication
        )
    )
}

/// Tells the module where the server is; the form with a flag for apps that used the Objective-C SDK before.
@available(*, deprecated, message: "Drop migratingFromObjcSDK once your users have updated.")
public func initialize(
    applicationId: String,
    clientKey: String? = nil,
    masterKey: String? = nil,
    serverURL: URL,
    liveQueryServerURL: URL? = nil,
    allowingCustomObjectIds: Bool = false,
    usingTransactions: Bool = false,
    usingEqualQueryConstraint: Bool = false,
    usingPostForQuery: Bool = false,
    keyValueStore: (any ParseKeyValueStore)? = nil,
    requestCachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy,
    cacheMemoryCapacity: Int = 512_000,
    cacheDiskCapacity: Int = 10_000_000,
    migratingFromObjcSDK: Bool,
    usingDataProtectionKeychain: Bool = false,
    deletingKeychainIfNeeded: Bool = false,
    httpAdditionalHeaders: [AnyHashable: Any]? = nil,
    maxConnectionAttempts: Int = 5,
    authentication: (
        (URLAuthenticationChallenge, (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) -> Void
    )? = nil
) {
    initialize(
        configuration: ParseConfiguration(
            applicationId: applicationId,
            clientKey: clientKey,
            masterKey: masterKey,
            serverURL: serverURL,
            liveQueryServerURL: liveQueryServerURL,
            allowingCustomObjectIds: allowingCustomObjectIds,
            usingTransactions: usingTransactions,
            usingEqualQueryConstraint: usingEqualQueryConstraint,
            usingPostForQuery: usingPostForQuery,
            keyValueStore: keyValueStore,
            requestCachePolicy: requestCachePolicy,
            cacheMemoryCapacity: cacheMemoryCapacity,
            cacheDiskCapacity: cacheDiskCapacity,
            migratingFromObjcSDK: migratingFromObjcSDK,
            usingDataProtectionKeychain: usingDataProtectionKeychain,
            deletingKeychainIfNeeded: deletingKeychainIfNeeded,
            httpAdditionalHeaders: httpAdditionalHeaders,
            maxConnectionAttempts: maxConnectionAttempts,
            authentication: authentication
        )
    )
}

/// Tells the module where the server is; call it once, before anything else.
public func initialize(configuration: ParseConfiguration) {
    ParseClient.install(ParseClient(configuration: configuration))
}

/// Tells the module where the server is and reads the stored user and installation.
///
/// The form for asynchronous code, with the newer names of some parameters. When it returns, the current
/// user is in memory.
///
/// - Throws: ``ParseError`` when the server URL is unusable. A store that cannot be read is not an error
///   here: ask `User.current()` for it.
public func initialize(
    applicationId: String,
    clientKey: String? = nil,
    primaryKey: String? = nil,
    maintenanceKey: String? = nil,
    serverURL: URL,
    liveQueryServerURL: URL? = nil,
    requiringCustomObjectIds: Bool = false,
    usingTransactions: Bool = false,
    usingEqualQueryConstraint: Bool = false,
    usingPostForQuery: Bool = false,
    primitiveStore: (any ParseKeyValueStore)? = nil,
    requestCachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy,
    cacheMemoryCapacity: Int = 512_000,
    cacheDiskCapacity: Int = 10_000_000,
    usingDataProtectionKeychain: Bool = false,
    deletingKeychainIfNeeded: Bool = false,
    httpAdditionalHeaders: [AnyHashable: Any]? = nil,
    maxConnectionAttempts: Int = 5,
    authentication: (
        (URLAuthenticationChallenge, (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) -> Void
    )? = nil
) async throws {
    try await initialize(
        configuration: ParseConfiguration(
            applicationId: applicationId,
            clientKey: clientKey,
            primaryKey: primaryKey,
            maintenanceKey: maintenanceKey,
            serverURL: serverURL,
            liveQueryServerURL: liveQueryServerURL,
            requiringCustomObjectIds: requiringCustomObjectIds,
            usingTransactions: usingTransactions,
            usingPostForQuery: usingPostForQuery,
            primitiveStore: primitiveStore,
            requestCachePolicy: requestCachePolicy,
            cacheMemoryCapacity: cacheMemoryCapacity,
            cacheDiskCapacity: cacheDiskCapacity,
            usingDataProtectionKeychain: usingDataProtectionKeychain,
            deletingKeychainIfNeeded: deletingKeychainIfNeeded,
            httpAdditionalHeaders: httpAdditionalHeaders,
            maxConnectionAttempts: maxConnectionAttempts,
            authentication: authentication
        )
    )
}

/// Tells the module where the server is and reads the stored user and installation.
///
/// - Throws: ``ParseError`` when the server URL is unusable.
public func initialize(configuration: ParseConfiguration) async throws {
    guard configuration.serverURL.scheme != nil, configuration.serverURL.host != nil else {
        throw ParseError(
            code: .otherCause,
            message: "\"\(configuration.serverURL.absoluteString)\" is not a URL of a server."
        )
    }
    let client = ParseClient(configuration: configuration)
    ParseClient.install(client)
    await client.loaded()
}

/// The configuration in use.
///
/// Before `initialize` it is an empty one whose server URL leads nowhere, so that reading it never ends the
/// app; calls then fail with an error that says what is missing.
public var configuration: ParseConfiguration {
    ParseClient.current?.configuration ?? ParseConfiguration.none
}

/// Replaces the answer to challenges of TLS or basic authentication; without effect before `initialize`.
///
/// - Parameter authentication: The new answer, `nil` for the system's default.
public func updateAuthentication(
    _ authentication: (
        (URLAuthenticationChallenge, (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) -> Void
    )?
) {
    ParseClient.current?.updateAuthentication(authentication)
}

/// Does nothing and is kept for old code: answers are never cached.
public func clearCache() {}

extension ParseConfiguration {
    static let none = ParseConfiguration(
        applicationId: "",
        serverURL: URL(fileURLWithPath: "/call-ParseSwift.initialize-first")
    )
}
