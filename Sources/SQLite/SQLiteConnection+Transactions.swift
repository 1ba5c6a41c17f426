extension SQLiteConnection {
    /// Runs `body` in a transaction that takes the write lock at once; in a savepoint when one is open.
    ///
    /// Commits when `body` returns, rolls back when it throws.
    package func transaction<T>(_ body: () throws -> T) throws -> T {
        guard !isInTransaction else { return try savepoint(body) }
        try run("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Runs `body` in a savepoint, so that its changes are undone when it throws and the ones before stay.
    package func savepoint<T>(_ body: () throws -> T) throws -> T {
        try run("SAVEPOINT nested")
        do {
            let result = try body()
            try run("RELEASE nested")
            return result
        } catch {
            // Some errors (a full disk) roll the whole transaction back, and the savepoint is gone with it.
            if isInTransaction {
                try run("ROLLBACK TO nested")
                try run("RELEASE nested")
            }
            throw error
        }
    }

    /// Undoes the open transaction, if there is one.
    func rollBack() {
        guard isInTransaction else { return }
        // It can only fail when SQLite has rolled back on its own.
        _ = try? run("ROLLBACK")
    }
}
