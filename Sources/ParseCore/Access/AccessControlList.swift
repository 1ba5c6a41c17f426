package import JSON
import ParseWire

/// Who may read and write one object (Parse REST guide, "Object-Level Access Control").
///
/// Keys are `*` (everybody), a user's object id, or `role:` and a role's name. An object without a list is
/// public; an empty list leaves it to the master key alone.
package struct AccessControlList: Hashable, Sendable {
    package private(set) var readers: [String]
    package private(set) var writers: [String]

    package init(readers: [String] = [], writers: [String] = []) {
        self.readers = readers
        self.writers = writers
    }

    /// What a new user gets: itself, and the public to read it where users are not private.
    package static func ofNewUser(_ userID: String, isPublic: Bool) -> AccessControlList {
        AccessControlList(readers: isPublic ? ["*", userID] : [userID], writers: [userID])
    }

    /// Reads the list of a request; entries that grant nothing are dropped.
    ///
    /// - Throws: ``ParseError``: 123 for an entry that is no object, for a right that is neither `read` nor
    ///   `write` or no boolean, for the key `*unresolved`, and for a key with a control character.
    package init(_ object: JSONObject) throws(ParseError) {
        readers = []
        writers = []
        for member in object {
            guard let rights = member.value.objectValue, member.key != "*unresolved", !member.key.isEmpty,
                member.key.utf8.allSatisfy({ $0 >= 0x20 })
            else { throw ParseError(.invalidACL, "Invalid ACL.") }
            for right in rights {
                guard right.key == "read" || right.key == "write",
                    right.value.boolValue != nil || right.value.isNull
                else { throw ParseError(.invalidACL, "Invalid ACL.") }
            }
            if rights["read"]?.boolValue == true { readers.append(member.key) }
            if rights["write"]?.boolValue == true { writers.append(member.key) }
        }
    }

    package var isLocked: Bool {
        readers.isEmpty && writers.isEmpty
    }

    /// Lets that key read and write, whatever the list said.
    package mutating func grantAll(to key: String) {
        if !readers.contains(key) { readers.append(key) }
        if !writers.contains(key) { writers.append(key) }
    }

    package func allowsReading(by group: [String]) -> Bool {
        readers.contains { group.contains($0) }
    }

    package func allowsWriting(by group: [String]) -> Bool {
        writers.contains { group.contains($0) }
    }

    package var json: JSONValue {
        // Sets, because a list may have as many entries as fit into a request.
        let reading = Set(readers)
        let writing = Set(writers)
        let read = readers.map { key in
            JSONObject.Member(
                key: key,
                value: writing.contains(key) ? ["read": true, "write": true] : ["read": true]
            )
        }
        let writtenOnly = writers.lazy.filter { !reading.contains($0) }
            .map { JSONObject.Member(key: $0, value: ["write": true]) }
        return .object(JSONObject(read + writtenOnly))
    }
}
