#if canImport(Security)
    import Foundation
    import Security

    /// Keeps items in the keychain: generic passwords, readable after the first unlock, on this device only.
    ///
    /// The service is `<bundle id>.parseSwift.sdk.<application id>`, so that two apps of one developer that
    /// share a keychain never swap users; the account is the item's name. Versions of the SDK before this
    /// one used `<bundle id>.parseSwift.sdk`: an item that is only there is moved at its first read, so an
    /// update of the app logs nobody out.
    struct KeychainStore: DataStore {
        private static let firstRunMark = "com.parse.ParseSwift"

        private let service: String
        private let olderService: String
        private let usesDataProtection: Bool

        init(_ configuration: ParseConfiguration) {
            self.init(
                bundle: Bundle.main.bundleIdentifier ?? "com",
                applicationId: configuration.applicationId,
                usesDataProtection: configuration.isUsingDataProtectionKeychain
            )
            // The keychain outlives the app: without this the former user is back after a reinstallation.
            let defaults = UserDefaults.standard
            if defaults.string(forKey: Self.firstRunMark) == nil {
                if configuration.isDeletingKeychainIfNeeded {
                    for key in [ItemKey.user, .installation, .defaultACL] {
                        try? remove(key)
                    }
                }
                defaults.set(Self.firstRunMark, forKey: Self.firstRunMark)
            }
        }

        init(bundle: String, applicationId: String, usesDataProtection: Bool) {
            olderService = bundle + ".parseSwift.sdk"
            service = olderService + "." + applicationId
            self.usesDataProtection = usesDataProtection
        }

        func readData(_ key: ItemKey) throws -> Data? {
            if let data = try find(key, service) { return data }
            guard let older = try find(key, olderService) else { return nil }
            // Written first, removed then: a crash between the two leaves both, and the new one counts.
            try writeData(older, key)
            try delete(key, olderService)
            return older
        }

        func writeData(_ data: Data, _ key: ItemKey) throws {
            switch add(data, key) {
            case errSecSuccess: return
            case errSecDuplicateItem:
                let status = SecItemUpdate(
                    query(key, service) as CFDictionary,
                    [kSecValueData as String: data] as CFDictionary
                )
                guard status == errSecSuccess else { throw failure("change", status) }
            case let status: throw failure("add", status)
            }
        }

        func createData(_ data: Data, _ key: ItemKey) throws -> Data {
            if let kept = try readData(key) { return kept }
            switch add(data, key) {
            case errSecSuccess: return data
            case errSecDuplicateItem: return try readData(key) ?? data
            case let status: throw failure("add", status)
            }
        }

        func remove(_ key: ItemKey) throws {
            try delete(key, service)
            try delete(key, olderService)
        }

        private func add(_ data: Data, _ key: ItemKey) -> OSStatus {
            var item = query(key, service)
            item[kSecValueData as String] = data
            item[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            return SecItemAdd(item as CFDictionary, nil)
        }

        private func find(_ key: ItemKey, _ service: String) throws -> Data? {
            var item = query(key, service)
            item[kSecReturnData as String] = true
            item[kSecMatchLimit as String] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(item as CFDictionary, &found)
            switch status {
            case errSecSuccess: return found as? Data
            case errSecItemNotFound: return nil
            // For example: the device was not unlocked since it started. That is not "logged out".
            default: throw failure("read", status)
            }
        }

        private func delete(_ key: ItemKey, _ service: String) throws {
            let status = SecItemDelete(query(key, service) as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else {
                throw failure("delete", status)
            }
        }

        private func query(_ key: ItemKey, _ service: String) -> [String: Any] {
            var query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: service,
                kSecAttrAccount as String: key.rawValue,
            ]
            if usesDataProtection {
                query[kSecUseDataProtectionKeychain as String] = true
            }
            return query
        }

        private func failure(_ what: String, _ status: OSStatus) -> StoreError {
            let text = SecCopyErrorMessageString(status, nil) as String? ?? "error"
            return StoreError("The keychain would not \(what) the item: \(text) (\(status)).")
        }
    }
#endif
