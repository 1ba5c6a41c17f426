import Foundation
import Locking
import Testing

@testable import ParseSwift

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension SDK {
    @Suite struct TransportTests {
        @Test(arguments: Form.allCases)
        func `a server that is not there is error 100 with its cause`(form: Form) async throws {
            let url = try closedPort()
            ParseSwift.initialize(
                applicationId: "app",
                serverURL: url,
                keyValueStore: AppStore(recording: RecordingStore())
            )
            let started = Date()
            let error = await User.login(form).error
            #expect(error?.code == .connectionFailed)
            #expect(
                error?.message == "Unable to connect with 127.0.0.1:\(url.port ?? 0): nothing answers there."
            )
            #expect((error?.swift as? URLError)?.code == .cannotConnectToHost)
            #expect(Date().timeIntervalSince(started) < 5)
        }

        @Test(arguments: [
            (403, #"{"error":"unauthorized"}"#, ParseError.Code.unknownError, "unauthorized"),
            (
                500, #"{"code":1,"message":"Internal server error."}"#, .internalServer,
                "Internal server error."
            ),
            (400, #"{"code":105}"#, .invalidKeyName, "The server gave no reason."),
            (429, #"{"code":100,"error":"Too many requests."}"#, .connectionFailed, "Too many requests."),
            (400, #"{"code":4711,"error":"Mine"}"#, .other, "Mine"),
            (
                404, "<html>\n <b>Not Found</b></html>", .unknownError,
                "The server answered with HTTP status 404 and text/x instead of JSON: <html> <b>Not Found</b></html>"
            ),
            (502, "", .connectionFailed, "The server answered with HTTP status 502 and no body."),
            (
                200, "<html>", .unknownError,
                "The server answered with HTTP status 200 and text/x instead of JSON: <html>"
            ),
            (200, #"{"code":141,"error":"Script"}"#, .scriptFailed, "Script"),
            (400, "{}", .unknownError, "The server answered with HTTP status 400."),
        ])
        func `a refusal is an error with the server's words`(
            status: Int,
            body: String,
            code: ParseError.Code,
            message: String
        ) throws {
            _ = try Sandbox { _ in .init(status: status, headers: ["Content-Type": "text/x"], body: body) }
            let error = #expect(throws: ParseError.self) { try User.login(username: "a", password: "b") }
            #expect(error?.code == code)
            #expect(error?.message == message)
            #expect(error?.otherCode == (code == .other ? 4711 : nil))
        }

        @Test func `an object with columns called code and error is no error`() throws {
            _ = try Sandbox { _ in .json(#"{"objectId":"n1","code":7,"error":"x","title":"T"}"#) }
            #expect(try Note(objectId: "n1").fetch().title == "T")
        }

        @Test func `a GET is repeated after 503, a POST only when the server says when, with the same id`()
            throws
        {
            let box = try Sandbox()
            let count = Locked(0)
            box.server.answer { _ in
                let number = count.withLock {
                    $0 += 1
                    return $0
                }
                return number == 1 ? .init(status: 503, body: "") : .json(#"{"objectId":"n1"}"#)
            }
            #expect(try Note(objectId: "n1").fetch().objectId == "n1")
            #expect(count.withLock { $0 } == 2)

            count.withLock { $0 = 0 }
            #expect(throws: ParseError.self) { try Note(title: "T").save() }
            #expect(count.withLock { $0 } == 1)

            box.server.answer { _ in
                let number = count.withLock {
                    $0 += 1
                    return $0
                }
                return number == 2
                    ? .init(status: 429, headers: ["Retry-After": "1"], body: #"{"code":100,"error":"x"}"#)
                    : .json(#"{"objectId":"n1"}"#)
            }
            let started = Date()
            _ = try Note(title: "T").save()
            #expect(Date().timeIntervalSince(started) >= 1)
            let ids = box.server.requests.suffix(2).map { $0.header("X-Parse-Request-Id") }
            #expect(ids[0] != nil && ids[0] == ids[1])
        }

        @Test func `a connection that breaks after a POST is not tried again`() throws {
            let box = try Sandbox { _ in .init(hangsUp: true) }
            let error = #expect(throws: ParseError.self) { try Note(title: "T").save() }
            #expect(error?.code == .connectionFailed)
            #expect(box.server.requests.count == 1)
        }

        @Test func `a server that never answers is given up at the deadline`() throws {
            let box = try Sandbox()
            let gate = Gate()
            defer { gate.open() }
            box.server.answer { _ in .init(gate: gate) }
            for limits in [Transport.Limits(idle: 30, total: 0.5), .init(idle: 0.3, total: 30)] {
                ParseClient.install(
                    ParseClient(
                        configuration: ParseConfiguration(applicationId: "app", serverURL: box.server.url),
                        store: MemoryStore(),
                        limits: limits
                    )
                )
                let started = Date()
                let error = #expect(throws: ParseError.self) { try User.login(username: "a", password: "b") }
                #expect(error?.code == .connectionFailed)
                #expect((error?.swift as? URLError)?.code == .timedOut)
                let duration = Date().timeIntervalSince(started)
                #expect(duration >= 0.4 && duration < 4)
            }
        }

        @Test func `nothing is cached, and each call reaches the server`() throws {
            let box = try Sandbox { request in
                var answer = MockServer.Response.json(#"{"objectId":"n1","title":"\#(request.query)"}"#)
                answer.headers["Cache-Control"] = "max-age=1000"
                answer.headers["ETag"] = "\"x\""
                answer.headers["Set-Cookie"] = "a=b; Path=/"
                return answer
            }
            #expect(try Note(objectId: "n1").fetch(includeKeys: ["a"]).title == "include=a")
            #expect(try Note(objectId: "n1").fetch(includeKeys: ["b"]).title == "include=b")
            #expect(try Note(objectId: "n1").fetch(includeKeys: ["b"]).title == "include=b")
            #expect(box.server.requests.count == 3)
            #expect(box.server.requests.allSatisfy { $0.header("Cookie") == nil })
            #expect(!FileManager.default.fileExists(atPath: "file:"))
        }

        @Test func `options become headers`() throws {
            let server = try MockServer { _ in .json(#"{"objectId":"n1"}"#) }
            ParseSwift.initialize(
                configuration: ParseConfiguration(
                    applicationId: "app",
                    primaryKey: "master",
                    maintenanceKey: "maintenance",
                    serverURL: server.url,
                    primitiveStore: AppStore(recording: RecordingStore()),
                    httpAdditionalHeaders: ["X-Mine": "1"]
                )
            )
            _ = try Note(objectId: "n1").fetch()
            _ = try Note(objectId: "n1").fetch(options: [
                .useMasterKey, .useMaintenanceKey, .installationId("i"), .sessionToken("s"),
                .context(["a": 1]), .cachePolicy(.reloadIgnoringLocalCacheData),
            ])
            let plain = server.requests[0]
            #expect(plain.header("X-Parse-Master-Key") == nil)
            #expect(plain.header("X-Mine") == "1")
            #expect(plain.header("X-Parse-Client-Version") == "swift" + (ParseVersion.current ?? ""))
            let full = server.requests[1]
            #expect(full.header("X-Parse-Master-Key") == "master")
            #expect(full.header("X-Parse-Maintenance-Key") == "maintenance")
            #expect(full.header("X-Parse-Installation-Id") == "i")
            #expect(full.header("X-Parse-Session-Token") == "s")
            #expect(full.header("X-Parse-Cloud-Context") == #"{"a":1}"#)
            #expect(API.Option.sessionToken("a") == .sessionToken("b"))
            #expect(API.Options([.usePrimaryKey]) == [.useMasterKey])
        }

        @Test func `a synchronous call on the main thread comes back`() async throws {
            let box = try Sandbox { _ in .json(Sandbox.user()) }
            let name = try await MainActor.run {
                // `Thread.isMainThread` would not do: a test runner serves the main queue on another thread.
                dispatchPrecondition(condition: .onQueue(.main))
                return try User.login(username: "ann", password: "secret").username
            }
            #expect(name == "ann")
            #expect(box.server.requests.count == 1)
        }

        @Test func `a completion arrives on the main thread, or on the queue asked for`() async throws {
            _ = try Sandbox { _ in .json(Sandbox.user()) }
            let mark = DispatchSpecificKey<Bool>()
            DispatchQueue.main.setSpecific(key: mark, value: true)
            #expect(
                await withCheckedContinuation { done in
                    User.login(username: "a", password: "b") { _ in
                        done.resume(returning: DispatchQueue.getSpecific(key: mark) == true)
                    }
                }
            )
            DispatchQueue.main.setSpecific(key: mark, value: nil)
            let queue = DispatchQueue(label: "mine")
            queue.setSpecific(key: mark, value: true)
            #expect(
                await withCheckedContinuation { done in
                    User.login(username: "a", password: "b", callbackQueue: queue) { _ in
                        done.resume(returning: DispatchQueue.getSpecific(key: mark) == true)
                    }
                }
            )
        }

        @Test func `many synchronous calls on the global queue do not starve each other`() async throws {
            let box = try Sandbox { _ in .json(Sandbox.user()) }
            let started = Date()
            let count = 40
            let good = await withCheckedContinuation { done in
                let results = Locked((0, 0))
                for _ in 0..<count {
                    DispatchQueue.global().async {
                        let isGood = (try? Note(objectId: "n1").fetch()) != nil
                        let (all, good) = results.withLock {
                            $0 = ($0.0 + 1, $0.1 + (isGood ? 1 : 0))
                            return $0
                        }
                        if all == count { done.resume(returning: good) }
                    }
                }
            }
            #expect(good == count)
            #expect(box.server.requests.count == count)
            #expect(Date().timeIntervalSince(started) < 10)
        }

        @Test func `a synchronous call inside a decoder is refused instead of hanging`() throws {
            _ = try Sandbox { _ in .json(#"{"objectId":"n1"}"#) }
            let greedy = try Greedy(objectId: "n1").fetch()
            #expect(greedy.message?.hasPrefix("A synchronous call cannot be made") == true)
        }

        @Test func `a cancelled call ends at once and leaves the session alone`() async throws {
            let box = try Sandbox()
            try box.logIn()
            let gate = Gate()
            defer { gate.open() }
            box.server.answer { _ in .init(gate: gate) }
            let task = Task { try await User.login(username: "ben", password: "pw") }
            try await box.server.received { $0.body.contains("ben") }
            task.cancel()
            let error = await #expect(throws: ParseError.self) { try await task.value }
            #expect(error?.swift is CancellationError)
            #expect(User.current?.objectId == "u1")
        }

        @Test func `a storm of cancellations neither crashes nor hangs`() async throws {
            let box = try Sandbox { _ in .json(#"{"objectId":"n1"}"#) }
            let seed = UInt64.random(in: 0...UInt64.max)
            var random = SplitMix(state: seed)
            let delays = (0..<600).map { _ in random.next() % 2_000 }
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for (index, delay) in delays.enumerated() {
                    if index >= 32 { _ = await group.next() }
                    group.addTask {
                        let task = Task { try await Note(objectId: "n1").fetch() }
                        if delay > 0 { try? await Task.sleep(nanoseconds: delay * 1_000) }
                        task.cancel()
                        switch await task.result {
                        case .success: return true
                        case .failure(let error): return (error as? ParseError)?.swift is CancellationError
                        }
                    }
                }
                var all = true
                for await isGood in group where !isGood { all = false }
                return all
            }
            #expect(outcomes, "seed \(seed)")
            #expect(try await Note(objectId: "n1").fetch().objectId == "n1")
            box.server.stop()
        }

        @Test func `parallel calls and reads of the session do not disturb each other`() async throws {
            let box = try Sandbox()
            let user = try box.logIn()
            box.server.answer { request in
                request.method == "PUT"
                    ? .json(#"{"updatedAt":"2024-10-25T21:13:17.123Z"}"#) : .json(Sandbox.user(token: nil))
            }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        var mine = user
                        mine.age = number
                        switch number % 4 {
                        case 0: _ = try? await mine.save()
                        case 1: _ = try? await mine.fetch()
                        case 2: _ = Installation.current
                        default: _ = try? await User.login(username: "ann", password: "secret")
                        }
                        #expect(User.current?.objectId == "u1")
                        #expect(User.current?.sessionToken == "r:1")
                    }
                }
            }
            box.start()
            #expect(User.current?.objectId == "u1")
        }

        @Test func `initializing again and again under load breaks nothing`() async throws {
            let box = try Sandbox { _ in .json(#"{"objectId":"n1"}"#) }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        if number % 5 == 0 { box.start() }
                        _ = try? await Note(objectId: "n1").fetch()
                    }
                }
            }
            #expect(try await Note(objectId: "n1").fetch().objectId == "n1")
        }
    }

    @Suite struct InitializeTests {
        @Test func `the configuration can be read back`() async throws {
            let url = try #require(URL(string: "http://127.0.0.1:9/parse/"))
            ParseSwift.initialize(
                applicationId: "app",
                clientKey: "client",
                masterKey: "master",
                serverURL: url,
                liveQueryServerURL: url,
                usingTransactions: true,
                usingPostForQuery: true,
                keyValueStore: AppStore(recording: RecordingStore()),
                maxConnectionAttempts: 2
            )
            let configuration = ParseSwift.configuration
            #expect(configuration.applicationId == "app")
            #expect(configuration.clientKey == "client")
            #expect(configuration.primaryKey == "master")
            #expect(configuration.serverURL == url)
            #expect(configuration.liveQuerysServerURL == url)
            #expect(configuration.isUsingTransactions)
            #expect(configuration.isUsingPostForQuery)
            #expect(!configuration.isAllowingCustomObjectIds)
            #expect(configuration.cacheMemoryCapacity == 512_000)
            #expect(configuration.cacheDiskCapacity == 10_000_000)
            #expect(configuration.maxConnectionAttempts == 2)
        }

        @Test func `the asynchronous form has the user in memory, and refuses a useless address`()
            async throws
        {
            let box = try Sandbox()
            try box.logIn()
            try await ParseSwift.initialize(
                applicationId: "app",
                serverURL: box.server.url,
                primitiveStore: AppStore(recording: box.store)
            )
            box.store.fail(with: POSIXError(.EIO))
            #expect(User.current?.objectId == "u1")
            let nowhere = try #require(URL(string: "nowhere"))
            await #expect(throws: ParseError.self) {
                try await ParseSwift.initialize(applicationId: "app", serverURL: nowhere)
            }
        }

        @Test func `a useless address fails in each call with a sentence`() throws {
            ParseSwift.initialize(
                applicationId: "app",
                serverURL: try #require(URL(string: "nowhere")),
                keyValueStore: AppStore(recording: RecordingStore())
            )
            let error = #expect(throws: ParseError.self) { try User.login(username: "a", password: "b") }
            #expect(error?.message == #""nowhere/login" is not a URL of a server."#)
        }
    }
}

/// A model that does what it must not.
struct Greedy: ParseObject {
    var objectId: String?
    var createdAt: Date?
    var updatedAt: Date?
    var ACL: ParseACL?
    var message: String?

    init() {}

    init(objectId: String) { self.objectId = objectId }

    init(from decoder: any Decoder) throws {
        do { _ = try User.login(username: "a", password: "b") } catch {
            message = (error as? ParseError)?.message
        }
    }
}

struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
