package import EventLoop
import Locking

/// Hears what is notified on channels, over a connection of its own.
///
/// What is notified while it is not listening is lost: whoever relies on it must not trust what he remembers until
/// it listens again. A server that does not answer is noticed within ``probeInterval`` and as much again.
package final class PostgresListener: Sendable {
    private struct State {
        var isListening = false
        var failures = 0
    }

    package let channels: [String]
    private let configuration: PostgresConfiguration
    private let loop: EventLoop
    private let probeInterval: Duration
    private let onNotification: @Sendable (_ channel: String, _ payload: String) -> Void
    private let onChange: @Sendable (_ isListening: Bool) -> Void
    private let state = Locked(State())

    /// Makes a listener; ``run()`` has it listen.
    ///
    /// - Parameters:
    ///   - configuration: Where to and how.
    ///   - channels: What it listens on.
    ///   - loop: Serves its connection and calls the handlers.
    ///   - probeInterval: How often it asks whether the server is there, and how long it waits for the answer.
    ///   - onNotification: Gets the payloads, in order.
    ///   - onChange: Told when it begins to listen and when it has ceased to.
    package init(
        _ configuration: PostgresConfiguration,
        channels: [String],
        loop: EventLoop,
        probeInterval: Duration = .seconds(1),
        onNotification: @escaping @Sendable (_ channel: String, _ payload: String) -> Void,
        onChange: @escaping @Sendable (_ isListening: Bool) -> Void
    ) {
        var configuration = configuration
        configuration.answerTimeout = probeInterval
        configuration.deadPeerTimeout = probeInterval
        self.configuration = configuration
        self.channels = channels
        self.loop = loop
        self.probeInterval = probeInterval
        self.onNotification = onNotification
        self.onChange = onChange
    }

    /// Whether everything that is notified from now on will be heard, as far as can be known.
    package var isListening: Bool { state.withLock { $0.isListening } }

    /// Listens, and connects again when the connection ends, until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            do {
                let connection = try await PostgresConnection.open(
                    configuration,
                    on: loop,
                    onNotification: onNotification,
                    onClose: { _ in self.set(isListening: false) }
                )
                await listen(on: connection)
                await connection.close()
                // Once more, should it have ended while it was about to be said that it listens.
                set(isListening: false)
            } catch {
                state.withLock { $0.failures += 1 }
            }
            await pause()
        }
    }

    private func listen(on connection: PostgresConnection) async {
        do throws(PostgresError) {
            let statements = channels.map {
                PostgresStatement("LISTEN \(PostgresIdentifier.quoted($0))", isReusable: false)
            }
            _ = try await connection.run(statements, effect: .reads)
            state.withLock { $0.failures = 0 }
            set(isListening: connection.isOpen)
            while !(await connection.waitUntilClosed(timeout: probeInterval)), !Task.isCancelled {
                _ = try await connection.run([PostgresStatement("SELECT 1")], effect: .reads)
            }
        } catch {
            // The connection is useless, whatever the reason; `run()` makes another.
            state.withLock { $0.failures += 1 }
        }
    }

    private func set(isListening: Bool) {
        let hasChanged = state.withLock { state in
            defer { state.isListening = isListening }
            return state.isListening != isListening
        }
        if hasChanged { onChange(isListening) }
    }

    /// Nothing after a connection that worked, then 50 ms, doubled with each failure up to 1 s.
    private func pause() async {
        let failures = state.withLock { $0.failures }
        guard failures > 0 else { return }
        let most = min(1000.0, 50 * Double(1 << min(failures - 1, 10)))
        try? await Task.sleep(for: .milliseconds(Int64(most * Double.random(in: 0.5...1))))
    }
}
