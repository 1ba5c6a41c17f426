public import Dispatch

/// A reference to an object: its class and its id, without its fields.
///
/// When the server included the fields, they are dropped here; declare the model itself as the type of
/// the property to get them.
public struct Pointer<T: ParseObject>: ParseTypeable, Hashable, Identifiable {
    /// The id of the object.
    public var objectId: String
    /// The class of the object.
    public var className: String

    /// The id of the object.
    public var id: String { objectId }

    /// Makes a pointer to an object of the class by its id.
    public init(objectId: String) {
        self.objectId = objectId
        className = T.className
    }

    /// Makes a pointer to an object.
    ///
    /// - Throws: ``ParseError`` with code 104 when the object is not saved yet.
    public init(_ target: T) throws {
        guard let objectId = target.objectId else {
            throw ParseError(
                code: .missingObjectId,
                message: "Save the \(target.className) before pointing to it."
            )
        }
        self.objectId = objectId
        className = target.className
    }

    /// Whether both are the same object.
    public func hasSameObjectId(as other: T) -> Bool {
        other.className == className && other.objectId == objectId
    }

    /// Whether both are the same object.
    public func hasSameObjectId(as other: Pointer<T>) -> Bool {
        other.className == className && other.objectId == objectId
    }

    /// A value that has only the id, for changing some of its fields.
    public func toObject() -> T {
        var object = T()
        object.objectId = objectId
        return object
    }

    private enum CodingKeys: String, CodingKey {
        case __type, objectId, className
    }

    /// Reads a pointer, or an included object.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        objectId = try container.decode(String.self, forKey: .objectId)
        className = try container.decodeIfPresent(String.self, forKey: .className) ?? T.className
    }

    /// Writes a pointer.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("Pointer", forKey: .__type)
        try container.encode(objectId, forKey: .objectId)
        try container.encode(className, forKey: .className)
    }
}

extension Pointer {
    /// Reads the object from the server and waits for it.
    public func fetch(includeKeys: [String]? = nil, options: API.Options = []) throws -> T {
        try toObject().fetch(includeKeys: includeKeys, options: options)
    }

    /// Reads the object from the server and calls back with it.
    public func fetch(
        includeKeys: [String]? = nil,
        options: API.Options = [],
        callbackQueue: DispatchQueue = .main,
        completion: @escaping (Result<T, ParseError>) -> Void
    ) {
        toObject().fetch(
            includeKeys: includeKeys,
            options: options,
            callbackQueue: callbackQueue,
            completion: completion
        )
    }

    /// Reads the object from the server.
    @discardableResult
    public func fetch(includeKeys: [String]? = nil, options: API.Options = []) async throws -> T {
        try await toObject().fetch(includeKeys: includeKeys, options: options)
    }
}
