import Locking
import Dispatch
import Foundation

/// A user and the token that acts for it: one item, never one without the other.
struct LogIn: Sendable {
    var token: String
    /// The user as the server describes it, also with fields the app's model does not have.
    var user: JSONTree

    var objectId: String? {
        user["objectId"]?.string
    }

    /// The id of the anonymous identity, `nil` for a user with a password.
    var anonymousId: String? {
        user["authData"]?["anonymous"]?["id"]?.string
    }
}

/// Who is logged in.
///
/// There are three states: logged in, logged out, and unknown while the store cannot be read. Nothing but a
/// log-in, a log-out or a dead session changes the store, so an unreadable one loses nobody's log-in.
///
/// Log-ins and log-outs take a ticket when they begin; one that ends after a later one is dropped. Answers
/// about the user carry the generation they were asked in; those of an earlier session are dropped.
final class SessionKeeper: Sendable {
    enum Phase: Sendable {
        case unknown(ParseError?)
        case loggedOut
        case loggedIn(LogIn)
    }

    private struct State {
        var phase = Phase.unknown(nil)
        var generation: UInt64 = 0
        var lastTicket: UInt64 = 0
        var appliedTicket: UInt64 = 0
        var isRetired = false
        /// Requests under way that may bring a new token, and when each is given up.
        var tokenChanges: [UUID: DispatchTime] = [:]
    }

    /// The item of the store, in the form older versions of the SDK wrote.
    private struct Stored: Codable {
        var currentUser: JSONTree?
        var sessionToken: String?
    }

    private let store: any ItemStore
    private let state = Locked(State())
    // Held while the store is read or written, so that memory and store change in the same order. Never
    // taken while `state` is locked.
    private let storeLock = NSLock()

    init(store: any ItemStore) {
        self.store = store
    }

    /// Where things stand; reads the store if it has not been read yet.
    func phase() -> Phase {
        let known = state.withLock { $0.phase }
        guard case .unknown = known else { return known }
        storeLock.lock()
        defer { storeLock.unlock() }
        let again = state.withLock { $0.phase }
        guard case .unknown = again else { return again }
        let read = self.read()
        state.withLock { $0.phase = read }
        return read
    }

    private func read() -> Phase {
        do {
            guard let stored = try store.read(Stored.self, for: .user), let user = stored.currentUser,
                let token = stored.sessionToken, user != .null
            else { return .loggedOut }
            return .loggedIn(LogIn(token: token, user: user))
        } catch {
            let cause = ParseError.wrapping(error)
            return .unknown(
                ParseError(
                    code: .otherCause,
                    message: "The stored user cannot be read now, so nobody knows who is logged in: "
                        + cause.message,
                    swift: error
                )
            )
        }
    }

    var logIn: LogIn? {
        guard case .loggedIn(let logIn) = phase() else { return nil }
        return logIn
    }

    /// Counts log-ins and log-outs.
    var generation: UInt64 {
        state.withLock { $0.generation }
    }

    /// Takes the place of a log-in or log-out in the order of such calls.
    func ticket() -> UInt64 {
        state.withLock {
            $0.lastTicket += 1
            return $0.lastTicket
        }
    }

    /// Makes the user the current one.
    ///
    /// - Throws: ``ParseError`` when a later log-in or log-out was faster.
    func logIn(_ logIn: LogIn, ticket: UInt64) throws {
        storeLock.lock()
        defer { storeLock.unlock() }
        let isInTime = state.withLock { state in
            guard !state.isRetired, ticket > state.appliedTicket else { return false }
            state.appliedTicket = ticket
            state.generation += 1
            state.phase = .loggedIn(logIn)
            return true
        }
        guard isInTime else {
            throw ParseError(
                code: .otherCause,
                message: "Somebody logged in or out while this request was under way; its answer was dropped."
            )
        }
        persist(logIn)
    }

    /// Makes nobody the current user, in memory and in the store; never fails.
    ///
    /// - Returns: Who it was, if that is known.
    @discardableResult
    func logOut(ticket: UInt64) -> LogIn? {
        storeLock.lock()
        defer { storeLock.unlock() }
        if case .unknown = state.withLock({ $0.phase }) {
            let read = self.read()
            state.withLock { $0.phase = read }
        }
        let (old, isInTime): (LogIn?, Bool) = state.withLock { state in
            guard !state.isRetired, ticket > state.appliedTicket else { return (nil, false) }
            state.appliedTicket = ticket
            return (Self.leave(&state), true)
        }
        if isInTime { removeStored() }
        return old
    }

    /// Says that a request is sent whose answer may bring a new token.
    ///
    /// Until ``settle(_:)`` or the end of the time, an error 209 is put down to that and ends nothing: the
    /// server may have made the new token already while the answer is on its way.
    func expectNewToken(within seconds: TimeInterval) -> UUID {
        let change = UUID()
        state.withLock { $0.tokenChanges[change] = .now() + seconds }
        return change
    }

    /// Says that the answer is there.
    func settle(_ change: UUID?) {
        guard let change else { return }
        state.withLock { $0.tokenChanges[change] = nil }
    }

    /// Logs out if `token` is still the current one, and tells the app.
    func end(token: String, because error: ParseError) {
        storeLock.lock()
        let stored = self.read()
        let ended: LogIn? = state.withLock { state in
            let now = DispatchTime.now()
            state.tokenChanges = state.tokenChanges.filter { $0.value > now }
            guard !state.isRetired, case .loggedIn(let logIn) = state.phase, logIn.token == token,
                state.tokenChanges.isEmpty
            else { return nil }
            if case .loggedIn(let other) = stored, other.token != token {
                // Another process of the app logged in anew, or changed the password.
                state.generation += 1
                state.phase = stored
                return nil
            }
            return Self.leave(&state)
        }
        if ended != nil { removeStored() }
        storeLock.unlock()
        if let ended {
            SessionEventHub.shared.send(.invalidated(userId: ended.objectId ?? "", error: error))
        }
    }

    /// Logs out if the user of that generation is the one that was deleted.
    func forget(objectId: String, generation: UInt64) {
        storeLock.lock()
        defer { storeLock.unlock() }
        let left: LogIn? = state.withLock { state in
            guard !state.isRetired, state.generation == generation, case .loggedIn(let logIn) = state.phase,
                logIn.objectId == objectId
            else { return nil }
            return Self.leave(&state)
        }
        if left != nil { removeStored() }
    }

    /// Changes what is known of the current user, if it is still that user in that generation.
    func update(objectId: String, generation: UInt64, _ change: (inout LogIn) -> Void) {
        storeLock.lock()
        defer { storeLock.unlock() }
        let (old, new): (LogIn?, LogIn?) = state.withLock { state in
            guard !state.isRetired, state.generation == generation, case .loggedIn(let old) = state.phase,
                old.objectId == objectId
            else { return (nil, nil) }
            var logIn = old
            change(&logIn)
            state.phase = .loggedIn(logIn)
            return (old, logIn)
        }
        guard let old, let new, old.user != new.user || old.token != new.token else { return }
        // Another process may have logged out or in since: what it stored is newer.
        if storedToken(isStill: old.token) { persist(new) }
    }

    /// Stops all changes: another client has taken over.
    func retire() {
        storeLock.lock()
        state.withLock { $0.isRetired = true }
        storeLock.unlock()
    }

    private static func leave(_ state: inout State) -> LogIn? {
        state.generation += 1
        defer { state.phase = .loggedOut }
        guard case .loggedIn(let logIn) = state.phase else { return nil }
        return logIn
    }

    private func storedToken(isStill token: String) -> Bool {
        do {
            return try store.read(Stored.self, for: .user)?.sessionToken == token
        } catch {
            // Unreadable is not changed.
            return true
        }
    }

    private func persist(_ logIn: LogIn) {
        report {
            try store.write(Stored(currentUser: logIn.user, sessionToken: logIn.token), for: .user)
        }
    }

    private func removeStored() {
        report { try store.remove(.user) }
    }

    private func report(_ work: () throws -> Void) {
        do {
            try work()
        } catch {
            SessionEventHub.shared.send(.notPersisted(error: .wrapping(error)))
        }
    }
}
