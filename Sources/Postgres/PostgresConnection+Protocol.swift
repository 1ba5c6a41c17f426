import CPQ

// MARK: Sending

extension PostgresConnection {
    /// Puts a segment into libpq's buffer.
    ///
    /// - Returns: Whether libpq took everything; if not, the connection cannot go on.
    func send(_ segment: Segment, on pointer: OpaquePointer) -> Bool {
        segment.cancellationsBefore = cancellations
        return sendDeallocations(on: pointer) && sendStatements(of: segment, on: pointer)
    }

    private func sendStatements(of segment: Segment, on pointer: OpaquePointer) -> Bool {
        for statement in segment.statements {
            guard statement.isReusable else {
                guard sendOnce(statement, on: pointer) else { return false }
                expected.append(.executed(statement, nil, segment))
                continue
            }
            guard let plan = plan(for: statement, of: segment, on: pointer) else { return false }
            guard execute(plan, statement.parameters, on: pointer) else { return false }
            expected.append(.executed(statement, plan, segment))
        }
        guard PQpipelineSync(pointer) == 1 else { return false }
        expected.append(.sync(segment))
        return true
    }

    /// The prepared statement, which the server is asked to make if there is none; `nil` when that cannot be sent.
    private func plan(
        for statement: PostgresStatement,
        of segment: Segment,
        on pointer: OpaquePointer
    ) -> PreparedStatement? {
        if let known = prepared.find(statement.sql) { return known }
        let plan = prepared.add(statement.sql)
        guard PQsendPrepare(pointer, plan.name, statement.sql, 0, nil) == 1 else { return nil }
        expected.append(.prepared(plan, segment))
        return plan
    }

    private func execute(
        _ plan: PreparedStatement,
        _ parameters: [PostgresValue],
        on pointer: OpaquePointer
    ) -> Bool {
        BoundParameters(parameters).withPointers { values, lengths, formats in
            PQsendQueryPrepared(
                pointer,
                plan.name,
                Int32(parameters.count),
                values,
                lengths,
                formats,
                1
            ) == 1
        }
    }

    private func sendOnce(_ statement: PostgresStatement, on pointer: OpaquePointer) -> Bool {
        BoundParameters(statement.parameters).withPointers { values, lengths, formats in
            PQsendQueryParams(
                pointer,
                statement.sql,
                Int32(statement.parameters.count),
                nil,
                values,
                lengths,
                formats,
                1
            ) == 1
        }
    }

    /// Has the server forget evicted statements, each on its own account.
    ///
    /// Within a transaction that has failed they would be refused and stay for ever.
    private func sendDeallocations(on pointer: OpaquePointer) -> Bool {
        guard expected.isEmpty, PQtransactionStatus(pointer) == PQTRANS_IDLE else { return true }
        for name in prepared.takeEvicted() {
            // Our own names: a letter and digits.
            guard PQsendQueryParams(pointer, "DEALLOCATE \(name)", 0, nil, nil, nil, nil, 1) == 1,
                PQpipelineSync(pointer) == 1
            else { return false }
            expected.append(.deallocated)
            expected.append(.sync(Segment([], effect: .reads) { _ in }))
        }
        return true
    }
}

/// Parameters as libpq takes them.
private struct BoundParameters {
    private var bytes: [UInt8] = []
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    init(_ parameters: [PostgresValue]) {
        offsets.reserveCapacity(parameters.count)
        for parameter in parameters {
            let start = bytes.count
            parameter.appendText(to: &bytes)
            lengths.append(Int32(clamping: bytes.count - start))
            bytes.append(0)
            offsets.append(parameter == .null ? nil : start)
            formats.append(parameter.isBinary ? 1 : 0)
        }
    }

    func withPointers<R>(
        _ body: (
            UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
        ) -> R
    ) -> R {
        // SAFETY: libpq copies the values before it returns; the pointers lead into `bytes`.
        bytes.withUnsafeBytes { buffer in
            let start = buffer.bindMemory(to: CChar.self).baseAddress
            let values = offsets.map { offset in offset.flatMap { offset in start.map { $0 + offset } } }
            return body(values, lengths, formats)
        }
    }
}

// MARK: Receiving

extension PostgresConnection {
    func receive(
        _ result: PostgresResult,
        status: ExecStatusType,
        _ pointer: OpaquePointer,
        for expectation: Expectation
    ) {
        switch (expectation, status) {
        case (.sync(let segment), PGRES_PIPELINE_SYNC):
            expected.popFirst()
            markProgress()
            settle(segment)
        case (.sync(let segment), _):
            // The commit at the end was refused, by a deferred constraint for example.
            segment.add(PostgresError(result: pointer, statement: nil))
        case (.prepared, PGRES_COMMAND_OK), (.deallocated, _): break
        case (.prepared(let plan, let segment), _):
            let error = Self.error(pointer, status, plan.sql)
            plan.failure = error
            prepared.remove(plan, existsOnServer: false)
            segment.add(error)
        case (.executed(_, _, let segment), PGRES_COMMAND_OK),
            (.executed(_, _, let segment), PGRES_TUPLES_OK):
            segment.add(result)
        case (.executed(let statement, let plan, let segment), _):
            let error = Self.error(pointer, status, statement.sql)
            if error.isStalePlan, let plan { prepared.remove(plan, existsOnServer: true) }
            // Somebody else had it prepared, in vain; what was wrong with it then is wrong with it here.
            let isWrong = error.isUnknownStatement && plan?.failure?.dependsOnText == true
            segment.add(isWrong ? plan?.failure ?? error : error)
        }
    }

    private static func error(
        _ pointer: OpaquePointer,
        _ status: ExecStatusType,
        _ sql: String
    ) -> PostgresError {
        switch status {
        case PGRES_PIPELINE_ABORTED: PostgresError(.server, "a statement before failed", statement: sql)
        case PGRES_FATAL_ERROR, PGRES_NONFATAL_ERROR: PostgresError(result: pointer, statement: sql)
        case PGRES_EMPTY_QUERY: PostgresError(.misuse, "the statement is empty", statement: sql)
        default: PostgresError(.misuse, "a kind of statement that is not supported", statement: sql)
        }
    }

    /// Hands a segment's results to its caller, or sends it again if it failed through somebody else's fault.
    private func settle(_ segment: Segment) {
        guard let error = segment.error else { return segment.finish() }
        if segment.isCancelled, error.isTimeout { return segment.fail(.cancelled) }
        // Part of a transaction cannot be repeated alone, and a segment that failed has changed nothing.
        guard segment.effect != .continues, segment.mayBeResent else { return segment.finish() }
        let wasHitByCancellation = error.isTimeout && cancellations != segment.cancellationsBefore
        if wasHitByCancellation || error.isStalePlan || error.isUnknownStatement {
            resend(segment)
        } else {
            segment.finish()
        }
    }
}

extension PostgresError {
    /// The error in a result.
    init(result: OpaquePointer, statement: String?) {
        func field(_ code: Character) -> String? {
            PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
        }
        self.init(
            kind: .server,
            sqlState: field("C") ?? "",
            message: field("M") ?? PQresultErrorMessage(result).map { String(cString: $0) } ?? "",
            constraint: field("n"),
            table: field("t"),
            column: field("c"),
            statement: statement,
            routine: field("R")
        )
    }
}
