package import Cryptography
package import ParseCore

/// The keys of an app as options give them.
package struct AppKeyOptions: Sendable, Hashable {
    package var clientKey: String?
    package var restAPIKey: String?
    package var javascriptKey: String?
    package var dotNetKey: String?
    package var masterKey: String?
    package var readOnlyMasterKey: String?
    package var maintenanceKey: String?

    package init() {}
}

/// Everything the process is told before it starts.
package struct ServerOptions: Sendable {
    package var host = "127.0.0.1"
    package var port = 1337
    /// The PostgreSQL database that holds apps and data; `nil` for the data folder.
    ///
    /// It may hold a password.
    package var databaseURL: String?
    /// The address clients are told; `nil` for the one the server listens at.
    package var serverURL: String?
    package var passwordAlgorithm = PasswordAlgorithm.standard
    /// An app whose keys come from here and not from the control database.
    package var pinnedAppID: String?
    package var pinnedAppName: String?
    /// Keys at the top level: those of the pinned app, and master keys of the other kinds for every app.
    package var keys = AppKeyOptions()
    /// Options of every app.
    package var app = AppOptions()
    /// Options of single apps, by id, with those of every app under them.
    package private(set) var appsByID: [String: AppOptions] = [:]
    package private(set) var keysByID: [String: AppKeyOptions] = [:]

    package init() {}

    package func options(ofApp id: String) -> AppOptions {
        appsByID[id] ?? app
    }

    /// The keys of an app that is in the control database, with what the options add.
    package func credentials(ofApp id: String, _ stored: AppCredentials) -> AppCredentials {
        let own = keysByID[id] ?? AppKeyOptions()
        var credentials = stored
        credentials.clientKey = own.clientKey ?? credentials.clientKey
        credentials.restAPIKey = own.restAPIKey ?? credentials.restAPIKey
        credentials.javascriptKey = own.javascriptKey ?? credentials.javascriptKey
        credentials.dotNetKey = own.dotNetKey ?? credentials.dotNetKey
        if let key = own.masterKey { credentials.masterKeyHash = SHA256.hash(key) }
        credentials.readOnlyMasterKeyHash = (own.readOnlyMasterKey ?? keys.readOnlyMasterKey).map {
            SHA256.hash($0)
        }
        credentials.maintenanceKeyHash = (own.maintenanceKey ?? keys.maintenanceKey).map { SHA256.hash($0) }
        return credentials
    }

    /// The pinned app's keys.
    ///
    /// - Throws: ``ConfigurationError`` when it has no master key, or keys that must differ do not.
    package func pinnedApp() throws(ConfigurationError) -> AppRecord? {
        guard let id = pinnedAppID else {
            let names = [
                ("clientKey", keys.clientKey), ("restAPIKey", keys.restAPIKey),
                ("javascriptKey", keys.javascriptKey), ("dotNetKey", keys.dotNetKey),
                ("masterKey", keys.masterKey),
            ]
            if let name = names.first(where: { $0.1 != nil })?.0 {
                throw ConfigurationError("The option \"\(name)\" needs an app: set \"appId\" (--app-id) too.")
            }
            return nil
        }
        guard let masterKey = keys.masterKey else {
            throw ConfigurationError(
                "The app \"\(id)\" needs a master key: set \"masterKey\" (--master-key) too."
            )
        }
        let own = keysByID[id] ?? AppKeyOptions()
        for (name, top, inner) in [
            ("masterKey", keys.masterKey, own.masterKey), ("clientKey", keys.clientKey, own.clientKey),
            ("restAPIKey", keys.restAPIKey, own.restAPIKey),
            ("javascriptKey", keys.javascriptKey, own.javascriptKey),
            ("dotNetKey", keys.dotNetKey, own.dotNetKey),
        ] where top != nil && inner != nil && top != inner {
            throw ConfigurationError(
                "The pinned app \"\(id)\" is given two keys: \"\(name)\" and \"apps.\(id).\(name)\"."
            )
        }
        let stored = AppCredentials(
            clientKey: keys.clientKey,
            restAPIKey: keys.restAPIKey,
            javascriptKey: keys.javascriptKey,
            dotNetKey: keys.dotNetKey,
            masterKeyHash: SHA256.hash(masterKey)
        )
        let app = AppRecord(id: id, name: pinnedAppName ?? id, credentials: credentials(ofApp: id, stored))
        try Self.check(app)
        return app
    }

    /// Refuses a key that would be more than one thing.
    ///
    /// - Throws: ``ConfigurationError`` when an app's master key is also its read-only or maintenance key: whoever was
    ///   given the lesser one would be master.
    package static func check(_ app: AppRecord) throws(ConfigurationError) {
        let keys = app.credentials
        for (name, hash) in [
            ("readOnlyMasterKey", keys.readOnlyMasterKeyHash), ("maintenanceKey", keys.maintenanceKeyHash),
        ] where hash == keys.masterKeyHash {
            throw ConfigurationError(
                "The options \"masterKey\" and \"\(name)\" must differ; for the app \"\(app.id)\" they do not."
            )
        }
    }

    mutating func setApps(_ options: [String: AppOptions], _ keys: [String: AppKeyOptions]) {
        appsByID = options
        keysByID = keys
    }
}
