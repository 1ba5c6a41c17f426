package import Cryptography
import Locking

/// Sessions that were read lately, by the hash of their token.
///
/// Bounded. A user's entries are dropped together, before the reply of the log-out, password change or
/// deletion that ends them leaves. A read that was under way at that moment must not bring an entry back: it
/// takes a ``Ticket`` before it reads and fills with it, and a ticket from before an invalidation of that user
/// is refused.
package final class SessionCache: Sendable {
    /// The moment at which a read began.
    package struct Ticket: Sendable {
        fileprivate let sequence: UInt64
    }

    private let shards: [Shard]
    private let log = Locked(InvalidationLog())

    /// - Parameter capacity: About how many sessions are kept; at most twice as many.
    package init(capacity: Int) {
        let count = 8
        shards = (0..<count).map { _ in Shard(capacity: max(1, capacity / count)) }
    }

    package func session(tokenHash: Digest256) -> AuthenticatedSession? {
        shard(of: tokenHash).state.withLock { $0.session(tokenHash) }
    }

    /// To be taken before the database is read.
    package func ticket() -> Ticket {
        Ticket(sequence: log.withLock { $0.sequence })
    }

    /// Keeps the session, unless its user was invalidated since the ticket was taken.
    ///
    /// - Returns: Whether it was kept.
    @discardableResult
    package func insert(_ session: AuthenticatedSession, _ ticket: Ticket) -> Bool {
        shard(of: session.tokenHash).state.withLock { state in
            // Asked while the shard is held: an invalidation that is logged later also sweeps it later.
            guard log.withLock({ $0.accepts(ticket.sequence, session.userID) }) else { return false }
            return state.insert(session)
        }
    }

    /// Forgets all sessions of the user, also those that are being read at this moment.
    package func invalidate(userID: String) {
        log.withLock { $0.record(userID) }
        for shard in shards { shard.state.withLock { $0.remove(userID: userID) } }
    }

    /// Forgets all sessions of everybody, also those that are being read at this moment.
    package func invalidateAll() {
        log.withLock { $0.recordAll() }
        for shard in shards { shard.state.withLock { $0.removeAll() } }
    }

    /// How many sessions are kept.
    package var count: Int {
        shards.reduce(0) { $0 + $1.state.withLock { $0.count } }
    }

    private func shard(of hash: Digest256) -> Shard {
        shards[hash.withUnsafeBytes { Int($0[0]) } % shards.count]
    }
}

private final class Shard: Sendable {
    let state: Locked<ShardState>

    init(capacity: Int) {
        state = Locked(ShardState(capacity: capacity))
    }
}

/// Two generations: what is used moves to the young one; when that is full the old one is dropped whole.
private struct ShardState {
    /// What the young generation of a shard may hold, in bytes; a session that would take a quarter of it is not kept.
    static let byteLimit = 8 << 20
    let capacity: Int
    var youngBytes = 0
    var young: [Digest256: AuthenticatedSession] = [:]
    var old: [Digest256: AuthenticatedSession] = [:]
    var hashesByUser: [String: Set<Digest256>] = [:]

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int {
        young.count + old.count
    }

    mutating func session(_ hash: Digest256) -> AuthenticatedSession? {
        if let session = young[hash] { return session }
        guard let session = old.removeValue(forKey: hash) else { return nil }
        young[hash] = session
        youngBytes += Self.cost(of: session)
        ageIfFull()
        return session
    }

    /// The row and its encoding, roughly.
    static func cost(of session: AuthenticatedSession) -> Int {
        1024 + 8 * session.encodedUser.count
    }

    mutating func insert(_ session: AuthenticatedSession) -> Bool {
        let cost = Self.cost(of: session)
        guard cost < Self.byteLimit / 4 else { return false }
        old[session.tokenHash] = nil
        if young.updateValue(session, forKey: session.tokenHash) == nil { youngBytes += cost }
        hashesByUser[session.userID, default: []].insert(session.tokenHash)
        ageIfFull()
        return true
    }

    mutating func remove(userID: String) {
        guard let hashes = hashesByUser.removeValue(forKey: userID) else { return }
        for hash in hashes {
            young[hash] = nil
            old[hash] = nil
        }
    }

    mutating func removeAll() {
        young = [:]
        old = [:]
        hashesByUser = [:]
        youngBytes = 0
    }

    private mutating func ageIfFull() {
        guard young.count > capacity || youngBytes > Self.byteLimit else { return }
        for (hash, session) in old {
            hashesByUser[session.userID]?.remove(hash)
            if hashesByUser[session.userID]?.isEmpty == true { hashesByUser[session.userID] = nil }
        }
        old = young
        young = [:]
        youngBytes = 0
    }
}

/// Which users were invalidated lately, and when by a running number.
///
/// Bounded in the same way as the cache: what is forgotten moves the floor up, and a ticket from below the
/// floor is refused for every user, so that forgetting can cost a cache fill but never a stale entry.
private struct InvalidationLog {
    static let capacity = 4096
    var sequence: UInt64 = 0
    var floor: UInt64 = 0
    var startOfRecent: UInt64 = 0
    var recent: [String: UInt64] = [:]
    var older: [String: UInt64] = [:]

    mutating func record(_ userID: String) {
        sequence += 1
        recent[userID] = sequence
        guard recent.count > Self.capacity else { return }
        older = recent
        floor = startOfRecent
        startOfRecent = sequence
        recent = [:]
    }

    mutating func recordAll() {
        sequence += 1
        floor = sequence
        startOfRecent = sequence
        recent = [:]
        older = [:]
    }

    func accepts(_ ticket: UInt64, _ userID: String) -> Bool {
        guard ticket >= floor else { return false }
        let last = recent[userID] ?? older[userID] ?? 0
        return last <= ticket
    }
}
