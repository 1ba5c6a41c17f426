import ParseWire

/// Remembers that a request came, so that it is carried out once (Parse REST guide, "Idempotency").
///
/// Of several requests with one id that come at the same moment one is the first.
package struct ClaimRequest: Sendable {
    package let requestID: String
    package let ttl: Double
    private static let idLimit = 255

    package init(requestID: String, ttl: Double) {
        self.requestID = requestID
        self.ttl = ttl
    }

    /// - Throws: ``ParseError`` 159 when a request with that id came within the time it is remembered for, 162 for an
    ///   id that is too long.
    package func run(in app: App) async throws {
        guard requestID.utf8.count <= Self.idLimit else {
            throw ParseError(.invalidValue, "A request id has at most \(Self.idLimit) bytes.")
        }
        let now = app.now
        let className = SystemClasses.idempotency
        let isNew = app.storage.schema[className] == nil
        var transaction = Transaction(schemaChanges: isNew ? SchemaChange.making(className) : [])
        transaction.add(
            .delete(
                RowDeletion(
                    className: className,
                    predicate: .all([row, .compare("expire", .lessOrEqual, .date(now))]),
                    mustMatch: false
                )
            )
        )
        transaction.add(
            .insert(
                className: className,
                StoredRow(
                    objectID: app.environment.newObjectID(),
                    createdAt: now,
                    updatedAt: now,
                    fields: [
                        "reqId": .string(requestID), "expire": .date(now.adding(seconds: ttl)),
                    ]
                )
            )
        )
        do {
            _ = try await app.commit(transaction)
        } catch let error as ParseError where error.code == .duplicateValue {
            throw ParseError(.duplicateRequest, "Duplicate request")
        }
    }

    /// Forgets the request again, because nothing was done and the client is told to send it once more.
    package func withdraw(in app: App) async {
        var transaction = Transaction()
        transaction.add(
            .delete(RowDeletion(className: SystemClasses.idempotency, predicate: row, mustMatch: false))
        )
        // Where this fails too the id is free again after its time.
        _ = try? await app.commit(transaction)
    }

    private var row: Predicate {
        .equal("reqId", .string(requestID))
    }
}
