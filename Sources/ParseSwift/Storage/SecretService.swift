#if os(Linux)
    import CSecretService
    import Dispatch
    import Foundation
    import Locking

    /// The desktop's password store, if there is one that answers.
    ///
    /// Whether there is one is decided once per process by storing something: a lookup cannot tell a locked
    /// store from an empty one. A service that does not answer within two seconds is given up for the life
    /// of the process, together with the thread that waits for it.
    ///
    /// `PARSE_SWIFT_SECRET_SERVICE=off` in the environment turns it off.
    final class SecretService: Sendable {
        static let shared = SecretService()

        private struct State {
            var isUsable: Bool?
            var isGivenUp = false
        }

        private let limit: DispatchTimeInterval
        private let state = Locked(State())
        // One call at a time; a call that hangs keeps this queue's thread, which is then left behind.
        private let queue = DispatchQueue(label: "ParseSwift.secret-service")
        private let isDisabled: Bool
        private let beforeCall: @Sendable () -> Void

        init(
            limit: DispatchTimeInterval = .seconds(2),
            isDisabled: Bool = ProcessInfo.processInfo.environment["PARSE_SWIFT_SECRET_SERVICE"] == "off",
            beforeCall: @escaping @Sendable () -> Void = {}
        ) {
            self.limit = limit
            self.isDisabled = isDisabled
            self.beforeCall = beforeCall
        }

        /// Whether something can be stored; the first call tries, which takes 10 to 50 ms, at most 2 s.
        func isUsable() -> Bool {
            guard !isDisabled else { return false }
            if let known = state.withLock({ $0.isUsable }) { return known }
            let isUsable = probe()
            state.withLock { $0.isUsable = $0.isGivenUp ? false : isUsable }
            return isUsable
        }

        /// Whether something can be stored at this moment.
        func probe() -> Bool {
            let name = SecretName(service: "ParseSwift probe", application: "probe", account: "probe")
            do {
                try store("probe", name, label: "ParseSwift probe")
                try clear(name)
                return true
            } catch {
                return false
            }
        }

        func store(_ secret: String, _ name: SecretName, label: String) throws {
            try run { error in
                name.withC { martlet_secret_store($0, label, secret, error, Self.errorSize) }
            }
        }

        /// The secret, `nil` when there is none or the store is locked.
        func lookup(_ name: SecretName) throws -> String? {
            let found = Locked<String?>(nil)
            try run { error in
                name.withC { name in
                    var secret: UnsafeMutablePointer<CChar>?
                    let result = martlet_secret_lookup(name, &secret, error, Self.errorSize)
                    if let secret {
                        // SAFETY: the C function gives a string that ends with zero, or NULL.
                        found.withLock { $0 = String(cString: secret) }
                        martlet_secret_free(secret)
                    }
                    return result
                }
            }
            return found.withLock { $0 }
        }

        func clear(_ name: SecretName) throws {
            try run { error in name.withC { martlet_secret_clear($0, error, Self.errorSize) } }
        }

        private static let errorSize: UInt = 512

        /// Runs a call of the C shim on the helper thread and waits for it, at most for the limit.
        private func run(
            _ call: @escaping @Sendable (UnsafeMutablePointer<CChar>?) -> martlet_secret_result
        ) throws {
            guard !isDisabled, !state.withLock({ $0.isGivenUp }) else {
                throw StoreError("The Secret Service does not answer.")
            }
            let done = DispatchSemaphore(value: 0)
            let failure = Locked<StoreError?>(nil)
            queue.async { [beforeCall] in
                beforeCall()
                var message = [CChar](repeating: 0, count: Int(Self.errorSize))
                // SAFETY: the pointer is used only during the call.
                let result = message.withUnsafeMutableBufferPointer { call($0.baseAddress) }
                if result != MARTLET_SECRET_OK {
                    let text = String(
                        decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
                        as: UTF8.self
                    )
                    failure.withLock {
                        $0 = StoreError(
                            result == MARTLET_SECRET_NO_LIBRARY
                                ? "libsecret is not installed." : "The Secret Service refused: \(text)"
                        )
                    }
                }
                done.signal()
            }
            guard done.wait(timeout: .now() + limit) == .success else {
                state.withLock {
                    $0.isGivenUp = true
                    $0.isUsable = false
                }
                throw StoreError("The Secret Service does not answer.")
            }
            if let failure = failure.withLock({ $0 }) { throw failure }
        }
    }

    /// Which secret is meant.
    struct SecretName: Sendable {
        var service: String
        var application: String
        var account: String

        func withC<Result>(_ body: (martlet_secret_name) -> Result) -> Result {
            // SAFETY: the three pointers are used only during `body`.
            service.withCString { service in
                application.withCString { application in
                    account.withCString { account in
                        body(
                            martlet_secret_name(service: service, application: application, account: account)
                        )
                    }
                }
            }
        }
    }
#endif
