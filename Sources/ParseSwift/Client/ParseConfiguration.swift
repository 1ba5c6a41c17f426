public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Where the server is, and how to talk to it.
public struct ParseConfiguration: @unchecked Sendable {
    // SAFETY: all properties are constants. The two that are not Sendable by type are handed to the
    // `URLSession` (headers) and called on its serial delegate queue (challenges).

    /// Answers a challenge of TLS or basic authentication.
    public typealias Authentication = (
        URLAuthenticationChallenge, (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) -> Void

    /// The id of the app on the server.
    public let applicationId: String
    /// The client key of the app, if the server asks for one.
    public let clientKey: String?
    /// The master key, sent only with ``API/Option/useMasterKey``; it has no place in an app users get.
    public let masterKey: String?
    /// The maintenance key, sent only with ``API/Option/useMaintenanceKey``.
    public let maintenanceKey: String?
    /// The address of the server, with its mount path.
    public let serverURL: URL
    /// The address for LiveQuery when it is another one.
    public let liveQuerysServerURL: URL?
    /// Whether the app chooses the ids of objects.
    public let isAllowingCustomObjectIds: Bool
    /// Whether batch calls are transactions unless they say otherwise.
    public let isUsingTransactions: Bool
    /// Whether `==` in a query is sent as `$eq`.
    public let isUsingEqualQueryConstraint: Bool
    /// Whether queries are sent by POST.
    public let isUsingPostForQuery: Bool
    /// Accepted for old code and without effect: answers are never cached.
    public let requestCachePolicy: URLRequest.CachePolicy
    /// Accepted for old code and without effect: answers are never cached.
    public let cacheMemoryCapacity: Int
    /// Accepted for old code and without effect: answers are never cached.
    public let cacheDiskCapacity: Int
    /// Whether to take over the items of the Objective-C SDK (Apple only).
    public let isMigratingFromObjcSDK: Bool
    /// Whether the data protection keychain is used (macOS only).
    public let isUsingDataProtectionKeychain: Bool
    /// Whether items of an earlier installation of the app are deleted at its first start (Apple only).
    public let isDeletingKeychainIfNeeded: Bool
    /// Headers added to each request.
    public let httpAdditionalHeaders: [AnyHashable: Any]?
    /// How often a request is sent at most when the server cannot be reached or is overloaded.
    public let maxConnectionAttempts: Int

    let keyValueStore: (any ParseKeyValueStore)?
    let authentication: Authentication?

    /// The same as ``masterKey``, by its newer name.
    public var primaryKey: String? { masterKey }
    /// The same as ``isAllowingCustomObjectIds``, by its newer name.
    public var isRequiringCustomObjectIds: Bool { isAllowingCustomObjectIds }

    /// Describes a server.
    ///
    /// - Parameters:
    ///   - applicationId: The id of the app on the server.
    ///   - clientKey: The client key of the app, if the server asks for one.
    ///   - masterKey: Sent only with ``API/Option/useMasterKey``.
    ///   - webhookKey: Accepted for old code and without effect.
    ///   - serverURL: The address of the server, with its mount path.
    ///   - liveQueryServerURL: The address for LiveQuery when it is another one.
    ///   - allowingCustomObjectIds: Whether the app chooses the ids of objects.
    ///   - usingTransactions: Whether batch calls are transactions unless they say otherwise.
    ///   - usingEqualQueryConstraint: Whether `==` in a query is sent as `$eq`.
    ///   - usingPostForQuery: Whether queries are sent by POST.
    ///   - keyValueStore: Keeps the user and the installation instead of the store of the platform.
    ///   - requestCachePolicy: Without effect.
    ///   - cacheMemoryCapacity: Without effect.
    ///   - cacheDiskCapacity: Without effect.
    ///   - usingDataProtectionKeychain: macOS only.
    ///   - deletingKeychainIfNeeded: Apple only: forget an earlier installation's user at the first start.
    ///   - httpAdditionalHeaders: Headers added to each request.
    ///   - maxConnectionAttempts: How often a request is sent at most.
    ///   - authentication: Answers challenges of TLS or basic authentication (Apple only).
    public init(
        applicationId: String,
        clientKey: String? = nil,
        masterKey: String? = nil,
        webhookKey: String? = nil,
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
            (URLAuthenticationChallenge, (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) ->
                Void
        )? = nil
    ) {
        self.init(
            all: applicationId,
            clientKey: clientKey,
            masterKey: masterKey,
            maintenanceKey: nil,
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
            migratingFromObjcSDK: false,
            usingDataProtectionKeychain: usingDataProtectionKeychain,
            deletingKeychainIfNeeded: deletingKeychainIfNeeded,
            httpAdditionalHeaders: httpAdditionalHeaders,
            maxConnectionAttempts: maxConnectionAttempts,
            authentication: authentication
        )
    }

    /// Describes a server; the form with a flag for apps that used the Objective-C SDK before.
    @available(*, deprecated, message: "Drop migratingFromObjcSDK once your users have updated.")
    public init(
        applicationId: String,
        clientKey: String? = nil,
        masterKey: String? = nil,
        webhookKey: String? = nil,
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
            (URLAuthenticationChallenge, (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) ->
                Void
        )? = nil
    ) {
        self.init(
            all: applicationId,
            clientKey: clientKey,
            masterKey: masterKey,
            maintenanceKey: nil,
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
    }

    /// Describes a server, with the newer names of some parameters.
    @_disfavoredOverload
    public init(
        applicationId: String,
        clientKey: String? = nil,
        primaryKey: String? = nil,
        maintenanceKey: String? = nil,
        webhookKey: String? = nil,
        serverURL: URL,
        liveQueryServerURL: URL? = nil,
        requiringCustomObjectIds: Bool = false,
        usingTransactions: Bool = false,
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
            (URLAuthenticationChallenge, (URLSession.AuthChallengeDisposition, URLCredential?) -> Void) ->
                Void
        )? = nil
    ) {
        self.init(
            all: applicationId,
            clientKey: clientKey,
            masterKey: primaryKey,
            maintenanceKey: maintenanceKey,
            serverURL: serverURL,
            liveQueryServerURL: liveQueryServerURL,
            allowingCustomObjectIds: requiringCustomObjectIds,
            usingTransactions: usingTransactions,
            usingEqualQueryConstraint: true,
            usingPostForQuery: usingPostForQuery,
            keyValueStore: primitiveStore,
            requestCachePolicy: requestCachePolicy,
            cacheMemoryCapacity: cacheMemoryCapacity,
            cacheDiskCapacity: cacheDiskCapacity,
            migratingFromObjcSDK: false,
            usingDataProtectionKeychain: usingDataProtectionKeychain,
            deletingKeychainIfNeeded: deletingKeychainIfNeeded,
            httpAdditionalHeaders: httpAdditionalHeaders,
            maxConnectionAttempts: maxConnectionAttempts,
            authentication: authentication
        )
    }

    init(
        all applicationId: String,
        clientKey: String?,
        masterKey: String?,
        maintenanceKey: String?,
        serverURL: URL,
        liveQueryServerURL: URL?,
        allowingCustomObjectIds: Bool,
        usingTransactions: Bool,
        usingEqualQueryConstraint: Bool,
        usingPostForQuery: Bool,
        keyValueStore: (any ParseKeyValueStore)?,
        requestCachePolicy: URLRequest.CachePolicy,
        cacheMemoryCapacity: Int,
        cacheDiskCapacity: Int,
        migratingFromObjcSDK: Bool,
        usingDataProtectionKeychain: Bool,
        deletingKeychainIfNeeded: Bool,
        httpAdditionalHeaders: [AnyHashable: Any]?,
        maxConnectionAttempts: Int,
        authentication: Authentication?
    ) {
        self.applicationId = applicationId
        self.clientKey = clientKey
        self.masterKey = masterKey
        self.maintenanceKey = maintenanceKey
        self.serverURL = serverURL
        liveQuerysServerURL = liveQueryServerURL
        isAllowingCustomObjectIds = allowingCustomObjectIds
        isUsingTransactions = usingTransactions
        isUsingEqualQueryConstraint = usingEqualQueryConstraint
        isUsingPostForQuery = usingPostForQuery
        self.keyValueStore = keyValueStore
        self.requestCachePolicy = requestCachePolicy
        self.cacheMemoryCapacity = cacheMemoryCapacity
        self.cacheDiskCapacity = cacheDiskCapacity
        isMigratingFromObjcSDK = migratingFromObjcSDK
        isUsingDataProtectionKeychain = usingDataProtectionKeychain
        isDeletingKeychainIfNeeded = deletingKeychainIfNeeded
        self.httpAdditionalHeaders = httpAdditionalHeaders
        self.maxConnectionAttempts = maxConnectionAttempts
        self.authentication = authentication
    }

    /// The configuration again with another answer to challenges.
    func replacing(authentication: Authentication?) -> ParseConfiguration {
        ParseConfiguration(
            all: applicationId,
            clientKey: clientKey,
            masterKey: masterKey,
            maintenanceKey: maintenanceKey,
            serverURL: serverURL,
            liveQueryServerURL: liveQuerysServerURL,
            allowingCustomObjectIds: isAllowingCustomObjectIds,
            usingTransactions: isUsingTransactions,
            usingEqualQueryConstraint: isUsingEqualQueryConstraint,
            usingPostForQuery: isUsingPostForQuery,
            keyValueStore: keyValueStore,
            requestCachePolicy: requestCachePolicy,
            cacheMemoryCapacity: cacheMemoryCapacity,
            cacheDiskCapacity: cacheDiskCapacity,
            migratingFromObjcSDK: isMigratingFromObjcSDK,
            usingDataProtectionKeychain: isUsingDataProtectionKeychain,
            deletingKeychainIfNeeded: isDeletingKeychainIfNeeded,
            httpAdditionalHeaders: httpAdditionalHeaders,
            maxConnectionAttempts: maxConnectionAttempts,
            authentication: authentication
        )
    }
}
