import JSON
import ParseCore
import ParseWire
import Testing

@Suite struct IdempotencyOptionsTests {
    @Test(arguments: [
        (["users"], "/users", true), (["users"], "users/", true), (["users"], "/users/abc", true),
        (["users$"], "/users/abc", false), (["^users"], "/users", true), (["sers"], "/users", false),
        ([".*"], "/classes/Game", true), ([".*"], "/functions/f", true), ([".*"], "/jobs/j", true),
        ([".*"], "/installations", true), ([".*"], "/login", false), ([".*"], "/schemas/Game", false),
        (["classes/A|classes/B"], "/classes/B", true), (["classes/A|B"], "/classes/B", false),
        (["Classes"], "/Classes/Game", true), ([], "/users", false), (["(("], "/users", false),
        ([".*"], "", false), ([".*"], "///", false),
    ])
    func `a path is covered or not`(_ paths: [String], _ path: String, _ isCovered: Bool) {
        #expect(IdempotencyOptions(paths: paths).covers(path: path) == isCovered)
    }
}

@Suite struct ClaimRequestTests {
    private let claim = ClaimRequest(requestID: "r", ttl: 300)

    @Test func `an id is free again after its time, swept or not`() async throws {
        let test = try TestApp()
        try await claim.run(in: test.app)
        test.clock.advance(seconds: 299)
        await expectRefusal(.duplicateRequest, "Duplicate request") { try await claim.run(in: test.app) }
        test.clock.advance(seconds: 1)
        try await claim.run(in: test.app)
        await expectRefusal(.duplicateRequest, "Duplicate request") { try await claim.run(in: test.app) }
        #expect(try await test.rows(SystemClasses.idempotency).count == 1)
    }

    @Test func `an id that was withdrawn is free`() async throws {
        let test = try TestApp()
        try await claim.run(in: test.app)
        await claim.withdraw(in: test.app)
        try await claim.run(in: test.app)
    }

    @Test func `a sweep takes what is over and leaves the rest`() async throws {
        let test = try TestApp()
        #expect(try await SweepRequests().run(in: test.app) == 0)
        for index in 0..<600 {
            try await ClaimRequest(requestID: "old\(index)", ttl: 10).run(in: test.app)
        }
        try await claim.run(in: test.app)
        test.clock.advance(seconds: 10)
        #expect(try await SweepRequests().run(in: test.app) == 600)
        #expect(try await test.rows(SystemClasses.idempotency).count == 1)
    }
}
