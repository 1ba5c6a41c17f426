public import Foundation

/// A value of a class of the server.
///
/// A model is a struct whose own properties are optional (the server may leave any of them out):
///
/// ```swift
/// struct Note: ParseObject {
///     var objectId: String?
///     var createdAt: Date?
///     var updatedAt: Date?
///     var ACL: ParseACL?
///     var originalData: Data?
///
///     var text: String?
/// }
/// ```
///
/// A save of a value that came from the server sends only what was changed since, and a property set to
/// `nil` is removed there. The module remembers for this what the server said, by class, `objectId` and
/// `updatedAt`; a value built by hand from its `objectId` has no `updatedAt`, so only the properties that
/// are not `nil` are sent and the others stay as they are on the server.
public protocol ParseObject: ParseTypeable, Objectable, Fetchable, Savable, Deletable, Identifiable,
    Hashable
{
    /// The JSON of the value that ``mergeable`` was made from.
    ///
    /// A model need not have it; nothing but ``mergeable`` uses it.
    var originalData: Data? { get set }

    /// Makes a value without any property set.
    init()

    /// An empty copy that carries the identity: change some properties and save, only those are sent.
    ///
    /// Kept for code written for older versions. Changing the value itself has the same effect.
    var mergeable: Self { get }

    /// Whether a merge takes a property from the original: mine is `nil` and the original's is not.
    func shouldRestoreKey<W: Equatable>(_ key: KeyPath<Self, W?>, original: Self) -> Bool

    /// This value with every property that is `nil` taken from `object`, which must be the same object.
    ///
    /// - Throws: ``ParseError`` when the two are different objects.
    func mergeParse(with object: Self) throws -> Self

    /// This value with every property that is `nil` taken from `object`.
    ///
    /// Models of older code override it. The module itself never calls it: a save of a ``mergeable`` value
    /// restores all properties without help.
    func merge(with object: Self) throws -> Self
}

extension ParseObject {
    /// Nothing: a model without this property works as well.
    public var originalData: Data? {
        get { nil }
        set { _ = newValue }
    }

    /// The `objectId`, or for an unsaved value a text that depends on its content only.
    ///
    /// Two reads of the same value give the same id; equal values have equal ids.
    public var id: String {
        objectId ?? UnsavedIdentity.id(of: self)
    }

    /// Hashes ``id``.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }

    /// An empty copy that carries the identity: change some properties and save, only those are sent.
    public var mergeable: Self {
        guard isSaved, originalData == nil else { return self }
        var copy = Self()
        copy.objectId = objectId
        copy.createdAt = createdAt
        copy.originalData = try? TreeEncoder(children: .whole).encode(self).data
        return copy
    }

    /// Whether a merge takes a property from the original: mine is `nil` and the original's is not.
    public func shouldRestoreKey<W: Equatable>(_ key: KeyPath<Self, W?>, original: Self) -> Bool {
        self[keyPath: key] == nil && original[keyPath: key] != nil
    }

    /// This value with every property that is `nil` taken from `object`.
    public func mergeParse(with object: Self) throws -> Self {
        guard hasSameObjectId(as: object) else {
            throw ParseError(code: .otherCause, message: "Only two states of the same object can be merged.")
        }
        return try filled(from: TreeEncoder(children: .whole).encode(object))
    }

    /// This value with every property that is `nil` taken from `object`.
    public func merge(with object: Self) throws -> Self {
        try mergeParse(with: object)
    }

    /// Whether both have the same class and the same `objectId`.
    public func hasSameObjectId<T: ParseObject>(as other: T) -> Bool {
        objectId != nil && objectId == other.objectId && className == other.className
    }

    /// A pointer to this object.
    ///
    /// - Throws: ``ParseError`` with code 104 when the object is not saved yet.
    public func toPointer() throws -> Pointer<Self> {
        try Pointer(self)
    }

    /// Makes a value that has only an id, for changing some fields of the object.
    public init(objectId: String) {
        self.init()
        self.objectId = objectId
    }

    /// A copy with another value of a property.
    public func set<W: Equatable>(_ keyPath: WritableKeyPath<Self, W?>, to value: W) -> Self {
        var copy = self
        copy[keyPath: keyPath] = value
        return copy
    }

    /// The value of a property.
    ///
    /// - Throws: ``ParseError`` when it is `nil`.
    /// - Returns: The value, which is not optional.
    public func get<W: Equatable>(_ keyPath: KeyPath<Self, W?>) throws -> W {
        guard let value = self[keyPath: keyPath] else {
            throw ParseError(code: .otherCause, message: "The property of \(className) is nil.")
        }
        return value
    }

    /// The encoder for sending values of this class.
    public static func getEncoder() -> ParseEncoder { ParseEncoder() }
    /// The encoder for sending values of this class.
    public func getEncoder() -> ParseEncoder { ParseEncoder() }
    /// An encoder that keeps a value whole, with Parse dates and sorted keys.
    public static func getJSONEncoder() -> JSONEncoder { ParseCoding.jsonEncoder() }
    /// An encoder that keeps a value whole, with Parse dates and sorted keys.
    public func getJSONEncoder() -> JSONEncoder { ParseCoding.jsonEncoder() }
    /// The decoder for answers of a server.
    public static func getDecoder() -> JSONDecoder { ParseCoding.jsonDecoder() }
    /// The decoder for answers of a server.
    public func getDecoder() -> JSONDecoder { ParseCoding.jsonDecoder() }

    /// The value as JSON, for logs; passwords, tokens and `authData` are not shown.
    public var debugDescription: String {
        guard var members = try? TreeEncoder(children: .whole).encode(self).object else { return "()" }
        members["originalData"] = nil
        if self is any ParseUser || self is any ParseSession {
            for secret in ["password", "authData", "sessionToken"] { members[secret] = nil }
        }
        return "\(className) (\(JSONTree.object(members).text))"
    }

    /// The value as JSON, for logs; passwords, tokens and `authData` are not shown.
    public var description: String {
        debugDescription
    }

    /// This value with the members it lacks taken from `original`.
    func filled(from original: JSONTree) throws -> Self {
        var members = original.object ?? [:]
        for (key, value) in try TreeEncoder(children: .whole).encode(self).object ?? [:] {
            members[key] = value
        }
        members["originalData"] = nil
        return try ParseCoding.decode(Self.self, from: .object(members))
    }
}

/// The identity of values the server has not seen yet.
enum UnsavedIdentity {
    static func id<Object: ParseObject>(of object: Object) -> String {
        let text = (try? TreeEncoder(children: .whole).encode(object).text) ?? ""
        // Two FNV-1a hashes with different starts: 128 bits, the same in every process.
        var first: UInt64 = 0xcbf2_9ce4_8422_2325
        var second: UInt64 = 0x84222325_cbf29ce4
        for byte in (Object.className + text).utf8 {
            first = (first ^ UInt64(byte)) &* 0x100_0000_01b3
            second = (second ^ UInt64(byte ^ 0x5a)) &* 0x100_0000_01b3
        }
        return "unsaved-" + String(first, radix: 16) + String(second, radix: 16)
    }
}
