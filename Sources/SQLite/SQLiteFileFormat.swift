/// What marks a database file as ours, and which layout its tables have.
package struct SQLiteFileFormat: Sendable {
    /// A number of our own in the head of the file (`PRAGMA application_id`).
    package let applicationID: Int64
    /// The layout of the tables (`PRAGMA user_version`); a later version of the program may raise it.
    package let version: Int64

    package init(applicationID: Int64, version: Int64) {
        self.applicationID = applicationID
        self.version = version
    }

    /// Why a file is not to be touched.
    package enum Mismatch: Error, Sendable {
        /// It is another program's, or for another purpose.
        case foreign
        /// A later version of the program wrote it.
        case later
    }

    /// Makes the tables of an empty file, and checks the mark of any other, in one transaction.
    ///
    /// In a file of an earlier version `upgrade`, which gets the version found, brings the tables to this one.
    ///
    /// The file is in WAL mode afterwards, and every commit is on disk.
    ///
    /// - Throws: ``Mismatch``, ``SQLiteError``, and what `create` and `upgrade` throw.
    package func prepare(
        _ connection: SQLiteConnection,
        create: () throws -> Void,
        upgrade: (Int64) throws -> Void = { _ in }
    ) throws {
        try connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL")
        try connection.transaction {
            let mark = try connection.first("PRAGMA application_id") { $0.int64(0) } ?? 0
            let found = try connection.first("PRAGMA user_version") { $0.int64(0) } ?? 0
            let isEmpty = try connection.first("SELECT count(*) FROM sqlite_schema") { $0.int64(0) } == 0
            if isEmpty, mark == 0 {
                try create()
                try connection.execute("PRAGMA application_id=\(applicationID)")
                try connection.execute("PRAGMA user_version=\(version)")
                return
            }
            guard mark == applicationID else { throw Mismatch.foreign }
            guard found <= version else { throw Mismatch.later }
            guard found < version else { return }
            try upgrade(found)
            try connection.execute("PRAGMA user_version=\(version)")
        }
    }
}
