import Locking
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Everything that belongs to one `initialize`: configuration, connection, and who is logged in.
final class ParseClient: Sendable {
    let configuration: ParseConfiguration
    let store: any ItemStore
    let session: SessionKeeper
    let installation: InstallationKeeper
    let snapshots: Snapshots
    let transport: Transport

    // Work that reads or changes the client's state runs here, one piece at a time and never on the
    // caller's thread: the store may be slow. Serial queues of our own always get a thread.
    private let stateQueue: DispatchQueue

    private static let installed = Locked<ParseClient?>(nil)
    private static let stateQueueMark = DispatchSpecificKey<Bool>()
    private static let idleQueue = DispatchQueue(label: "ParseSwift.uninitialized")

    /// The client of the last `initialize`.
    static var current: ParseClient? {
        installed.withLock { $0 }
    }

    /// Whether the calling code runs inside the state queue, where waiting for it would be for ever.
    static var isOnStateQueue: Bool {
        DispatchQueue.getSpecific(key: stateQueueMark) == true
    }

    convenience init(configuration: ParseConfiguration) {
        let store: any ItemStore =
            configuration.keyValueStore.map { KeyValueStoreAdapter($0) } ?? PlatformStore.make(configuration)
        self.init(configuration: configuration, store: store)
    }

    init(configuration: ParseConfiguration, store: any ItemStore, limits: Transport.Limits = .init()) {
        self.configuration = configuration
        self.store = store
        session = SessionKeeper(store: store)
        installation = InstallationKeeper(store: store)
        snapshots = Snapshots()
        transport = Transport(configuration: configuration, limits: limits)
        stateQueue = Self.makeStateQueue()
    }

    private init(_ old: ParseClient, configuration: ParseConfiguration) {
        self.configuration = configuration
        store = old.store
        session = old.session
        installation = old.installation
        snapshots = old.snapshots
        transport = Transport(configuration: configuration, limits: old.transport.limits)
        stateQueue = old.stateQueue
    }

    private static func makeStateQueue() -> DispatchQueue {
        let queue = DispatchQueue(label: "ParseSwift.state")
        queue.setSpecific(key: stateQueueMark, value: true)
        return queue
    }

    /// Makes `client` the current one, and begins to read its store.
    static func install(_ client: ParseClient) {
        let old = installed.withLock { installed in
            let old = installed
            installed = client
            return old
        }
        old?.session.retire()
        old?.transport.invalidate()
        client.stateQueue.async { client.load() }
    }

    /// Undoes `initialize`, for tests of what happens before it.
    static func uninstall() {
        let old = installed.withLock { installed in
            defer { installed = nil }
            return installed
        }
        old?.session.retire()
        old?.transport.invalidate()
    }

    /// Returns when the stored user and installation were read, or could not be.
    func loaded() async {
        await withCheckedContinuation { continuation in
            stateQueue.async {
                self.load()
                continuation.resume()
            }
        }
    }

    private func load() {
        _ = session.phase()
        _ = installation.installationId
    }

    func updateAuthentication(_ authentication: ParseConfiguration.Authentication?) {
        let next = ParseClient(self, configuration: configuration.replacing(authentication: authentication))
        Self.installed.withLock { if $0 === self { $0 = next } }
        transport.invalidate()
    }
}

/// A request, and what its answer means.
struct Exchange<Value: Sendable>: Sendable {
    var request: WireRequest
    /// Reads the answer; runs on the state queue, and only if the call was not cancelled before.
    var read: @Sendable (Reply) throws -> Value
    /// Turns a refusal into a value, or throws what the caller shall get.
    var recover: @Sendable (ParseError) throws -> Value = { throw $0 }
    /// Whether a 209 says that the current session is over.
    var endsInvalidSession = true
    /// Set when the answer may bring a new token; see ``SessionKeeper/expectNewToken(within:)``.
    var tokenChange: UUID?
}

/// What a call has to do, decided on the state queue.
enum Plan<Value: Sendable>: Sendable {
    case answer(Value)
    case exchange(Exchange<Value>)
}

extension ParseClient {
    /// Makes a call of a plan.
    ///
    /// With `always`, the plan is made even for a call that was cancelled before it began.
    static func call<Value>(
        always: Bool = false,
        _ plan: @escaping @Sendable (ParseClient) throws -> Plan<Value>
    ) -> Call<Value> {
        Call { flight, finish in
            let began = flight.begin { finish(.failure($0)) }
            guard began || always else { return }
            guard let client = current else {
                idleQueue.async { if flight.claim() { finish(.failure(.notInitialized)) } }
                return
            }
            client.stateQueue.async { client.run(plan, flight, finish) }
        }
    }

    private func run<Value>(
        _ plan: @Sendable (ParseClient) throws -> Plan<Value>,
        _ flight: Flight,
        _ finish: @escaping @Sendable (Result<Value, ParseError>) -> Void
    ) {
        do {
            switch try plan(self) {
            case .answer(let value):
                if flight.claim() { finish(.success(value)) }
            case .exchange(let exchange):
                let (request, token) = try exchange.request.urlRequest(
                    configuration: configuration,
                    installationId: installation.installationId,
                    currentToken: session.logIn?.token,
                    requestId: UUID().uuidString.lowercased(),
                    idleTimeout: transport.limits.idle
                )
                let safe = exchange.request.isSafeToRepeat
                transport.send(request, safeToRepeat: safe, flight: flight) { outcome in
                    self.stateQueue.async {
                        guard flight.claim() else { return }
                        finish(self.settle(exchange, token, outcome))
                    }
                }
            }
        } catch {
            if flight.claim() { finish(.failure(.wrapping(error))) }
        }
    }

    private func settle<Value>(
        _ exchange: Exchange<Value>,
        _ token: String?,
        _ outcome: Result<(status: Int, contentType: String?, data: Data), ParseError>
    ) -> Result<Value, ParseError> {
        do {
            let tree: JSONTree
            let status: Int
            do {
                let answer = try outcome.get()
                status = answer.status
                tree = try Reply.read(status: status, contentType: answer.contentType, data: answer.data)
            } catch {
                let error = ParseError.wrapping(error)
                session.settle(exchange.tokenChange)
                if error.code == .invalidSessionToken, exchange.endsInvalidSession, let token {
                    session.end(token: token, because: error)
                }
                return .success(try exchange.recover(error))
            }
            defer { session.settle(exchange.tokenChange) }
            return .success(try exchange.read(Reply(status: status, tree: tree, requestToken: token)))
        } catch {
            return .failure(.wrapping(error))
        }
    }

    /// Ends a session on the server that nobody here will use; whether it works does not matter.
    func revoke(token: String) {
        let call = Self.call { _ in
            .exchange(
                Exchange<Void>(
                    request: WireRequest(method: .post, path: ["logout"], session: .token(token)),
                    read: { _ in },
                    endsInvalidSession: false
                )
            )
        }
        call.start(Flight()) { _ in }
    }
}
