import Foundation

/// Who may read and who may write an object.
public struct ParseACL: ParseTypeable, Hashable {
    /// What somebody may do.
    public enum Access: String, Codable, CodingKey, Hashable, Sendable {
        /// Reading the object.
        case read
        /// Changing and deleting the object.
        case write
    }

    private static let everybody = "*"
    private var entries: [String: Set<Access>] = [:]

    /// An ACL that lets nobody in.
    public init() {}

    /// Whether everybody may read.
    public var publicRead: Bool {
        get { get(.read, Self.everybody) }
        set { set(.read, Self.everybody, newValue) }
    }

    /// Whether everybody may write.
    public var publicWrite: Bool {
        get { get(.write, Self.everybody) }
        set { set(.write, Self.everybody, newValue) }
    }

    /// Whether the user with that id is named as a reader.
    public func getReadAccess(objectId: String) -> Bool { get(.read, objectId) }
    /// Whether the user is named as a reader; `false` for one that is not saved.
    public func getReadAccess<T: ParseUser>(user: T) -> Bool { user.objectId.map { get(.read, $0) } ?? false }
    /// Whether the role of that name is named as a reader.
    public func getReadAccess(roleName: String) -> Bool { get(.read, "role:" + roleName) }
    /// Whether the role is named as a reader; `false` for one without a name.
    public func getReadAccess<T: ParseRole>(role: T) -> Bool {
        role.name.map { getReadAccess(roleName: $0) } ?? false
    }

    /// Names the user with that id as a reader, or takes the name off.
    public mutating func setReadAccess(objectId: String, value: Bool) { set(.read, objectId, value) }
    /// Names the user as a reader, or takes the name off; without effect for one that is not saved.
    public mutating func setReadAccess<T: ParseUser>(user: T, value: Bool) {
        if let objectId = user.objectId { set(.read, objectId, value) }
    }
    /// Names the role of that name as a reader, or takes the name off.
    public mutating func setReadAccess(roleName: String, value: Bool) {
        set(.read, "role:" + roleName, value)
    }
    /// Names the role as a reader, or takes the name off; without effect for one without a name.
    public mutating func setReadAccess<T: ParseRole>(role: T, value: Bool) {
        if let name = role.name { setReadAccess(roleName: name, value: value) }
    }

    /// Whether the user with that id is named as a writer.
    public func getWriteAccess(objectId: String) -> Bool { get(.write, objectId) }
    /// Whether the user is named as a writer; `false` for one that is not saved.
    public func getWriteAccess<T: ParseUser>(user: T) -> Bool {
        user.objectId.map { get(.write, $0) } ?? false
    }
    /// Whether the role of that name is named as a writer.
    public func getWriteAccess(roleName: String) -> Bool { get(.write, "role:" + roleName) }
    /// Whether the role is named as a writer; `false` for one without a name.
    public func getWriteAccess<T: ParseRole>(role: T) -> Bool {
        role.name.map { getWriteAccess(roleName: $0) } ?? false
    }

    /// Names the user with that id as a writer, or takes the name off.
    public mutating func setWriteAccess(objectId: String, value: Bool) { set(.write, objectId, value) }
    /// Names the user as a writer, or takes the name off; without effect for one that is not saved.
    public mutating func setWriteAccess<T: ParseUser>(user: T, value: Bool) {
        if let objectId = user.objectId { set(.write, objectId, value) }
    }
    /// Names the role of that name as a writer, or takes the name off.
    public mutating func setWriteAccess(roleName: String, value: Bool) {
        set(.write, "role:" + roleName, value)
    }
    /// Names the role as a writer, or takes the name off; without effect for one without a name.
    public mutating func setWriteAccess<T: ParseRole>(role: T, value: Bool) {
        if let name = role.name { setWriteAccess(roleName: name, value: value) }
    }

    private func get(_ access: Access, _ key: String) -> Bool {
        entries[key]?.contains(access) ?? false
    }

    private mutating func set(_ access: Access, _ key: String, _ value: Bool) {
        var accesses = entries[key] ?? []
        if value { accesses.insert(access) } else { accesses.remove(access) }
        entries[key] = accesses.isEmpty ? nil : accesses
    }
}

extension ParseACL {
    /// Reads an ACL; what a newer server may add to an entry is ignored.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        for key in container.allKeys {
            for (name, isAllowed) in try container.decode([String: Bool].self, forKey: key) where isAllowed {
                if let access = Access(rawValue: name) { set(access, key.stringValue, true) }
            }
        }
    }

    /// Writes an ACL: only what is allowed, nothing for what is not.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        for (key, accesses) in entries {
            var entry = container.nestedContainer(keyedBy: Access.self, forKey: AnyKey(key))
            for access in accesses {
                try entry.encode(true, forKey: access)
            }
        }
    }

    /// The ACL as JSON, for logs.
    public var debugDescription: String {
        "ACL(\((try? TreeEncoder(children: .whole).encode(self).text) ?? ""))"
    }
}

extension ParseACL {
    private struct Stored: Codable {
        var defaultACL: ParseACL
        var useCurrentUser: Bool
    }

    /// The ACL that new objects get which have none.
    ///
    /// - Throws: ``ParseError`` when none was set, or it cannot be read.
    public static func defaultACL() throws -> ParseACL {
        guard let client = ParseClient.current else { throw ParseError.notInitialized }
        guard let acl = try storedDefault(client) else {
            throw ParseError(code: .otherCause, message: "There is no default ACL.")
        }
        return acl
    }

    /// Sets the ACL that new objects get which have none; a log-out removes it.
    ///
    /// - Parameters:
    ///   - acl: Who may do what.
    ///   - withAccessForCurrentUser: Whether the user who is logged in when an object is saved may read and
    ///     write it too.
    /// - Throws: ``ParseError`` with code 104 when `withAccessForCurrentUser` is set and nobody is logged in.
    /// - Returns: The ACL as an object saved now would get it.
    public static func setDefaultACL(_ acl: ParseACL, withAccessForCurrentUser: Bool) throws -> ParseACL {
        guard let client = ParseClient.current else { throw ParseError.notInitialized }
        guard !withAccessForCurrentUser || client.session.logIn != nil else {
            throw ParseError(code: .missingObjectId, message: "Nobody is logged in.")
        }
        do {
            try client.store.write(
                Stored(defaultACL: acl, useCurrentUser: withAccessForCurrentUser),
                for: .defaultACL
            )
        } catch {
            throw ParseError.wrapping(error)
        }
        return try defaultACL()
    }

    static func storedDefault(_ client: ParseClient) throws -> ParseACL? {
        let stored: Stored?
        do {
            stored = try client.store.read(Stored.self, for: .defaultACL)
        } catch {
            throw ParseError.wrapping(error)
        }
        guard var acl = stored?.defaultACL else { return nil }
        if stored?.useCurrentUser == true, let objectId = client.session.logIn?.objectId {
            acl.setReadAccess(objectId: objectId, value: true)
            acl.setWriteAccess(objectId: objectId, value: true)
        }
        return acl
    }
}
