import HTTP
import Testing

@Suite("A router") struct RouterTests {
    private static let router: Router<String> = {
        var router = Router<String>()
        router.add(.get, "/", "root")
        router.add(.get, "/users/:objectId", "user")
        router.add(.get, "/users/me", "me")
        router.add(.get, "/users", "users")
        router.add(.post, "/users", "sign up")
        router.add(.get, "/classes/:className/:objectId", "object")
        router.add(.delete, "/users/me/:what", "mine")
        router.add(.put, "/users/:userId/:what", "theirs")
        router.add(.get, "/apps/:id/serverInfo", "info")
        return router
    }()

    struct Case: Sendable {
        let method: HTTPMethod
        let path: String
        let endpoint: String?
        var parameters: [String] = []
        var exactToo = true
    }

    @Test(arguments: [
        Case(method: .get, path: "/", endpoint: "root"),
        Case(method: .get, path: "/users", endpoint: "users"),
        Case(method: .post, path: "/users", endpoint: "sign up"),
        Case(method: .get, path: "/USERS", endpoint: "users", exactToo: false),
        Case(method: .get, path: "/users/", endpoint: "users", exactToo: false),
        Case(method: .get, path: "//users", endpoint: "users", exactToo: false),
        Case(method: .get, path: "//Users/", endpoint: "users", exactToo: false),
        Case(method: .get, path: "/users//", endpoint: nil),
        Case(method: .get, path: "///users", endpoint: nil),
        Case(method: .get, path: "/users//me", endpoint: nil),
        Case(method: .get, path: "users", endpoint: nil),
        Case(method: .get, path: "", endpoint: nil),
        Case(method: .get, path: "*", endpoint: nil),
        Case(method: .get, path: "/users/me", endpoint: "me"),
        Case(method: .get, path: "/users/ME", endpoint: "me", exactToo: false),
        Case(method: .get, path: "/users/abc", endpoint: "user", parameters: ["objectId=abc"]),
        Case(method: .get, path: "/users/ABC", endpoint: "user", parameters: ["objectId=ABC"]),
        Case(method: .get, path: "/users/a%2Fb", endpoint: "user", parameters: ["objectId=a/b"]),
        Case(method: .get, path: "/users/%C3%A9", endpoint: "user", parameters: ["objectId=é"]),
        Case(method: .get, path: "/users/é", endpoint: "user", parameters: ["objectId=é"]),
        Case(method: .get, path: "/users/%zz", endpoint: nil),
        Case(method: .get, path: "/users/%FF", endpoint: nil),
        Case(method: .get, path: "/%75sers", endpoint: "users"),
        Case(method: .get, path: "/users/me/x", endpoint: nil),
        Case(method: .delete, path: "/users/me/x", endpoint: "mine", parameters: ["what=x"]),
        Case(method: .put, path: "/users/me/x", endpoint: "theirs", parameters: ["userId=me", "what=x"]),
        Case(
            method: .get,
            path: "/classes/Game/1",
            endpoint: "object",
            parameters: ["className=Game", "objectId=1"]
        ),
        Case(method: .get, path: "/classes/Game", endpoint: nil),
        Case(method: .get, path: "/apps/7/serverInfo", endpoint: "info", parameters: ["id=7"]),
        Case(
            method: .get,
            path: "/apps/7/SERVERINFO",
            endpoint: "info",
            parameters: ["id=7"],
            exactToo: false
        ),
        Case(method: .delete, path: "/users", endpoint: nil),
        Case(method: .get, path: "/nothing", endpoint: nil),
    ])
    func `finds the endpoint of a path`(_ sample: Case) {
        let lenient = Self.router.match(method: sample.method, path: sample.path)
        #expect(lenient?.endpoint == sample.endpoint)
        #expect((lenient?.parameters.map { "\($0.name)=\($0.value)" } ?? []) == sample.parameters)
        let exact = Self.router.match(method: sample.method, path: sample.path, caseInsensitive: false)
        // Where the exact router falls back on a parameter, it is another endpoint.
        if sample.exactToo {
            #expect(exact?.endpoint == sample.endpoint)
        } else {
            #expect(exact?.endpoint != sample.endpoint)
        }
    }

    @Test func `tells which methods a path has`() {
        #expect(Set(Self.router.methods(path: "/users")) == [.get, .post])
        #expect(Self.router.methods(path: "/nothing").isEmpty)
    }

    @Test func `a parameter is found by its name`() {
        let match = Self.router.match(method: .get, path: "/classes/Game/1")
        #expect(match?.parameters["objectId"] == "1")
        #expect(match?.parameters["objectid"] == nil)
    }

    @Test func `a path of many segments is refused at the depth of the routes`() {
        #expect(Self.router.match(method: .get, path: String(repeating: "/a", count: 100_000)) == nil)
    }
}
