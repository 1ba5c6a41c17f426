public import Foundation

/// What every Parse value can do: be coded, compared, printed and sent between threads.
public protocol ParseTypeable: Codable, CustomDebugStringConvertible, CustomStringConvertible, Equatable,
    Sendable
{}

extension ParseTypeable {
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

/// Something that lives in a class of the server and has the fields every object has.
public protocol Objectable: ParseEncodable, Decodable {
    /// The name of the class on the server.
    static var className: String { get }
    /// The name of the class on the server.
    var className: String { get }
    /// The id the server gave, `nil` before the first save.
    var objectId: String? { get set }
    /// When the server made the object.
    var createdAt: Date? { get set }
    /// When the server last changed the object.
    var updatedAt: Date? { get set }
    /// Who may read and write the object.
    var ACL: ParseACL? { get set }
    /// Whether the server has the object already.
    var isSaved: Bool { get }
}

extension Objectable {
    /// The type's name, without the types it is nested in.
    public static var className: String {
        let name = String(describing: Self.self)
        // A generic type prints its arguments, which no class name may contain.
        return name.prefix { $0 != "<" }.split(separator: ".").last.map(String.init) ?? name
    }

    /// The name of the class on the server.
    public var className: String {
        Self.className
    }

    /// Whether there is an `objectId`; with custom ids, whether the server also gave `createdAt`.
    public var isSaved: Bool {
        guard configuration.isAllowingCustomObjectIds else { return objectId != nil }
        return objectId != nil && createdAt != nil
    }
}

/// Something that can be read again from the server.
public protocol Fetchable: Decodable {
    /// What a fetch gives.
    associatedtype FetchingType
    /// Reads the object from the server and waits for it.
    func fetch(includeKeys: [String]?, options: API.Options) throws -> FetchingType
}

extension Fetchable {
    /// Reads the object from the server and waits for it.
    public func fetch() throws -> FetchingType {
        try fetch(includeKeys: nil, options: [])
    }
}

/// Something that can be saved on the server.
public protocol Savable: Encodable {
    /// What a save gives.
    associatedtype SavingType
    /// Saves the object and waits for the answer.
    func save(options: API.Options) throws -> SavingType
}

extension Savable {
    /// Saves the object and waits for the answer.
    public func save() throws -> SavingType {
        try save(options: [])
    }
}

/// Something that can be deleted from the server.
public protocol Deletable: Codable {
    /// What a deletion gives.
    associatedtype DeletingType
    /// Deletes the object and waits for the answer.
    func delete(options: API.Options) throws -> DeletingType
}

extension Deletable {
    /// Deletes the object and waits for the answer.
    public func delete() throws -> DeletingType {
        try delete(options: [])
    }
}
