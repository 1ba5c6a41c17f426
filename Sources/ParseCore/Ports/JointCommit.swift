/// Where the parts of a batch that is one transaction meet.
///
/// Each part comes with what it would write, and waits. When every part has come, or is done without writing,
/// one write does everything and each part gets its share of the outcome. One that fails takes all with it.
package actor JointCommit {
    private struct Waiting {
        let part: Int
        let transaction: Transaction
        /// `nil` for the part that came last, and writes for all.
        let continuation: CheckedContinuation<WriteOutcome, any Error>?
    }

    private var missing: Int
    private var committed: Set<Int> = []
    private var waiting: [Waiting] = []
    private var failure: (any Error)?

    package init(parts: Int) {
        missing = parts
    }

    /// Says that a part is done; it counts if it never came to write.
    package func leave(part: Int, in app: App) async {
        guard committed.insert(part).inserted, failure == nil else { return }
        missing -= 1
        if missing == 0, !waiting.isEmpty { _ = try? await writeAll(in: app) }
    }

    /// Says that a part failed: nothing will be written.
    package func abort(_ error: any Error) {
        guard failure == nil else { return }
        failure = error
        for part in waiting { part.continuation?.resume(throwing: error) }
        waiting = []
    }

    fileprivate func commit(
        part: Int,
        _ transaction: Transaction,
        in app: App
    ) async throws -> WriteOutcome {
        if let failure { throw failure }
        precondition(committed.insert(part).inserted, "a part of a joint commit writes once")
        missing -= 1
        guard missing == 0 else {
            return try await withCheckedThrowingContinuation {
                waiting.append(Waiting(part: part, transaction: transaction, continuation: $0))
            }
        }
        waiting.append(Waiting(part: part, transaction: transaction, continuation: nil))
        return try await writeAll(in: app)
    }

    /// Writes what all parts brought, in the order of the batch.
    ///
    /// - Returns: What the steps of the part did that nobody waits for.
    @discardableResult
    private func writeAll(in app: App) async throws -> WriteOutcome {
        let parts = waiting.sorted { $0.part < $1.part }
        waiting = []
        var joined = Transaction()
        for part in parts { joined.append(part.transaction) }
        do {
            var rest = try await app.commit(joined)
            var own = WriteOutcome(updatedRows: [], counts: [])
            for part in parts {
                let share = rest.removingFirst(part.transaction.plan.steps.count)
                if let continuation = part.continuation {
                    continuation.resume(returning: share)
                } else {
                    own = share
                }
            }
            return own
        } catch {
            failure = error
            for part in parts { part.continuation?.resume(throwing: error) }
            throw error
        }
    }
}

/// One part of a batch, at the meeting of all.
package struct JointCommitPart: Sendable {
    private let meeting: JointCommit
    private let index: Int

    package init(meeting: JointCommit, index: Int) {
        self.meeting = meeting
        self.index = index
    }

    fileprivate func commit(_ transaction: Transaction, in app: App) async throws -> WriteOutcome {
        try await meeting.commit(part: index, transaction, in: app)
    }
}

extension RequestContext {
    /// Writes all of the transaction to disk, or nothing; a command does so at most once.
    ///
    /// In a batch that is one transaction it returns when all parts have come this far.
    ///
    /// - Throws: As ``App/commit(_:)``.
    package func commit(_ transaction: Transaction) async throws -> WriteOutcome {
        guard let jointCommit else { return try await app.commit(transaction) }
        return try await jointCommit.commit(transaction, in: app)
    }
}

extension WriteOutcome {
    fileprivate mutating func removingFirst(_ count: Int) -> WriteOutcome {
        let share = WriteOutcome(
            updatedRows: Array(updatedRows.prefix(count)),
            counts: Array(counts.prefix(count))
        )
        updatedRows.removeFirst(count)
        counts.removeFirst(count)
        return share
    }
}
