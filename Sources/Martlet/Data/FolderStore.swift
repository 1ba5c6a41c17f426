import EventLoop
package import ParseCore
import ParseSQLite
package import ParseWire

/// Apps and data in a folder: a control database, and a database for each app.
package final class FolderStore: DataStore {
    private let folder: DataFolder
    private let control: ControlDatabase
    /// Opening a database blocks, so it leaves the event loop.
    private let openers = BlockingPool(name: "open", threads: 1, queueLimit: 4096)

    /// - Throws: ``ConfigurationError`` for a folder that holds something else, or cannot be used.
    package init(_ folder: DataFolder) throws(ConfigurationError) {
        self.folder = folder
        try folder.prepare()
        control = try ControlDatabase(folder)
    }

    package func apps() throws -> [AppRecord] {
        try control.apps()
    }

    package func createApp(named name: String, at now: Timestamp) throws -> NewAppKeys {
        try control.createApp(named: name, at: now)
    }

    package func createFirstApp(named name: String, at now: Timestamp) throws -> NewAppKeys? {
        guard try control.apps().isEmpty else { return nil }
        return try control.createApp(named: name, at: now)
    }

    package func add(_ app: AppRecord, at now: Timestamp) throws {
        try control.add(app, at: now)
    }

    package func rotateMasterKey(ofApp id: String) throws -> NewAppKeys? {
        try control.rotateMasterKey(ofApp: id)
    }

    package func deleteApp(id: String) throws -> Bool {
        let wasThere = try control.deleteApp(id: id)
        if wasThere {
            try folder.removeDatabase(ofApp: id)
            try folder.removeFiles(ofApp: id)
        }
        return wasThere
    }

    package func changeCounter() throws -> Int64 {
        try control.changeCounter()
    }

    package func openStorage(ofApp id: String) async throws -> any AppStorage {
        let path = folder.database(ofApp: id)
        return try await openers.run { try SQLiteAppStorage(path: path) }
    }

    package func hasStorage(ofApp id: String) -> Bool {
        folder.hasDatabase(ofApp: id)
    }

    package func discardStorage(ofApp id: String) throws {
        try folder.removeDatabase(ofApp: id)
    }

    package func close() {
        control.close()
        openers.shutdown()
    }
}
