import ParseWire

/// A write plan in the making, with the error each step stands for when it finds no row.
package struct Transaction: Sendable {
    package private(set) var plan: WritePlan
    private var refusals: [Int: ParseError] = [:]

    package init(schemaChanges: [SchemaChange] = []) {
        plan = WritePlan(schemaChanges: schemaChanges, steps: [])
    }

    /// Adds a step.
    ///
    /// - Returns: Its position, by which the outcome tells what it did.
    @discardableResult
    package mutating func add(_ step: WriteStep, orThrow error: ParseError? = nil) -> Int {
        plan.steps.append(step)
        refusals[plan.steps.count - 1] = error
        return plan.steps.count - 1
    }

    package mutating func add(_ steps: [WriteStep]) {
        plan.steps += steps
    }

    /// Says what the write makes out of date; kept copies are dropped before the commit returns.
    package mutating func notify(_ notice: ChangeNotice) {
        if !plan.notices.contains(notice) { plan.notices.append(notice) }
    }

    /// Puts the steps of another behind these.
    package mutating func append(_ other: Transaction) {
        let offset = plan.steps.count
        plan.schemaChanges += other.plan.schemaChanges
        plan.steps += other.plan.steps
        plan.notices += other.plan.notices
        for (step, error) in other.refusals { refusals[step + offset] = error }
    }

    fileprivate func refusal(ofStep step: Int) -> ParseError? {
        refusals[step]
    }
}

extension App {
    /// Writes all of it to disk, or nothing.
    ///
    /// - Throws: ``ParseError`` for what the caller can be told; ``StorageError`` for what only the log may.
    package func commit(_ transaction: Transaction) async throws -> WriteOutcome {
        do {
            let outcome = try await storage.write(transaction.plan)
            for notice in transaction.plan.notices { forget(notice) }
            return outcome
        } catch .outcomeUnknown {
            // Perhaps it was done.
            for notice in transaction.plan.notices { forget(notice) }
            throw StorageError.outcomeUnknown
        } catch .noMatch(let step) {
            throw transaction.refusal(ofStep: step) ?? ParseError.objectNotFound
        } catch {
            throw Self.translated(error)
        }
    }

    /// Runs a read and translates its errors.
    package func reading<Result>(_ read: () async throws(StorageError) -> Result) async throws -> Result {
        do {
            return try await read()
        } catch {
            throw Self.translated(error)
        }
    }

    /// Drops what was kept and is out of date.
    package func forget(_ notice: ChangeNotice) {
        switch notice {
        case .user(let id): sessions.invalidate(userID: id)
        case .roles, .everything: sessions.invalidateAll()
        }
    }

    private static func translated(_ error: StorageError) -> any Error {
        switch error {
        case .duplicate(.username): ParseError.usernameTaken
        case .duplicate(.email): ParseError.emailTaken
        case .duplicate(.providerAccount): ParseError.accountAlreadyLinked
        case .duplicate(.objectID), .duplicate(.field), .duplicate(.other): ParseError.duplicateValue
        case .schemaConflict(let conflict): conflict.parseError
        case .refused(let refusal): refusal
        // The app was deleted, or the server is about to end, while the request was on its way.
        case .overloaded, .closed: ParseError.overloaded
        case .unavailable: ParseError.databaseUnavailable
        case .unknownClass(let name): ParseError.unknownClass(name)
        case .classNotEmpty(let name, let count): ParseError.classNotEmpty(name, count: count)
        case .noMatch, .failed, .outcomeUnknown: error
        }
    }
}

extension ParseError {
    static func classNotEmpty(_ name: String, count: Int) -> ParseError {
        ParseError(
            .schemaOperation,
            "Class \(name) is not empty, contains \(count) objects, cannot drop schema."
        )
    }

    /// The database cannot be reached at the moment.
    package static var databaseUnavailable: ParseError {
        var error = ParseError(.internalServerError, "The database cannot be reached. Try again shortly.")
        error.httpStatus = 503
        error.retryAfterSeconds = 1
        return error
    }

    /// The database has more work queued than it takes on.
    package static var overloaded: ParseError {
        var error = ParseError(.requestLimitExceeded, "The server is busy. Try again shortly.")
        error.httpStatus = 503
        error.retryAfterSeconds = 1
        return error
    }
}
