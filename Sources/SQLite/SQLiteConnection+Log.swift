import CSQLite
import CSQLiteShims

/// What a connection of a ``SQLiteDatabase`` tells about the write-ahead log.
// SAFETY: touched only by the thread that uses the connection: SQLite calls the hooks from inside calls.
final class CommitHooks: @unchecked Sendable {
    /// Pages in the write-ahead log after the last commit.
    fileprivate(set) var logPages = 0
    /// Whether a COMMIT is ours; any other becomes a rollback.
    var commitIsAllowed = true
}

extension SQLiteConnection {
    /// Reports commits to `hooks`, which must outlive the connection.
    func install(_ hooks: CommitHooks) {
        // SAFETY: the caller keeps `hooks` alive for longer than the connection.
        let argument = Unmanaged.passUnretained(hooks).toOpaque()
        sqlite3_wal_hook(
            handle,
            { argument, _, _, pages in
                guard let argument else { return SQLITE_OK }
                Unmanaged<CommitHooks>.fromOpaque(argument).takeUnretainedValue().logPages = Int(pages)
                return SQLITE_OK
            },
            argument
        )
        sqlite3_commit_hook(
            handle,
            { argument in
                guard let argument else { return 0 }
                return Unmanaged<CommitHooks>.fromOpaque(argument).takeUnretainedValue().commitIsAllowed
                    ? 0 : 1
            },
            argument
        )
    }

    enum CheckpointMode: Sendable {
        /// Copies what it can without making anyone wait.
        case passive
        /// Waits for readers of old pages, then makes the next write start at the log's beginning.
        case restart
        /// As `restart`, and empties the log file.
        case truncate
    }

    /// Copies pages of the write-ahead log into the main file.
    ///
    /// - Returns: The pages in the log and how many of them have been copied.
    func checkpoint(_ mode: CheckpointMode) throws(SQLiteError) -> (logPages: Int, copiedPages: Int) {
        guard let handle else { throw .closed }
        var logPages: Int32 = 0
        var copiedPages: Int32 = 0
        let cMode =
            switch mode {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .restart: SQLITE_CHECKPOINT_RESTART
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        let code = sqlite3_wal_checkpoint_v2(handle, nil, cMode, &logPages, &copiedPages)
        guard code == SQLITE_OK else { throw SQLiteError(code: code, connection: handle, statement: nil) }
        return (Int(logPages), Int(copiedPages))
    }
}
