/// What the options and keys of an app say about its safety.
package enum ConfigurationChecks {
    /// Looks at each; whether the master key is strong is `nil` where it is not at hand, since only its hash is kept.
    package static func group(of app: App, masterKeyIsStrong: Bool?) -> SecurityCheckGroup {
        SecurityCheckGroup(
            "Configuration",
            keys(app, masterKeyIsStrong) + clients(app.options) + files(app.options.fileUpload)
                + sessions(app.options)
        )
    }

    private static func keys(_ app: App, _ masterKeyIsStrong: Bool?) -> [SecurityCheck] {
        let options = app.options
        let hasMaintenanceKey = app.withCredentials { $0.maintenanceKeyHash != nil }
        return [
            SecurityCheck(
                "Strong master key",
                isSafe: masterKeyIsStrong,
                warning: "The master key is short or made of few kinds of characters, so it can be guessed.",
                solution: "Let `martlet app rotate-master-key` make one, or choose one of 14 characters or "
                    + "more with small letters, capital letters and digits."
            ),
            SecurityCheck(
                "Master key bound to addresses",
                isSafe: !options.masterKeyIPs.containsEverybody,
                warning: "The master key is accepted from every address.",
                solution: "List the addresses of your own machines in `masterKeyIps`."
            ),
            SecurityCheck(
                "Maintenance key bound to addresses",
                isSafe: !hasMaintenanceKey || !options.maintenanceKeyIPs.containsEverybody,
                warning: "The maintenance key is accepted from every address.",
                solution: "List the addresses of your own machines in `maintenanceKeyIps`."
            ),
            SecurityCheck(
                "Proxies named one by one",
                isSafe: options.trustProxy != .everybody,
                warning: "Whoever connects may say which address a request comes from, so lists of "
                    + "addresses hold for nobody.",
                solution: "Name your proxies in `trustProxy`, or how many there are."
            ),
        ]
    }

    private static func clients(_ options: AppOptions) -> [SecurityCheck] {
        [
            SecurityCheck(
                "No classes made by clients",
                isSafe: !options.allowClientClassCreation,
                warning: "Any client can make classes, which are open to everybody.",
                solution: "Set `allowClientClassCreation` to false and make classes with the master key."
            ),
            SecurityCheck(
                "New users are private",
                isSafe: options.enforcePrivateUsers,
                warning: "Every client can read new users.",
                solution: "Set `enforcePrivateUsers` to true."
            ),
            SecurityCheck(
                "Prohibited keywords",
                isSafe: !options.requestKeywordDenylist.rules.isEmpty,
                warning: "Requests may carry keys that harm clients and services which read the data.",
                solution: "Leave `requestKeywordDenylist` at its default, or list such keys there."
            ),
            SecurityCheck(
                "Batches are bounded",
                isSafe: options.batchRequestLimit != nil,
                warning: "One request can hold any number of others.",
                solution: "Set `requestComplexity.batchRequestLimit` to a number from 0 on."
            ),
        ]
    }

    private static func files(_ policy: FileUploadPolicy) -> [SecurityCheck] {
        [
            SecurityCheck(
                "Files of known users",
                isSafe: !policy.enableForPublic && !policy.enableForAnonymousUser,
                warning: "Whoever has the client key can fill the disk.",
                solution: "Set `fileUpload.enableForPublic` and `fileUpload.enableForAnonymousUser` to false."
            ),
            SecurityCheck(
                "No pages among files",
                isSafe: !policy.fileExtensions.contains("*"),
                warning: "Clients can upload pages and scripts.",
                solution: "Leave `fileUpload.fileExtensions` at its default, or list the kinds you need."
            ),
        ]
    }

    private static func sessions(_ options: AppOptions) -> [SecurityCheck] {
        [
            SecurityCheck(
                "Sessions end",
                isSafe: options.expireInactiveSessions,
                warning: "A session token that was lost is good for ever.",
                solution: "Set `expireInactiveSessions` to true."
            ),
            SecurityCheck(
                "A new password ends sessions",
                isSafe: options.revokeSessionOnPasswordReset,
                warning: "Whoever has taken over an account stays in it after its password was changed.",
                solution: "Set `revokeSessionOnPasswordReset` to true."
            ),
        ]
    }
}
