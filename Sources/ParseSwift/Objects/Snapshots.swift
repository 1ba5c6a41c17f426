import Locking
import Foundation

/// What the server said about objects, so that a save can send only what changed since.
///
/// An entry belongs to one state of one object: class, id and `updatedAt`. Two answers about the same state
/// may hold different selections of its fields. A value that lacks a field may then descend from the answer
/// without it, so only fields that all answers had can be removed by setting them to `nil`: a field that was
/// merely not asked for must never be taken for one that was removed.
final class Snapshots: Sendable {
    /// The fields of one state, as they are sent.
    struct Known: Sendable {
        var members: [String: JSONTree]
        /// Those whose absence means that the app removed them.
        var removable: Set<String>

        init(_ members: [String: JSONTree]) {
            self.members = members
            removable = Set(members.keys)
        }

        func joined(with other: [String: JSONTree]) -> Known {
            var joined = self
            joined.removable.formIntersection(other.keys)
            for (key, value) in other {
                if let mine = members[key], mine != value {
                    // Two values for one state: what the server has is anybody's guess, so it is sent.
                    joined.members[key] = nil
                    joined.removable.remove(key)
                } else {
                    joined.members[key] = value
                }
            }
            return joined
        }
    }

    private struct Key: Hashable {
        var className: String
        var objectId: String
        var updatedAt: Int64
    }

    private struct State {
        var entries: [Key: Known] = [:]
        var order: [Key] = []
        var oldest = 0
    }

    /// How many states are remembered; of older ones all properties that are not `nil` are sent.
    private let capacity = 4096
    private let state = Locked(State())

    func record<Object: ParseObject>(_ object: Object) {
        guard let key = key(object), let members = Self.members(object) else { return }
        state.withLock { state in
            if let known = state.entries[key] {
                state.entries[key] = known.joined(with: members)
                return
            }
            state.entries[key] = Known(members)
            state.order.append(key)
            while state.order.count - state.oldest > capacity {
                state.entries[state.order[state.oldest]] = nil
                state.oldest += 1
            }
            if state.oldest > capacity {
                state.order.removeFirst(state.oldest)
                state.oldest = 0
            }
        }
    }

    /// The fields of the state that `object` descends from, as they are sent.
    func known<Object: ParseObject>(_ object: Object) -> Known? {
        guard let key = key(object) else { return nil }
        return state.withLock { $0.entries[key] }
    }

    static func members<Object: ParseObject>(_ object: Object) -> [String: JSONTree]? {
        try? ParseEncoder().members(of: object, skipping: .object)
    }

    private func key<Object: ParseObject>(_ object: Object) -> Key? {
        guard let objectId = object.objectId, let updatedAt = object.updatedAt else { return nil }
        return Key(
            className: object.className,
            objectId: objectId,
            updatedAt: ParseDate.milliseconds(updatedAt)
        )
    }
}

/// What a save sends.
enum Changes {
    private static let delete: JSONTree = .object(["__op": .string("Delete")])

    /// The members of `mine` that differ from what is known, and a deletion for each that is gone.
    static func between(_ known: Snapshots.Known, _ mine: [String: JSONTree]) -> [String: JSONTree] {
        var changes: [String: JSONTree] = [:]
        for (key, value) in mine where known.members[key] != value {
            changes[key] = key == "authData" ? providers(known.members[key], value) : value
        }
        // These three are never removed by leaving them out: servers refuse it, or it would lock people out.
        for key in known.removable where mine[key] == nil && !["username", "authData", "ACL"].contains(key) {
            changes[key] = delete
        }
        return changes
    }

    // A provider that did not change is not echoed: some servers would check its token again.
    private static func providers(_ known: JSONTree?, _ mine: JSONTree) -> JSONTree {
        guard let old = known?.object, let new = mine.object else { return mine }
        return .object(new.filter { old[$0.key] != $0.value })
    }

    /// The user after a save: the sent changes applied, then what the server answered.
    static func apply(_ sent: [String: JSONTree], _ reply: [String: JSONTree], to user: JSONTree) -> JSONTree
    {
        var members = user.object ?? [:]
        for (key, value) in sent where key != "password" {
            if value == delete {
                members[key] = nil
            } else if key == "authData", let changed = value.object {
                var providers = members[key]?.object ?? [:]
                for (name, provider) in changed {
                    providers[name] = provider == .null ? nil : provider
                }
                members[key] = providers.isEmpty ? nil : .object(providers)
            } else {
                members[key] = value
            }
        }
        for (key, value) in reply where !answerOnly.contains(key) {
            members[key] = value == delete ? nil : value
        }
        return .object(members)
    }

    /// Members of an answer that are no fields of the object.
    static let answerOnly: Set<String> = ["sessionToken", "authDataResponse", "__type", "className"]
}
