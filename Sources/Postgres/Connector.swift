import CPQ
import EventLoop

/// Opens connections on threads of its own.
///
/// libpq resolves host names and computes the password proof on the calling thread, which takes milliseconds at
/// best: neither belongs on a loop.
enum Connector {
    private static let threads = BlockingPool(name: "pg-connect", threads: 4, queueLimit: 256)
    /// Apart, so that a cancellation does not wait for a connection to a server that is down.
    private static let cancelThreads = BlockingPool(name: "pg-cancel", threads: 2, queueLimit: 256)

    /// A connection that is ready for use, in non-blocking pipeline mode.
    static func connect(_ configuration: PostgresConfiguration) async throws(PostgresError) -> OpenHandle {
        do {
            return try await threads.run { try open(configuration) }
        } catch let error as PostgresError {
            throw error
        } catch is CancellationError {
            throw .cancelled
        } catch {
            throw PostgresError(.overloaded, "too many connections are being opened")
        }
    }

    /// Asks the server to give up what the connection is doing, and returns when it has heard.
    ///
    /// A failure is not told: the statement then ends by itself.
    static func cancel(_ token: CancelToken) async {
        try? await cancelThreads.run { token.send() }
    }

    private static func open(_ configuration: PostgresConfiguration) throws(PostgresError) -> OpenHandle {
        let parameters = Parameters(configuration)
        // What comes after the URL wins over it.
        guard let handle = parameters.withPointers({ PQconnectdbParams($0, $1, 1) }) else {
            throw PostgresError(.unavailable, "out of memory")
        }
        let connection = OpenHandle(handle)
        guard PQstatus(handle) == CONNECTION_OK else {
            throw PostgresError(.unavailable, connection.message)
        }
        guard PQparameterStatus(handle, "server_encoding").map({ String(cString: $0) }) == "UTF8" else {
            throw PostgresError(.unavailable, "the encoding of the database is not UTF8")
        }
        // By default libpq prints notices.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
            throw PostgresError(.unavailable, connection.message)
        }
        return connection
    }
}

/// A connection of libpq, closed with the last reference to it.
// SAFETY: made on one thread and then handed to a loop, the only one to use it.
final class OpenHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { PQfinish(pointer) }

    var message: String {
        PQerrorMessage(pointer).map { String(cString: $0) } ?? ""
    }
}

/// What it takes to cancel a statement, from any thread.
// SAFETY: libpq allows PQcancel from any thread; the token is freed with its last reference only.
final class CancelToken: @unchecked Sendable {
    private let pointer: OpaquePointer?

    init(_ connection: OpenHandle) { pointer = PQgetCancel(connection.pointer) }

    deinit { PQfreeCancel(pointer) }

    func send() {
        var buffer = [CChar](repeating: 0, count: 256)
        _ = PQcancel(pointer, &buffer, Int32(buffer.count))
    }
}

/// Names and values as libpq takes them.
private struct Parameters {
    private let names: [String]
    private let values: [String]

    init(_ configuration: PostgresConfiguration) {
        let connectSeconds = max(2, (configuration.connectTimeout.wholeMilliseconds + 999) / 1000)
        let list: [(String, String)] = [
            ("connect_timeout", "\(connectSeconds)"),
            ("keepalives", "1"), ("keepalives_idle", "2"), ("keepalives_interval", "1"),
            ("keepalives_count", "3"),
            ("tcp_user_timeout", "\(configuration.deadPeerTimeout.wholeMilliseconds)"),
            ("fallback_application_name", configuration.applicationName),
            ("dbname", configuration.url),
            ("client_encoding", "UTF8"),
        ]
        names = list.map(\.0)
        values = list.map(\.1)
    }

    func withPointers<R>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<UnsafePointer<CChar>?>?) -> R
    ) -> R {
        names.withCStrings { names in values.withCStrings { body(names, $0) } }
    }
}

extension [String] {
    /// Lends the texts as C strings in a list that ends with a null pointer.
    fileprivate func withCStrings<R>(_ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R) -> R {
        var bytes: [CChar] = []
        let offsets = map { text in
            defer { bytes += text.utf8CString }
            return bytes.count
        }
        // SAFETY: the pointers lead into `bytes`, which lives until `body` has returned.
        return bytes.withUnsafeBufferPointer { buffer in
            body(offsets.map { offset in buffer.baseAddress.map { $0 + offset } } + [nil])
        }
    }
}
