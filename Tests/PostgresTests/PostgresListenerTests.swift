import Locking
import Postgres
import TestSupport
import Testing

@Suite(.enabled(if: PostgresServer.isInstalled), .timeLimit(.minutes(2)))
struct PostgresListenerTests {
    /// A listener under way, and what it heard.
    private final class Ear: Sendable {
        let payloads = Locked<[String]>([])
        let changes = Locked<[Bool]>([])
        let listener: PostgresListener
        let task: Task<Void, Never>

        init(_ url: String, channels: [String], application: String = "listener") throws {
            var configuration = PostgresConfiguration(url: url)
            configuration.applicationName = application
            let (payloads, changes) = (payloads, changes)
            let loop = try Loops.all()[1]
            let listener = PostgresListener(
                configuration,
                channels: channels,
                loop: loop,
                probeInterval: .milliseconds(500),
                onNotification: { channel, payload in payloads.withLock { $0.append("\(channel):\(payload)") }
                },
                onChange: { isListening in changes.withLock { $0.append(isListening) } }
            )
            self.listener = listener
            task = Task(executorPreference: loop) { await listener.run() }
        }

        func wait(until isListening: Bool, within limit: Duration = .seconds(5)) async throws -> Bool {
            let start = ContinuousClock.now
            while listener.isListening != isListening {
                guard start.duration(to: .now) < limit else { return false }
                try await Task.sleep(for: .milliseconds(10))
            }
            return true
        }

        func end() async {
            task.cancel()
            await task.value
        }
    }

    private static let odd = "Ch\"annel' ü"

    @Test func `payloads arrive in order, on channels of any name`() async throws {
        let url = try await PostgresServer.shared().makeDatabase()
        let ear = try Ear(url, channels: ["a", Self.odd])
        #expect(try await ear.wait(until: true))
        let pool = try await PostgresPool.test(url)
        for number in 0..<50 {
            let channel = number % 2 == 0 ? "a" : Self.odd
            try await pool.run([
                PostgresStatement("SELECT pg_notify($1, $2)", [.text(channel), .text("\(number)")])
            ])
        }
        // Rolled back, so never heard.
        _ = await failure {
            try await pool.run([
                PostgresStatement("SELECT pg_notify('a', 'never')"), PostgresStatement("SELECT 1/0"),
            ])
        }
        try await Task.sleep(for: .milliseconds(300))
        let expected = (0..<50).map { "\($0 % 2 == 0 ? "a" : Self.odd):\($0)" }
        #expect(ear.payloads.withLock { $0 } == expected)
        await ear.end()
        #expect(!ear.listener.isListening)
        #expect(ear.changes.withLock { $0 } == [true, false])
        await pool.close()
    }

    @Test func `it says when it is deaf, and listens again after the server has come back`() async throws {
        let server = try await PostgresServer()
        let ear = try Ear(server.url(), channels: ["a"])
        #expect(try await ear.wait(until: true))
        try await server.kill()
        #expect(try await ear.wait(until: false, within: .seconds(1)))
        try await Task.sleep(for: .milliseconds(300))
        try await server.start()
        #expect(try await ear.wait(until: true))
        try await server.sql("SELECT pg_notify('a', 'again')")
        try await Task.sleep(for: .milliseconds(200))
        #expect(ear.payloads.withLock { $0 } == ["a:again"])
        #expect(ear.changes.withLock { $0 } == [true, false, true])
        await ear.end()
    }

    @Test func `a server process that has stopped is noticed by the probe`() async throws {
        let server = try await PostgresServer.shared()
        let ear = try Ear(server.url(), channels: ["a"], application: "frozen")
        #expect(try await ear.wait(until: true))
        try await server.suspend(application: "frozen")
        #expect(try await ear.wait(until: false, within: .seconds(2)))
        try await server.resume(application: "frozen")
        #expect(try await ear.wait(until: true))
        await ear.end()
    }
}
