import Locking
import Foundation

/// The installation: one id per app and machine, and what was saved about it.
final class InstallationKeeper: Sendable {
    /// The item of the store, in the form older versions of the SDK wrote.
    private struct Stored: Codable {
        var currentInstallation: JSONTree?
        var installationId: String?
    }

    private struct State {
        var kept: (id: String, object: JSONTree)?
        /// Stands in while the store cannot be read, so that the real id is not overwritten.
        var makeshift: String?
    }

    private let store: any ItemStore
    private let state = Locked(State())
    private let storeLock = NSLock()

    init(store: any ItemStore) {
        self.store = store
    }

    /// The id, a lower-case UUID; made at the first use.
    var installationId: String {
        load().id
    }

    /// The installation as it was last saved, or made here.
    var object: JSONTree {
        load().object
    }

    private func load() -> (id: String, object: JSONTree) {
        if let kept = state.withLock({ $0.kept }) { return kept }
        storeLock.lock()
        defer { storeLock.unlock() }
        if let kept = state.withLock({ $0.kept }) { return kept }
        do {
            let fresh = UUID().uuidString.lowercased()
            let stored = try store.create(
                Stored(currentInstallation: .object(Self.automaticFields(id: fresh)), installationId: fresh),
                for: .installation
            )
            let id = stored.installationId ?? stored.currentInstallation?["installationId"]?.string ?? fresh
            var members = stored.currentInstallation?.object ?? [:]
            members.merge(Self.automaticFields(id: id)) { _, new in new }
            let kept = (id, JSONTree.object(members))
            state.withLock { $0.kept = kept }
            return kept
        } catch {
            let id = state.withLock { state in
                let id = state.makeshift ?? UUID().uuidString.lowercased()
                state.makeshift = id
                return id
            }
            return (id, .object(Self.automaticFields(id: id)))
        }
    }

    /// Keeps what the server knows of the installation.
    func keep(_ object: JSONTree) {
        let current = load()
        guard object["installationId"]?.string ?? current.id == current.id else { return }
        storeLock.lock()
        defer { storeLock.unlock() }
        guard state.withLock({ $0.kept != nil }) else { return }
        var members = object.object ?? [:]
        members["installationId"] = .string(current.id)
        state.withLock { $0.kept = (current.id, .object(members)) }
        do {
            try store.write(
                Stored(currentInstallation: .object(members), installationId: current.id),
                for: .installation
            )
        } catch {
            SessionEventHub.shared.send(.notPersisted(error: .wrapping(error)))
        }
    }

    /// Forgets that the server knows the installation, and keeps its id.
    func forgetObject() {
        keep(.object(Self.automaticFields(id: installationId)))
    }

    private static func automaticFields(id: String) -> [String: JSONTree] {
        var fields: [String: JSONTree] = [
            "installationId": .string(id),
            "deviceType": .string(deviceType),
            "timeZone": .string(TimeZone.current.identifier),
            "parseVersion": .string(ParseVersion.library),
        ]
        let locale = Locale.current.identifier.prefix { $0 != "@" && $0 != "." }
            .replacingOccurrences(of: "_", with: "-")
        if !locale.isEmpty { fields["localeIdentifier"] = .string(locale) }
        // Empty outside Apple systems.
        let info = Bundle.main.infoDictionary ?? [:]
        fields["appIdentifier"] = Bundle.main.bundleIdentifier.map(JSONTree.string)
        fields["appName"] = (info["CFBundleDisplayName"] ?? info["CFBundleName"])
            .flatMap { $0 as? String }.map(JSONTree.string)
        fields["appVersion"] = (info["CFBundleVersion"] as? String).map(JSONTree.string)
        return fields
    }

    private static var deviceType: String {
        #if os(iOS)
            "ios"
        #elseif os(macOS)
            "osx"
        #elseif os(tvOS)
            "tvos"
        #elseif os(watchOS)
            "applewatch"
        #elseif os(visionOS)
            "visionos"
        #elseif os(Linux)
            "linux"
        #elseif os(Android)
            "android"
        #else
            "windows"
        #endif
    }
}
