import CSQLite

/// The arguments of a call of an SQL function; valid only inside the closure they are handed to.
///
/// Positions count from 0; one out of range is our own mistake and stops the process.
package struct SQLiteArguments: ~Copyable {
    // SAFETY: SQLite keeps the arguments until the function returns, and this value cannot be kept longer.
    private let values: UnsafeMutablePointer<OpaquePointer?>?
    package let count: Int

    fileprivate init(values: UnsafeMutablePointer<OpaquePointer?>?, count: Int) {
        self.values = values
        self.count = count
    }

    package func value(_ index: Int) -> SQLiteValue {
        let argument = argument(index)
        switch sqlite3_value_type(argument) {
        case SQLITE_INTEGER: return .integer(sqlite3_value_int64(argument))
        case SQLITE_FLOAT: return .real(sqlite3_value_double(argument))
        case SQLITE_TEXT: return .text(withText(index) { String(decoding: $0, as: UTF8.self) } ?? "")
        case SQLITE_BLOB:
            let start = sqlite3_value_blob(argument)
            let length = start == nil ? 0 : Int(sqlite3_value_bytes(argument))
            return .blob([UInt8](UnsafeRawBufferPointer(start: start, count: length)))
        default: return .null
        }
    }

    /// The object that a parameter brought; `nil` for any other argument, and for an object of another type.
    package func object<T: AnyObject>(_ index: Int, as type: T.Type) -> T? {
        guard let pointer = sqlite3_value_pointer(argument(index), SQLiteObject.tag) else { return nil }
        // SAFETY: the tag says what it is, and the parameter holds it while the statement runs.
        return Unmanaged<SQLiteObject>.fromOpaque(pointer).takeUnretainedValue().value as? T
    }

    package func double(_ index: Int) -> Double { sqlite3_value_double(argument(index)) }

    package func int64(_ index: Int) -> Int64 { sqlite3_value_int64(argument(index)) }

    package func isNull(_ index: Int) -> Bool { sqlite3_value_type(argument(index)) == SQLITE_NULL }

    /// Lends the UTF-8 bytes of a text without copying them, other kinds converted; `nil` for NULL.
    package func withText<R>(_ index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R? {
        let argument = argument(index)
        guard let start = sqlite3_value_text(argument) else { return nil }
        // SAFETY: valid until the argument is converted, which cannot happen before `body` returns.
        return try body(UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(argument))))
    }

    private func argument(_ index: Int) -> OpaquePointer? {
        precondition(index >= 0 && index < count, "The call has no argument at this position.")
        return values?[index]
    }
}

extension SQLiteConnection {
    /// Makes a function callable from SQL, in place of one with the same name and number of arguments.
    ///
    /// `REGEXP` is written `a REGEXP b` and calls `regexp(b, a)`. The function may be used in indexes when
    /// it always gives the same result for the same arguments (`isDeterministic`); it cannot be called from
    /// views and triggers of a schema that somebody else wrote. An error makes the statement fail, and
    /// is the ``SQLiteError/cause`` of what the statement throws.
    ///
    /// - Throws: ``SQLiteError`` when the name is too long or statements are running.
    package func addFunction(
        _ name: String,
        argumentCount: Int,
        isDeterministic: Bool = true,
        _ body: @escaping (borrowing SQLiteArguments) throws -> SQLiteValue
    ) throws(SQLiteError) {
        guard let handle else { throw .closed }
        let flags = SQLITE_UTF8 | (isDeterministic ? SQLITE_DETERMINISTIC : 0)
        // SAFETY: SQLite releases the box with the last argument, also when the registration fails.
        let box = Unmanaged.passRetained(FunctionBox(body, failure))
        let code = sqlite3_create_function_v2(
            handle,
            name,
            Int32(clamping: argumentCount),
            flags,
            box.toOpaque(),
            { context, count, values in
                let arguments = SQLiteArguments(values: values, count: Int(count))
                guard let pointer = sqlite3_user_data(context) else { return }
                let box = Unmanaged<FunctionBox>.fromOpaque(pointer).takeUnretainedValue()
                do {
                    setResult(try box.body(arguments), context)
                } catch {
                    box.failure.keep(error)
                    sqlite3_result_error(context, "a function failed", -1)
                }
            },
            nil,
            nil,
            { pointer in
                if let pointer { Unmanaged<FunctionBox>.fromOpaque(pointer).release() }
            }
        )
        guard code == SQLITE_OK else { throw SQLiteError(code: code, connection: handle, statement: nil) }
    }

    /// Runs `body`; statements that still run when the time is over end with ``SQLiteError/isInterrupted``.
    ///
    /// An interrupted statement that writes rolls back the whole transaction, as SQLite does. Limits do not
    /// nest: the inner one ends the outer one.
    package func withTimeLimit<T>(_ limit: Duration, _ body: () throws -> T) throws -> T {
        let box = DeadlineBox(ContinuousClock.now + limit)
        defer {
            sqlite3_progress_handler(handle, 0, nil, nil)
            withExtendedLifetime(box) {}
        }
        // SAFETY: the handler is taken away again before the box goes. A thousand steps of the
        // virtual machine take microseconds.
        sqlite3_progress_handler(
            handle,
            1000,
            { pointer in
                guard let pointer else { return 0 }
                let box = Unmanaged<DeadlineBox>.fromOpaque(pointer).takeUnretainedValue()
                return ContinuousClock.now >= box.deadline ? 1 : 0
            },
            Unmanaged.passUnretained(box).toOpaque()
        )
        return try body()
    }
}

private final class FunctionBox {
    let body: (borrowing SQLiteArguments) throws -> SQLiteValue
    let failure: FunctionFailure

    init(_ body: @escaping (borrowing SQLiteArguments) throws -> SQLiteValue, _ failure: FunctionFailure) {
        self.body = body
        self.failure = failure
    }
}

/// What a function of a connection threw last, until the statement that called it has thrown.
final class FunctionFailure {
    private var error: (any Error)?

    func keep(_ error: any Error) {
        self.error = error
    }

    func take() -> (any Error)? {
        defer { error = nil }
        return error
    }
}

private final class DeadlineBox {
    let deadline: ContinuousClock.Instant
    init(_ deadline: ContinuousClock.Instant) { self.deadline = deadline }
}

private func setResult(_ value: SQLiteValue, _ context: OpaquePointer?) {
    switch value {
    case .null, .object: sqlite3_result_null(context)
    case .integer(let number): sqlite3_result_int64(context, number)
    case .real(let number): sqlite3_result_double(context, number)
    case .text(var text):
        text.withUTF8 { bytes in
            guard let start = bytes.baseAddress else {
                sqlite3_result_text(context, "", 0, transient)
                return
            }
            start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                sqlite3_result_text64(context, $0, sqlite3_uint64(bytes.count), transient, UInt8(SQLITE_UTF8))
            }
        }
    case .blob(let bytes):
        guard !bytes.isEmpty else {
            sqlite3_result_zeroblob(context, 0)
            return
        }
        bytes.withUnsafeBytes {
            sqlite3_result_blob64(context, $0.baseAddress, sqlite3_uint64($0.count), transient)
        }
    }
}
