public import Foundation

/// A session on the server: one log-in of one user on one installation.
public protocol ParseSession: ParseObject {
    /// The app's type of user.
    associatedtype SessionUser: ParseUser

    /// The token that acts for the user.
    var sessionToken: String { get }
    /// Whose session it is.
    var user: SessionUser { get }
    /// A leftover of old servers; newer ones never send it.
    var restricted: Bool? { get }
    /// How it began: `action` and `authProvider`.
    var createdWith: [String: String] { get }
    /// The installation it belongs to.
    var installationId: String { get }
    /// When it ends.
    var expiresAt: Date { get }
}

extension ParseSession {
    /// The name of the class on the server.
    public static var className: String { "_Session" }
}
