/// A user of the app.
///
/// Any struct that conforms shows the same user; the fields that a struct does not declare are kept all
/// the same.
public protocol ParseUser: ParseObject {
    /// The name the user logs in with.
    var username: String? { get set }
    /// The email address.
    var email: String? { get set }
    /// Whether the address was verified; only the server sets it.
    var emailVerified: Bool? { get }
    /// The password, for sending only: it is never in a value that comes from this module.
    var password: String? { get set }
    /// The identities at other providers. Values that are no strings on the server appear as JSON text.
    var authData: [String: [String: String]?]? { get set }
}

extension ParseUser {
    /// The name of the class on the server.
    public static var className: String { "_User" }

    /// Who is logged in on this device, `nil` for nobody.
    ///
    /// It asks no server: the user is found again after a restart of the app. It is also `nil` before
    /// `initialize` and while the store cannot be read; ``current()`` tells these apart. The first read may
    /// wait for the store, the later ones cost decoding the user.
    public internal(set) static var current: Self? {
        get { try? UserCalls.current(Self.self) }
        set {
            // Log-ins and log-outs are the only ways to change it; this setter exists for its signature.
            _ = newValue
        }
    }

    /// Who is logged in on this device.
    ///
    /// - Throws: ``ParseError``, with code 206 when nobody is logged in; other codes when that cannot be
    ///   known: `initialize` was not called, the store cannot be read, or the stored user does not fit this
    ///   type.
    public static func current() async throws -> Self {
        try await UserCalls.onStateQueue { try UserCalls.current(Self.self) }
    }

    /// The session token of the current user, whatever user this is; `nil` when nobody is logged in.
    public var sessionToken: String? {
        ParseClient.current?.session.logIn?.token
    }

    /// The session token of the current user.
    ///
    /// - Throws: ``ParseError``, with code 206 when nobody is logged in.
    public static func sessionToken() async throws -> String {
        try await UserCalls.onStateQueue { try UserCalls.logIn().token }
    }
}
