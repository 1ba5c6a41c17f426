package import ParseCore
package import ParseWire

/// Where the server keeps its apps and their data: a folder, or a PostgreSQL database that several processes share.
package protocol DataStore: Sendable {
    /// All apps, oldest first.
    func apps() async throws -> [AppRecord]

    /// Makes an app with random keys.
    ///
    /// - Throws: ``ConfigurationError`` for a name that is empty, too long, or holds control characters.
    func createApp(named name: String, at now: Timestamp) async throws -> NewAppKeys

    /// Makes an app where there is none at all; `nil` where there is one. Of several processes that ask at once one
    /// makes it.
    func createFirstApp(named name: String, at now: Timestamp) async throws -> NewAppKeys?

    /// Takes over an app as it was elsewhere.
    ///
    /// - Throws: ``ConfigurationError`` when there is one of that id.
    func add(_ app: AppRecord, at now: Timestamp) async throws

    /// Gives the app another master key; `nil` when there is no such app.
    func rotateMasterKey(ofApp id: String) async throws -> NewAppKeys?

    /// Forgets the app and deletes its data.
    ///
    /// - Returns: Whether there was one.
    func deleteApp(id: String) async throws -> Bool

    /// A number that changes when another process changes the apps.
    func changeCounter() async throws -> Int64

    /// Opens the database of an app, and makes it when there is none.
    func openStorage(ofApp id: String) async throws -> any AppStorage

    /// Whether there are data of an app, also when no record is kept of it.
    func hasStorage(ofApp id: String) async throws -> Bool

    /// Deletes the data of an app that no record is kept of.
    func discardStorage(ofApp id: String) async throws

    /// Keeps up with other processes until the task is cancelled; without it nothing that was read before is relied on.
    func run() async

    func close() async
}

extension DataStore {
    package func run() async {}

    package func app(id: String) async throws -> AppRecord? {
        try await apps().first { $0.id == id }
    }
}

/// The rules of what apps are called.
enum AppName {
    /// The longest name of an app, in bytes.
    private static let limit = 200

    static func check(_ name: String) throws(ConfigurationError) {
        guard !name.isEmpty, name.utf8.count <= limit, name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else {
            throw ConfigurationError(
                "The name of an app has 1 to \(limit) bytes and no control characters."
            )
        }
    }
}
