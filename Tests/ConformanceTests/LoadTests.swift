import JSON
import Locking
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Many clients at once.
@Suite(.serialized)
struct LoadTests {
    @Test func `of fifty sign-ups with one name one succeeds`() async throws {
        let server = try await TestServer.start()
        let replies = try await concurrently(50) { number in
            // The same name but for case.
            let name = number.isMultiple(of: 2) ? "Snoopy" : "snoopy"
            return try await server.connect().call(
                "POST",
                "/users",
                ["username": .string(name), "password": "p"]
            )
        }
        #expect(replies.filter { $0.status == 201 }.count == 1)
        let refused = replies.filter { $0.refusal == "400/202 Account already exists for this username." }
        #expect(refused.count == 49)
        #expect(try await server.api.call("GET", "/users", asMaster: true)["results"]?.arrayValue?.count == 1)
        #expect(
            try await server.api.call("GET", "/sessions", asMaster: true)["results"]?.arrayValue?.count == 1
        )
        await server.process.stop()
    }

    @Test func `ten log-ins on one installation leave one session`() async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice", installation: "phone")
        let tokens = try await concurrently(10) { _ in
            try await server.connect().logIn("alice", alice.password, installation: "phone")
        }
        let living = try await concurrently(10) { number in
            try await server.connect().call("GET", "/users/me", token: tokens[number]).status == 200
        }
        #expect(living.filter { $0 }.count == 1)
        #expect(try await server.api.call("GET", "/users/me", token: alice.token).status == 400)
        #expect(
            try await server.api.call("GET", "/sessions", asMaster: true)["results"]?.arrayValue?.count == 1
        )
        let last = try await server.api.logIn("alice", alice.password, installation: "phone")
        #expect(try await server.api.call("GET", "/users/me", token: last).status == 200)
        await server.process.stop()
    }

    @Test func `fifty log-outs at once end the session once`() async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice")
        let replies = try await concurrently(50) { _ in
            try await server.connect().call("POST", "/logout", token: alice.token)
        }
        #expect(replies.contains { $0.status == 200 })
        #expect(replies.allSatisfy { $0.status == 200 || $0.refusal == "400/209 Invalid session token" })
        #expect(try await server.api.call("GET", "/sessions", asMaster: true)["results"] == [])
        await server.process.stop()
    }

    @Test func `a batch of log-ins does not keep another caller waiting`() async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp("alice")
        let batcher = API(port: server.port, timeoutSeconds: 120)
        let clock = ContinuousClock()
        func logIn() async throws -> Duration {
            try await clock.measure { _ = try await server.api.logIn("alice", alice.password) }
        }
        var alone: [Duration] = []
        for _ in 0..<7 { alone.append(try await logIn()) }
        let single = alone.sorted()[3]

        let part: JSONValue = [
            "method": "POST", "path": "/parse/login",
            "body": ["username": "alice", "password": .string(alice.password)],
        ]
        let isDone = Locked(false)
        async let batch = {
            let reply = try await batcher.call(
                "POST",
                "/batch",
                ["requests": .array(Array(repeating: part, count: 300))]
            )
            isDone.withLock { $0 = true }
            return reply
        }()
        var beside: [Duration] = []
        while beside.count < 41, !isDone.withLock({ $0 }) { beside.append(try await logIn()) }
        let results = try await batch.json?.arrayValue ?? []
        #expect(results.count == 300)
        #expect(results.allSatisfy { $0["success"] != nil })
        // The last may have been answered when the batch was done.
        beside = Array(beside.dropLast().sorted())
        #expect(beside.count == 40)
        let median = try #require(beside.isEmpty ? nil : beside[beside.count / 2])
        #expect(median <= single * 5, "\(median) beside a batch, \(single) alone")
        #expect(beside.last.map { $0 < .seconds(1) } == true)
        await server.process.stop()
    }

    @Test func `clients that do not read their answers keep nobody waiting`() async throws {
        let server = try await TestServer.start()
        let alice = try await server.api.signUp(
            "alice",
            fields: ["note": .string(String(repeating: "x", count: 2000))]
        )
        let request = HTTPClient.request(
            "GET",
            "/parse/users/me",
            headers: server.api.keyHeaders + [("X-Parse-Session-Token", alice.token)]
        )
        let clients = (0..<20).map { _ in HTTPClient(port: server.port, receiveBuffer: 4096) }
        let isOver = Locked(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in clients {
                group.addTask {
                    try await client.use { connection in
                        let requests = Array(repeatElement(request, count: 50).joined())
                        while !isOver.withLock({ $0 }) {
                            if connection.sendWithoutWaiting(requests) < requests.count {
                                pause(milliseconds: 5)
                            }
                        }
                    }
                }
            }
            defer { isOver.withLock { $0 = true } }
            for _ in 0..<30 {
                let began = ContinuousClock.now
                let reply = try await server.connect().call("GET", "/health")
                #expect(reply.status == 200)
                #expect(began.duration(to: .now) < .seconds(1))
            }
        }
        // What is kept for those who do not read is bounded.
        if let memory = residentBytes(server.process.processID) { #expect(memory < 300 << 20) }
        await server.process.stop()
    }

    @Test func `ten thousand connections that are opened and dropped leave nothing behind`() async throws {
        let server = try await TestServer.start()
        #expect(try await server.api.call("GET", "/health").status == 200)
        // What is opened once for good, such as the source of timers, counts for nothing.
        let before = openDescriptors(server.process.processID).map { $0 + 8 }
        let port = server.port
        for round in 0..<20 {
            await Blocking.run {
                let connections = (0..<500).compactMap { _ in try? RawConnection(port: port) }
                for (number, connection) in connections.enumerated() where number % 3 == 0 {
                    _ = connection.sendWithoutWaiting(Array("GET /hea".utf8))
                }
            }
            if round % 5 == 0 { #expect(try await server.api.call("GET", "/health").status == 200) }
        }
        #expect(try await server.api.call("GET", "/health").status == 200)
        if let before {
            let isBack = await Blocking.run {
                for _ in 0..<500 {
                    if let now = openDescriptors(server.process.processID), now <= before { return true }
                    pause(milliseconds: 10)
                }
                return false
            }
            #expect(isBack, "\(openDescriptors(server.process.processID) ?? -1) descriptors, not \(before)")
        }
        await server.process.stop()
    }

    @Test func `a full queue for passwords is told at once, and reads go on`() async throws {
        try await LocalServer.run(hashQueueLimit: 2) { server in
            let alice = try await server.api.signUp("alice")
            let isDone = Locked(false)
            async let reads = {
                let api = server.connect()
                var slowest = Duration.zero
                var count = 0
                while !isDone.withLock({ $0 }) {
                    let began = ContinuousClock.now
                    let reply = try await api.call("GET", "/users/me", token: alice.token)
                    #expect(reply.status == 200)
                    slowest = max(slowest, began.duration(to: .now))
                    count += 1
                }
                return (slowest, count)
            }()
            let replies = try await concurrently(60) { _ in
                let began = ContinuousClock.now
                let reply = try await server.connect().call(
                    "POST",
                    "/login",
                    ["username": "alice", "password": .string(alice.password)]
                )
                return (reply, began.duration(to: .now))
            }
            isDone.withLock { $0 = true }
            let refused = replies.filter { $0.0.status == 503 }
            #expect(!refused.isEmpty)
            #expect(replies.contains { $0.0.status == 200 })
            #expect(replies.allSatisfy { $0.0.status == 200 || $0.0.status == 503 })
            for (reply, time) in refused {
                #expect(reply.code == 155)
                #expect(reply.header("Retry-After") == "1")
                #expect(!reply.closes)
                #expect(time < .seconds(2))
            }
            let (slowest, count) = try await reads
            #expect(slowest < .seconds(1))
            #expect(count > 0)
            _ = try await server.api.logIn("alice", alice.password)
        }
    }

    @Test func `what was acknowledged outlives a kill in the middle of sign-ups`() async throws {
        let server = try await TestServer.start()
        let acknowledged = Locked<[String]>([])
        let port = server.port
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<64 {
                group.addTask {
                    let api = API(port: port)
                    for number in 0..<1000 {
                        let name = "user-\(client)-\(number)"
                        guard
                            let reply = try? await api.call(
                                "POST",
                                "/users",
                                ["username": .string(name), "password": .string(name + "-password")]
                            )
                        else { return }
                        guard reply.status == 201 else { throw Unexpected(reply) }
                        acknowledged.withLock { $0.append(name) }
                    }
                }
            }
            group.addTask {
                while acknowledged.withLock({ $0.count }) < 100 {
                    try await Task.sleep(for: .milliseconds(1))
                }
                await server.process.kill()
            }
            try await group.waitForAll()
        }
        let names = acknowledged.withLock { $0 }
        #expect(names.count >= 100)

        let next = try await server.startAgain()
        let rows =
            try await next.api.call("GET", "/users?limit=10000", asMaster: true)["results"]?.arrayValue ?? []
        let stored = rows.compactMap { $0["username"]?.stringValue }
        #expect(Set(stored).count == stored.count)
        #expect(Set(names).subtracting(stored) == [])
        for name in names.suffix(60) { _ = try await next.api.logIn(name, name + "-password") }
        await next.process.stop()
    }
}

/// How many descriptors a process has open; `nil` where the system does not tell.
func openDescriptors(_ process: Int32) -> Int? {
    guard let folder = opendir("/proc/\(process)/fd") else { return nil }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    return count
}

/// The memory of a process; `nil` where the system does not tell.
func residentBytes(_ process: Int32) -> Int? {
    guard let file = fopen("/proc/\(process)/statm", "r") else { return nil }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 256)
    guard fgets(&buffer, 256, file) != nil else { return nil }
    let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return pages.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
}
