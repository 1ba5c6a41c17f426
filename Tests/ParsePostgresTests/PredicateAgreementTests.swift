import ParseCore
import ParsePostgres
import StorageTestSupport
import TestSupport
import Testing

/// Random queries on random rows, asked of PostgreSQL and of core's matcher.
@Suite(.enabled(if: PostgresServer.isInstalled)) struct PredicateAgreementTests {
    @Test(.timeLimit(.minutes(5)))
    func `twenty thousand random queries find the same rows in the same order`() async throws {
        let seed = RandomSource.seed(for: "PredicateAgreement")
        // Several small worlds show more than one large one.
        var telling = 0
        for part in 0..<10 {
            let test = try await TestDatabase()
            var run = try await AgreementRun(test.storage, seed: seed &+ UInt64(part))
            try await run.ask(2000)
            telling += run.telling
        }
        #expect(telling > 5000)
    }
}
