/// The settings of one app, by parse-server's names.
package struct AppOptions: Sendable, Hashable {
    /// Seconds a session lives.
    package var sessionLength: Double = 31_536_000
    /// Whether sessions end at all.
    package var expireInactiveSessions = true
    /// Whether a session that is used in the second half of its life is given a new one.
    package var extendSessionOnUse = false
    /// Whether a new password ends the sessions of its user.
    package var revokeSessionOnPasswordReset = true
    package var enableAnonymousUsers = true
    /// Whether a new user is readable by itself alone.
    package var enforcePrivateUsers = true
    package var allowCustomObjectId = false
    /// Whether a client, without the master key, may make a class by saving to it.
    package var allowClientClassCreation = false
    package var convertEmailToLowercase = false
    package var convertUsernameToLowercase = false
    /// From where the master key is accepted.
    package var masterKeyIPs: IPAllowList = .loopback
    package var maintenanceKeyIPs: IPAllowList = .loopback
    /// The origins a browser may call from; empty for any.
    package var allowOrigin: [String] = []
    /// Request headers a browser may send beyond Parse's own.
    package var allowHeaders: [String] = []
    package var trustProxy: ProxyTrust = .nobody
    /// The largest request body, in bytes.
    package var maxUploadSize = 20 * 1024 * 1024
    package var fileUpload = FileUploadPolicy()
    /// Whether a file keeps the name it was uploaded with, so that another of that name replaces it.
    package var preserveFileName = false
    package var requestKeywordDenylist: KeywordDenylist = .standard
    /// The most requests in one batch; `nil` for no limit.
    package var batchRequestLimit: Int? = 1000
    /// How many objects a find answers that does not say.
    package var defaultLimit = 100
    /// The most objects that a find answers; `nil` where only clients are limited, by the server's own bound.
    package var maxLimit: Int?
    /// The address clients know the server by, without a slash at the end; `nil` to take the request's own.
    package var publicServerURL: String?

    /// Fields that groups of callers do not see, by class and group; beside those of the class-level permissions.
    package var protectedFields: [String: [String: [String]]] = [SystemClasses.user: ["*": ["email"]]]
    /// Whether no request may make or change a class.
    package var lockSchemas = false
    /// Which requests are carried out once, however often they come; `nil` for none.
    package var idempotency: IdempotencyOptions?
    /// Whether the master key may ask for a report on how safely the app is set up.
    package var enableSecurityCheck = false
    package var installation = InstallationOptions()

    package init() {}
}
