public import Foundation

/// This app on this device.
///
/// The server learns of it when the app saves it. Its id is made at the first start and stays the same
/// through restarts and log-outs; it is sent with each request, so that a log-in ends the user's earlier
/// session on the same device.
public protocol ParseInstallation: ParseObject {
    /// The kind of device, for example `ios` or `linux`; set by the module.
    var deviceType: String? { get set }
    /// The id of the installation, a lower-case UUID; set by the module.
    var installationId: String? { get set }
    /// The token of the push service.
    var deviceToken: String? { get set }
    /// The number on the app's icon.
    var badge: Int? { get set }
    /// The time zone, for example `Europe/Paris`; set by the module.
    var timeZone: String? { get set }
    /// The channels it listens to.
    var channels: [String]? { get set }
    /// The name of the app; set by the module on Apple systems.
    var appName: String? { get set }
    /// The bundle identifier; set by the module on Apple systems.
    var appIdentifier: String? { get set }
    /// The version of the app; set by the module on Apple systems.
    var appVersion: String? { get set }
    /// The version of this module; set by the module.
    var parseVersion: String? { get set }
    /// Language and region, for example `fr-CA`; set by the module.
    var localeIdentifier: String? { get set }
}

extension ParseInstallation {
    /// The name of the class on the server.
    public static var className: String { "_Installation" }

    /// The installation, `nil` only before `initialize`.
    ///
    /// The first read may wait for the store.
    public internal(set) static var current: Self? {
        get {
            guard let client = ParseClient.current else { return nil }
            let kept = client.installation.object
            if let installation = try? ParseCoding.decode(Self.self, from: kept) { return installation }
            // A kept field does not fit the app's type: the identity matters more than the rest.
            var bare = Self()
            bare.installationId = client.installation.installationId
            return bare
        }
        set {
            // Saves are the only way to change it; this setter exists for its signature.
            _ = newValue
        }
    }

    /// The installation.
    ///
    /// - Throws: ``ParseError`` before `initialize`.
    public static func current() async throws -> Self {
        try await UserCalls.onStateQueue {
            guard let installation: Self = current else { throw ParseError.notInitialized }
            return installation
        }
    }

    /// Sets the device token from the bytes the push service gave; save afterwards.
    public mutating func setDeviceToken(_ data: Data) {
        let digits = Array("0123456789abcdef")
        deviceToken = String(data.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
