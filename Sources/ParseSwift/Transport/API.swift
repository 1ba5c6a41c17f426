#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// The options of a call.
public struct API: Sendable {
    /// A set of options; two options of the same case count as equal, whatever they hold.
    public typealias Options = Set<Option>

    /// One option of a call.
    public enum Option: Hashable, Sendable {
        /// Sends the master key of the configuration.
        case useMasterKey
        /// Sends the maintenance key of the configuration.
        case useMaintenanceKey
        /// Acts with this session token instead of the current user's.
        case sessionToken(String)
        /// Names this installation instead of the current one.
        case installationId(String)
        /// The media type of a file.
        case mimeType(String)
        /// The size of a file.
        case fileSize(String)
        /// Sends no media type.
        case removeMimeType
        /// Metadata of a file.
        case metadata([String: String])
        /// Tags of a file.
        case tags([String: String])
        /// A JSON object handed to the triggers of the server.
        case context(any Encodable & Sendable)
        /// Accepted for old code and without effect: this module never caches an answer.
        case cachePolicy(URLRequest.CachePolicy)
        /// Sends the call to another server.
        case serverURL(String)

        /// The same as ``useMasterKey``, by its newer name.
        public static var usePrimaryKey: Option { .useMasterKey }

        /// Compares the cases only.
        public static func == (lhs: API.Option, rhs: API.Option) -> Bool {
            lhs.caseNumber == rhs.caseNumber
        }

        /// Hashes the case only.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(caseNumber)
        }

        private var caseNumber: Int {
            switch self {
            case .useMasterKey: 1
            case .useMaintenanceKey: 2
            case .sessionToken: 3
            case .installationId: 4
            case .mimeType: 5
            case .fileSize: 6
            case .removeMimeType: 7
            case .metadata: 8
            case .tags: 9
            case .context: 10
            case .cachePolicy: 11
            case .serverURL: 12
            }
        }
    }
}
