package import Cryptography

/// The keys of one app.
///
/// Client keys are no secrets (they are in every copy of the client) and are kept in clear; master keys are
/// kept as SHA-256 only, so that a stolen data folder opens no app.
package struct AppCredentials: Sendable, Hashable {
    package var clientKey: String?
    package var restAPIKey: String?
    package var javascriptKey: String?
    package var dotNetKey: String?
    package var masterKeyHash: Digest256
    package var readOnlyMasterKeyHash: Digest256?
    package var maintenanceKeyHash: Digest256?

    package init(
        clientKey: String? = nil,
        restAPIKey: String? = nil,
        javascriptKey: String? = nil,
        dotNetKey: String? = nil,
        masterKeyHash: Digest256,
        readOnlyMasterKeyHash: Digest256? = nil,
        maintenanceKeyHash: Digest256? = nil
    ) {
        self.clientKey = clientKey
        self.restAPIKey = restAPIKey
        self.javascriptKey = javascriptKey
        self.dotNetKey = dotNetKey
        self.masterKeyHash = masterKeyHash
        self.readOnlyMasterKeyHash = readOnlyMasterKeyHash
        self.maintenanceKeyHash = maintenanceKeyHash
    }

    /// Whether one of the presented client keys is right, or none is asked for.
    package func acceptsClient(_ presented: PresentedKeys) -> Bool {
        let pairs = [
            (clientKey, presented.clientKey), (restAPIKey, presented.restAPIKey),
            (javascriptKey, presented.javascriptKey), (dotNetKey, presented.windowsKey),
        ]
        var isAsked = false
        var isRight = false
        for (expected, given) in pairs {
            guard let expected else { continue }
            isAsked = true
            if let given, constantTimeEquals(expected, given) { isRight = true }
        }
        return isRight || !isAsked
    }

    /// What a key sent as master key is.
    package func kind(ofMasterKey key: String) -> MasterKeyKind? {
        let hash = SHA256.hash(key)
        if constantTimeEquals(hash.bytes, masterKeyHash.bytes) { return .master }
        guard let readOnlyMasterKeyHash, constantTimeEquals(hash.bytes, readOnlyMasterKeyHash.bytes) else {
            return nil
        }
        return .readOnly
    }

    package func acceptsMaintenance(_ key: String) -> Bool {
        guard let maintenanceKeyHash else { return false }
        return constantTimeEquals(SHA256.hash(key).bytes, maintenanceKeyHash.bytes)
    }

    package enum MasterKeyKind: Sendable {
        case master, readOnly
    }
}

/// The keys a request came with.
package struct PresentedKeys: Sendable {
    package var clientKey: String?
    package var restAPIKey: String?
    package var javascriptKey: String?
    package var windowsKey: String?
    package var masterKey: String?
    package var maintenanceKey: String?

    package init() {}
}
