import Cryptography
package import ParseCore

/// An app as the server knows it, open or not.
package struct AppRecord: Sendable, Hashable {
    package var id: String
    package var name: String
    package var credentials: AppCredentials

    package init(id: String, name: String, credentials: AppCredentials) {
        self.id = id
        self.name = name
        self.credentials = credentials
    }
}

/// An app that was just made, or whose master key was just replaced: the one moment the key is known.
package struct NewAppKeys: Sendable {
    package let record: AppRecord
    package let masterKey: String

    package init(record: AppRecord, masterKey: String) {
        self.record = record
        self.masterKey = masterKey
    }

    /// A new app with random keys.
    package static func make(name: String) -> NewAppKeys {
        let masterKey = key()
        let credentials = AppCredentials(
            clientKey: key(),
            restAPIKey: key(),
            javascriptKey: key(),
            masterKeyHash: SHA256.hash(masterKey)
        )
        return NewAppKeys(
            record: AppRecord(id: key(), name: name, credentials: credentials),
            masterKey: masterKey
        )
    }

    static func key() -> String {
        SecureRandom.alphanumeric(40)
    }
}
