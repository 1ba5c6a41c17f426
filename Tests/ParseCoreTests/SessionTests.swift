import Cryptography
import JSON
import Locking
import ParseCore
import ParseWire
import Testing

@Suite struct SessionCacheTests {
    private func session(_ number: Int, of user: String, bytes: Int = 0) -> AuthenticatedSession {
        let now = Timestamp(milliseconds: 0)
        return AuthenticatedSession(
            tokenHash: SHA256.hash("token \(number)"),
            sessionID: "s\(number)",
            expiresAt: nil,
            updatedAt: now,
            user: StoredRow(objectID: user, createdAt: now, updatedAt: now),
            roles: [],
            encodedUser: [UInt8](repeating: 0, count: bytes)
        )
    }

    @Test func `what was put in is found until its user is invalidated`() {
        let cache = SessionCache(capacity: 100)
        for number in 0..<3 { #expect(cache.insert(session(number, of: "u"), cache.ticket())) }
        #expect(cache.insert(session(3, of: "v"), cache.ticket()))
        #expect(cache.session(tokenHash: SHA256.hash("token 1"))?.sessionID == "s1")
        cache.invalidate(userID: "u")
        for number in 0..<3 { #expect(cache.session(tokenHash: SHA256.hash("token \(number)")) == nil) }
        #expect(cache.session(tokenHash: SHA256.hash("token 3"))?.sessionID == "s3")
        #expect(cache.count == 1)
    }

    @Test func `large users do not make the cache large`() {
        let cache = SessionCache(capacity: 20_000)
        #expect(!cache.insert(session(0, of: "u", bytes: 1 << 20), cache.ticket()))
        for number in 0..<2000 {
            cache.insert(session(number, of: "u\(number)", bytes: 64 << 10), cache.ticket())
        }
        // Eight shards with two generations of 8 MiB each, at half a megabyte for each of these.
        #expect(cache.count <= 8 * 2 * 17)
        #expect(cache.count > 8)
    }

    @Test func `a ticket from before an invalidation is refused for that user alone`() {
        let cache = SessionCache(capacity: 100)
        let ticket = cache.ticket()
        cache.invalidate(userID: "u")
        #expect(!cache.insert(session(0, of: "u"), ticket))
        #expect(cache.insert(session(1, of: "v"), ticket))
        #expect(cache.insert(session(0, of: "u"), cache.ticket()))
    }

    @Test func `it stays bounded, and keeps what is used`() {
        let cache = SessionCache(capacity: 80)
        cache.insert(session(0, of: "u"), cache.ticket())
        for number in 1..<5000 {
            cache.insert(session(number, of: "u\(number)"), cache.ticket())
            _ = cache.session(tokenHash: SHA256.hash("token 0"))
            guard cache.count <= 2 * 80 + 8 else {
                Issue.record("\(cache.count) sessions after \(number)")
                return
            }
        }
        #expect(cache.session(tokenHash: SHA256.hash("token 0")) != nil)
        #expect(cache.session(tokenHash: SHA256.hash("token 1")) == nil)
        cache.invalidate(userID: "u")
        #expect(cache.session(tokenHash: SHA256.hash("token 0")) == nil)
    }

    /// What is forgotten of old invalidations may cost a fill, never let a stale entry in.
    @Test func `a ticket older than what is remembered is refused for everybody`() {
        let cache = SessionCache(capacity: 100)
        let old = cache.ticket()
        cache.invalidate(userID: "victim")
        for number in 0..<4000 { cache.invalidate(userID: "a\(number)") }
        #expect(!cache.insert(session(0, of: "victim"), old))
        #expect(cache.insert(session(1, of: "bystander"), old))
        for number in 0..<10_000 { cache.invalidate(userID: "b\(number)") }
        #expect(!cache.insert(session(0, of: "victim"), old))
        #expect(!cache.insert(session(2, of: "bystander"), old))
        #expect(cache.insert(session(0, of: "victim"), cache.ticket()))
    }

    @Test func `however many invalidations lie between, a stale ticket never gets in`() {
        for count in [4095, 4096, 4097, 4098, 8191, 8192, 8193, 8194, 8195, 12_289] {
            let cache = SessionCache(capacity: 100)
            let ticket = cache.ticket()
            cache.invalidate(userID: "victim")
            for number in 0..<count { cache.invalidate(userID: "a\(number)") }
            #expect(!cache.insert(session(0, of: "victim"), ticket), "after \(count)")
        }
    }
}

@Suite struct SessionLifeTests {
    @Test func `an unknown or malformed token is refused`() async throws {
        let test = try TestApp()
        for token in ["r:unknown", "unknown", "", "r:", "r:" + String(repeating: "a", count: 300), "r:\0"] {
            await expectRefusal(.invalidSessionToken, "Invalid session token") {
                _ = try await test.app.authenticate(token: token)
            }
        }
    }

    @Test func `the token itself is nowhere in the database`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u")
        let row = try #require(try await test.sessions(of: user.id).first)
        #expect(!String(describing: row).contains(user.token.dropFirst(2)))
        #expect(row.hidden[HiddenField.tokenTail] == .string(String(user.token.suffix(4))))
    }

    @Test(arguments: [false, true])
    func `a session ends when its time is over, also one that is cached`(_ isCached: Bool) async throws {
        let test = try TestApp { $0.sessionLength = 60 }
        let token = try await test.signUp("u").token
        if isCached { _ = try await test.app.authenticate(token: token) }
        test.clock.advance(seconds: 60)
        _ = try await test.app.authenticate(token: token)
        test.clock.advance(seconds: 0.001)
        await expectRefusal(.invalidSessionToken, "Session token is expired.") {
            _ = try await test.app.authenticate(token: token)
        }
        let view = try await CurrentSession().run(in: test.context(.nobody, token: token))
        #expect(view["sessionToken"] == .string(token))
    }

    @Test func `without expiry a session has no end`() async throws {
        let test = try TestApp { $0.expireInactiveSessions = false }
        let token = try await test.signUp("u").token
        test.clock.advance(seconds: 1e9)
        #expect(try await test.app.authenticate(token: token).expiresAt == nil)
    }

    @Test func `a session used in the second half of its life gets a whole new one`() async throws {
        let test = try TestApp {
            $0.sessionLength = 100
            $0.extendSessionOnUse = true
        }
        let user = try await test.signUp("u")
        let start = test.clock.now
        test.clock.advance(seconds: 49)
        _ = try await test.app.authenticate(token: user.token)
        #expect(
            try await test.sessions(of: user.id).first?.fields["expiresAt"]
                == .date(start.adding(seconds: 100))
        )
        test.clock.advance(seconds: 1)
        _ = try await test.app.authenticate(token: user.token)
        #expect(
            try await test.sessions(of: user.id).first?.fields["expiresAt"]
                == .date(start.adding(seconds: 150))
        )
        test.clock.advance(seconds: 90)
        _ = try await test.app.authenticate(token: user.token)
        test.clock.advance(seconds: 101)
        await expectRefusal(.invalidSessionToken, "Session token is expired.") {
            _ = try await test.app.authenticate(token: user.token)
        }
    }

    @Test func `a sweep removes what ended a day ago, in any number, and nothing else`() async throws {
        let test = try TestApp { $0.sessionLength = 60 }
        let old = try await test.signUp("u")
        for _ in 0..<2 { _ = try await test.logIn("u") }
        test.clock.advance(seconds: 86_400 + 59)
        #expect(try await SweepSessions().run(in: test.app) == 0)
        let living = try await test.token("u")
        test.clock.advance(seconds: 2)
        #expect(try await SweepSessions().run(in: test.app) == 3)
        #expect(try await test.sessions(of: old.id).count == 1)
        _ = try await test.app.authenticate(token: living)
    }

    @Test func `log-out ends the session presented, and only that`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u")
        let other = try await test.token("u")
        _ = try await LogOut().run(in: try await test.context(token: user.token))
        await expectRefusal(.invalidSessionToken, "Invalid session token") {
            _ = try await test.app.authenticate(token: user.token)
        }
        _ = try await test.app.authenticate(token: other)
        #expect(try await LogOut().run(in: test.context()) == [:])
        #expect(try await LogOut().run(in: test.context(.master, token: "r:unknown")) == [:])
        _ = try await LogOut().run(in: test.context(.master, token: other))
        #expect(try await test.sessions(of: user.id).isEmpty)
    }

    /// The race that lets a peer's dead tokens live on: a read that began before the log-out fills the cache
    /// after it.
    @Test(.timeLimit(.minutes(2)))
    func `eight readers that never pause do not bring a dead token back`() async throws {
        let test = try TestApp()
        let token = Locked((current: "r:none", stop: false))
        try await test.signUp("u")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    while true {
                        let (current, stop) = token.withLock { $0 }
                        if stop { return }
                        _ = await refusal { _ = try await test.app.authenticate(token: current) }
                        // A cache hit waits for nothing; on two threads eight such loops would let nobody else run.
                        await Task.yield()
                    }
                }
            }
            defer { token.withLock { $0.stop = true } }
            for round in 0..<100 {
                let fresh = try await test.token("u")
                token.withLock { $0.current = fresh }
                let context = try await test.context(token: fresh)
                _ = try await LogOut().run(in: context)
                for attempt in 0..<5 {
                    let error = await refusal { _ = try await test.app.authenticate(token: fresh) }
                    guard error == .invalidSessionToken else {
                        Issue.record("round \(round), attempt \(attempt): the token is alive")
                        return
                    }
                }
            }
        }
    }
}

@Suite struct SessionCommandTests {
    @Test func `reading sessions: each his own, the master all, the maintenance key none`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u")
        let other = try await test.signUp("v")
        func find(_ context: RequestContext, _ parameters: JSONObject = [:]) async throws -> [JSONValue] {
            let reply = try await FindObjects(
                className: SystemClasses.session,
                options: FindOptions(parameters, by: context.principal)
            ).run(
                in: context
            )
            return reply["results"]?.arrayValue ?? []
        }
        for context in [test.context(), test.context(.maintenance)] {
            await expectRefusal(.invalidSessionToken, "Invalid session token") { _ = try await find(context) }
        }
        let own = try await test.context(token: user.token)
        _ = try await test.token("u")
        let rows = try await find(own)
        #expect(rows.count == 2)
        #expect(rows.filter { $0["sessionToken"] == .string(user.token) }.count == 1)
        #expect(rows.allSatisfy { $0["user"]?["objectId"] == .string(user.id) })
        let all = try await find(test.context(.master))
        #expect(all.count == 3)
        #expect(all.allSatisfy { $0["sessionToken"]?.stringValue?.hasPrefix("r:…") == true })
        #expect(
            try await find(test.context(.master), ["where": ["sessionToken": .string(other.token)]]).count
                == 1
        )
        #expect(try await find(own, ["where": ["sessionToken": .string(other.token)]]).isEmpty)
        #expect(
            try await find(
                own,
                ["where": ["$or": [["user": .string(other.id)], ["objectId": ["$exists": true]]]]]
            ).count == 2
        )
        let foreign = try #require(try await test.sessions(of: other.id).first?.objectID)
        await expectRefusal(.objectNotFound, "Object not found.") {
            _ = try await GetObject(
                className: SystemClasses.session,
                objectID: foreign,
                selection: Selection()
            ).run(in: own)
        }
    }

    @Test func `the current session`() async throws {
        let test = try TestApp()
        await expectRefusal(.invalidSessionToken, "Session token required.") {
            _ = try await CurrentSession().run(in: test.context())
        }
        for token in ["r:unknown", "legacy"] {
            await expectRefusal(.invalidSessionToken, "Session token not found.") {
                _ = try await CurrentSession().run(in: test.context(.nobody, token: token))
            }
        }
    }

    @Test func `making a session: for the caller, whatever the body says`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u", installation: "i")
        let other = try await test.signUp("v")
        func create(_ body: JSONObject, _ context: RequestContext) async throws -> JSONObject {
            try await CreateSession(body: body).run(in: context).body
        }
        await expectRefusal(.invalidSessionToken, "Session token required.") {
            _ = try await create([:], test.context())
        }
        await expectRefusal(
            .operationForbidden,
            "read-only masterKey isn't allowed to perform the create operation."
        ) {
            _ = try await create([:], test.context(.readOnlyMaster))
        }
        let own = try await test.context(token: user.token)
        await expectRefusal(.invalidKeyName, "Cannot set ACL on a Session.") {
            _ = try await create(["ACL": [:]], own)
        }
        await expectRefusal(.invalidKeyName, "objectId is an invalid field name.") {
            _ = try await create(["objectId": "x"], own)
        }
        let reply = try await create(
            [
                "user": ["__type": "Pointer", "className": "_User", "objectId": .string(other.id)],
                "sessionToken": "r:mine",
                "createdWith": ["action": "login"], "expiresAt": 5, "note": "x", "installationId": "",
            ],
            own
        )
        #expect(reply["user"]?["objectId"] == .string(user.id))
        #expect(reply["createdWith"] == ["action": "create"])
        #expect(reply["note"] == "x" && reply["createdAt"] == nil && reply["installationId"] == nil)
        let token = try #require(reply["sessionToken"]?.stringValue)
        #expect(token != "r:mine")
        #expect(try await test.app.authenticate(token: token).userID == user.id)
        _ = try await create(["installationId": ""], own)
        _ = try await create(["installationId": "i"], own)
        await expectRefusal(.invalidSessionToken, "Invalid session token") {
            _ = try await test.app.authenticate(token: user.token)
        }
    }

    @Test func `changing a session: only what is the client's`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u")
        let other = try await test.signUp("v")
        let own = try await test.context(token: user.token)
        let id = try #require(try await test.sessions(of: user.id).first?.objectID)
        let foreign = try #require(try await test.sessions(of: other.id).first?.objectID)
        func update(_ id: String, _ body: JSONObject, _ context: RequestContext) async throws {
            _ = try await UpdateSession(sessionID: id, body: body).run(in: context)
        }
        await expectRefusal(.invalidSessionToken, "Session token required.") {
            try await update(id, [:], test.context())
        }
        await expectRefusal(.invalidKeyName, "Cannot set ACL on a Session.") {
            try await update(id, ["ACL": [:]], own)
        }
        let thief: JSONValue = ["__type": "Pointer", "className": "_User", "objectId": .string(other.id)]
        let sneaky: JSONValue = ["__op": "Delete", "objectId": .string(user.id)]
        let refused: [(JSONObject, String)] = [
            (["installationId": "x"], "installationId"), (["sessionToken": "r:x"], "sessionToken"),
            (["user": thief], "user"),
            (["user": nil], "user"), (["user": sneaky], "user"), (["expiresAt": nil], "expiresAt"),
            (["createdWith": [:]], "createdWith"), (["createdWith.action": "login"], "createdWith.action"),
            (["expiresAt.x": 1], "expiresAt.x"),
        ]
        for (body, name) in refused {
            await expectRefusal(.invalidKeyName, "Invalid key name: \(name)") {
                try await update(id, body, own)
            }
        }
        await expectRefusal(.objectNotFound, "Object not found.") {
            try await update(foreign, ["note": "x"], own)
        }
        await expectRefusal(.objectNotFound, "Object not found.") {
            try await update("me", ["note": "x"], own)
        }
        try await update(id, ["note": "x"], own)
        #expect(try await test.sessions(of: user.id).first?.fields["note"] == .string("x"))
    }

    @Test func `a session that the master key gives to another user acts for that one at once`() async throws
    {
        let test = try TestApp()
        let user = try await test.signUp("u")
        let other = try await test.signUp("v")
        let id = try await test.app.authenticate(token: user.token).sessionID
        let pointer: JSONValue = ["__type": "Pointer", "className": "_User", "objectId": .string(other.id)]
        _ = try await UpdateSession(sessionID: id, body: ["user": pointer]).run(in: test.context(.master))
        #expect(try await test.app.authenticate(token: user.token).userID == other.id)
    }

    @Test func `deleting a session`() async throws {
        let test = try TestApp()
        let user = try await test.signUp("u")
        let other = try await test.signUp("v")
        let own = try await test.context(token: user.token)
        let id = try #require(try await test.sessions(of: user.id).first?.objectID)
        let foreign = try #require(try await test.sessions(of: other.id).first?.objectID)
        func delete(_ id: String, _ context: RequestContext) async throws {
            _ = try await DeleteSession(sessionID: id).run(in: context)
        }
        await expectRefusal(.invalidSessionToken, "Invalid session token") {
            try await delete(id, test.context())
        }
        for id in [foreign, "unknown", "me"] {
            await expectRefusal(.objectNotFound, "Object not found for delete.") { try await delete(id, own) }
        }
        await expectRefusal(
            .operationForbidden,
            "read-only masterKey isn't allowed to perform the delete operation."
        ) {
            try await delete(id, test.context(.readOnlyMaster))
        }
        try await delete(id, own)
        await expectRefusal(.invalidSessionToken, "Invalid session token") {
            _ = try await test.app.authenticate(token: user.token)
        }
        _ = try await test.app.authenticate(token: other.token)
    }

    @Test func `a token from before revocable sessions is spent by its upgrade`() async throws {
        let test = try TestApp()
        let body: JSONObject = ["username": "u", "password": "p", "_session_token": "legacy"]
        let id = try #require(
            try await SignUp(body: body).run(in: test.context(.maintenance)).body["objectId"]?.stringValue
        )
        let reply = try await UpgradeSession().run(
            in: test.context(.nobody, token: "legacy", installation: "i")
        )
        let token = try #require(reply["sessionToken"]?.stringValue)
        #expect(try await test.app.authenticate(token: token).userID == id)
        #expect(reply["createdWith"] == ["action": "upgrade"])
        for token in ["legacy", "other"] {
            await expectRefusal(.invalidSessionToken, "invalid legacy session token") {
                _ = try await UpgradeSession().run(in: test.context(.nobody, token: token))
            }
        }
        for context in [test.context(), test.context(.master, token: "legacy"), test.context(.master)] {
            await expectRefusal(.objectNotFound, "invalid session") {
                _ = try await UpgradeSession().run(in: context)
            }
        }
    }
}

@Suite struct JointCommitTests {
    private func context(_ test: TestApp, _ meeting: JointCommit, _ index: Int) -> RequestContext {
        var context = test.context()
        context.jointCommit = JointCommitPart(meeting: meeting, index: index)
        return context
    }

    /// Runs sign-ups as parts of one transaction; `nil` stands for a part that only reads.
    private func run(_ names: [String?], in test: TestApp) async -> [Bool] {
        let meeting = JointCommit(parts: names.count)
        return await withTaskGroup(of: (Int, Bool).self) { group in
            for (index, name) in names.enumerated() {
                group.addTask {
                    let context = context(test, meeting, index)
                    do {
                        if let name {
                            _ = try await SignUp(body: ["username": .string(name), "password": "p", "n": 1])
                                .run(in: context)
                        } else {
                            _ = try await test.rows("_User")
                        }
                        await meeting.leave(part: index, in: test.app)
                        return (index, true)
                    } catch {
                        await meeting.abort(error)
                        return (index, false)
                    }
                }
            }
            return await group.reduce(into: [Bool](repeating: false, count: names.count)) { $0[$1.0] = $1.1 }
        }
    }

    @Test(
        arguments: [
            (["a", "b", "c"], [true, true, true], 3), (["a"], [true], 1),
            ([nil, "a", nil], [true, true, true], 1),
            ([nil, nil], [true, true], 0), ([], [], 0),
        ] as [([String?], [Bool], Int)]
    )
    func `all parts are written together`(_ names: [String?], _ outcomes: [Bool], _ rows: Int) async throws {
        let test = try TestApp()
        #expect(await run(names, in: test) == outcomes)
        #expect(try await test.rows("_User").count == rows)
    }

    @Test(arguments: [["a", "", "c"], ["same", "SAME"], ["a", nil, "taken"]] as [[String?]])
    func `one part that fails takes all with it`(_ names: [String?]) async throws {
        let test = try TestApp()
        try await test.signUp("taken")
        let outcomes = await run(names, in: test)
        #expect(outcomes.contains(false))
        #expect(try await test.rows("_User").count == 1)
        #expect(try await test.rows("_Session").count == 1)
        #expect(test.storage.schema["_User"]?.type(of: "n") == nil)
    }

    @Test func `each part hears of its own rows`() async throws {
        let test = try TestApp()
        let users = try await [test.signUp("a", ["n": 1]), test.signUp("b", ["n": 10])]
        let meeting = JointCommit(parts: 2)
        let results = try await withThrowingTaskGroup(of: (Int, JSONValue?).self) { group in
            for (index, user) in users.enumerated() {
                group.addTask {
                    var context = test.context(.master)
                    context.jointCommit = JointCommitPart(meeting: meeting, index: index)
                    let body: JSONObject = ["n": ["__op": "Increment", "amount": 1]]
                    return (index, try await test.update(user.id, body, in: context)["n"])
                }
            }
            return try await group.reduce(into: [Int: JSONValue]()) { $0[$1.0] = $1.1 }
        }
        #expect(results == [0: 2, 1: 11])
    }
}
