import Foundation

/// What the server said about objects, so that a save can send only what changed since.
///
/// An entry belongs to one state of one object: class, id and `updatedAt`. Two answers about the same state
/// may hold different selections of its fields; then a field counts as known only if both had it, so that a
/// field that was merely not asked for is never taken for one that was removed.
final class Snapshots: Sendable {
    private struct Key: Hashable {
        var className: String
        var objectId: String
        var updatedAt: Int64
    }

    private struct State {
        var entries: [Key: [String: JSONTree]] = [:]
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
                state.entries[key] = known.filter { members[$0.key] == $0.value }
                return
            }
            state.entries[key] = members
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
    func known<Object: ParseObject>(_ object: Object) -> [String: JSONTree]? {
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

    /// The members of `mine` that differ from `known`, and a deletion for each that is gone.
    ///
    /// `mayDelete` says whether a member that `mine` lacks was removed by the app, and not merely left out.
    static func between(
        _ known: [String: JSONTree],
        _ mine: [String: JSONTree],
        mayDelete: Bool
    ) -> [String: JSONTree] {
        var changes: [String: JSONTree] = [:]
        for (key, value) in mine where known[key] != value {
            changes[key] = key == "authData" ? providers(known[key], value) : value
        }
        guard mayDelete else { return changes }
        // These three are never removed by leaving them out: servers refuse it, or it would lock people out.
        for key in known.keys where mine[key] == nil && !["username", "authData", "ACL"].contains(key) {
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
