import Locking
import Dispatch
public import Foundation

/// Something that happened to the session without the app asking for it.
public enum ParseSessionEvent: Sendable {
    /// The server no longer accepts the session of the current user, who is now logged out on this device.
    ///
    /// `userId` is the `objectId` of the user it was.
    case invalidated(userId: String, error: ParseError)
    /// The user is logged in (or out) as asked, but that could not be written to the store, so the next
    /// start of the app may not know it.
    case notPersisted(error: ParseError)
}

extension Notification.Name {
    /// Posted on the main queue when the server no longer accepts the session; the object is the
    /// ``ParseError``.
    ///
    /// The asynchronous form of the same is ``sessionEvents()``.
    public static let parseSessionInvalidated = Notification.Name("ParseSwift.sessionInvalidated")
}

/// What happens to the session from now on.
///
/// An error 209 for the current session logs the user out on this device and is reported here: show the
/// log-in form again. Each caller gets a stream of its own that ends only with the loop over it; at most
/// the 16 newest events wait in it.
///
/// ```swift
/// for await event in ParseSwift.sessionEvents() {
///     if case .invalidated = event { showLogIn() }
/// }
/// ```
public func sessionEvents() -> AsyncStream<ParseSessionEvent> {
    SessionEventHub.shared.stream()
}

final class SessionEventHub: Sendable {
    static let shared = SessionEventHub()
    private let listeners = Locked<[UUID: AsyncStream<ParseSessionEvent>.Continuation]>([:])

    func stream() -> AsyncStream<ParseSessionEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ParseSessionEvent.self,
            bufferingPolicy: .bufferingNewest(16)
        )
        let id = UUID()
        listeners.withLock { $0[id] = continuation }
        continuation.onTermination = { [self] _ in
            listeners.withLock { $0[id] = nil }
        }
        return stream
    }

    func send(_ event: ParseSessionEvent) {
        let current = listeners.withLock { Array($0.values) }
        for listener in current {
            listener.yield(event)
        }
        if case .invalidated(_, let error) = event {
            DispatchQueue.main.async {
                NotificationCenter.default.post(name: .parseSessionInvalidated, object: error)
            }
        }
    }
}
