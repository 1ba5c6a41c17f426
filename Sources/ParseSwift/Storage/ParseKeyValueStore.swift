import Foundation

/// A place of your own for the user, the installation and a few smaller things.
///
/// The value for the key `_currentUser` contains the session token: keep it as you would keep a password.
/// `get` must tell apart "nothing there" (`nil`) and "cannot be read now" (throw): after a throw the
/// module neither logs anybody out nor overwrites the value by itself. Calls come one at a time.
public protocol ParseKeyValueStore {
    /// Removes the value.
    mutating func delete(valueFor key: String) throws
    /// Removes all values.
    mutating func deleteAll() throws
    /// Reads a value, `nil` when there is none.
    mutating func get<T: Decodable>(valueFor key: String) throws -> T?
    /// Stores a value.
    mutating func set<T: Encodable>(_ object: T, for key: String) throws
}
