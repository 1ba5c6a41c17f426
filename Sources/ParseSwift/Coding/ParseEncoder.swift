public import Foundation

/// Something that can be encoded for a Parse server.
public protocol ParseEncodable: Encodable, Sendable {}

extension ParseEncodable {
    /// The value as JSON, for logs.
    public var debugDescription: String {
        guard let tree = try? TreeEncoder(children: .whole).encode(self) else { return "()" }
        return "\(Self.self) (\(tree.text))"
    }

    /// The value as JSON, for logs.
    public var description: String {
        debugDescription
    }
}

/// Encodes values as a Parse server wants them: Parse dates, children as pointers.
public struct ParseEncoder: Sendable {
    /// Which top-level keys are left out.
    ///
    /// Keys inside nested values are never touched.
    public enum SkipKeys: Sendable {
        /// The keys a server manages itself, `objectId` included.
        case object
        /// The same without `objectId`, for apps that choose their own ids.
        case customObjectId
        /// The name of a cloud function or job.
        case cloud
        /// Nothing is left out.
        case none
        /// Exactly these.
        case custom(Set<String>)

        var keys: Set<String> {
            switch self {
            case .object: Self.managed.union(["objectId"])
            case .customObjectId: Self.managed
            case .cloud: ["functionJobName"]
            case .none: []
            case .custom(let keys): keys
            }
        }

        // `score` is missing on purpose: it is a column like any other.
        private static let managed: Set<String> = [
            "createdAt", "updatedAt", "className", "__type", "id", "originalData",
        ]
    }

    /// Encodes a value to JSON text with sorted keys.
    ///
    /// - Throws: ``ParseError`` with code 104 when a child object has no `objectId`, and whatever the
    ///   value's own `encode(to:)` throws.
    public func encode<T: ParseEncodable>(_ value: T, skipKeys: SkipKeys) throws -> Data {
        JSONTree.object(try members(of: value, skipping: skipKeys)).data
    }

    func members<T: Encodable>(of value: T, skipping skipKeys: SkipKeys) throws -> [String: JSONTree] {
        var members = try TreeEncoder(children: .pointers).encode(value).object ?? [:]
        for key in skipKeys.keys {
            members[key] = nil
        }
        if value is any ParseUser, !skipKeys.keys.isEmpty {
            members["emailVerified"] = nil
        }
        return members
    }
}
