import Cryptography
import JSON
import ParseCore
import ParseWire
import Testing

@Suite struct IPAllowListTests {
    @Test(arguments: [
        (["127.0.0.1"], "127.0.0.1", true), (["127.0.0.1"], "127.0.0.2", false),
        (["127.0.0.1"], "::ffff:127.0.0.1", true),
        (["::1"], "::1", true), (["::1"], "0:0:0:0:0:0:0:1", true), (["::1"], "127.0.0.1", false),
        (["10.0.0.0/8"], "10.255.1.2", true), (["10.0.0.0/8"], "11.0.0.0", false),
        (["10.0.0.5/32"], "10.0.0.5", true),
        (["192.168.1.128/25"], "192.168.1.127", false), (["192.168.1.128/25"], "192.168.1.255", true),
        (["0.0.0.0/0"], "1.2.3.4", true), (["0.0.0.0"], "1.2.3.4", true), (["0.0.0.0/0"], "::2", false),
        (["0.0.0.0/32"], "1.2.3.4", false), (["::/0"], "2001:db8::1", true), (["::"], "2001:db8::1", true),
        (["::0"], "2001:db8::1", true), (["::/0"], "1.2.3.4", false), (["::/0"], "::ffff:1.2.3.4", false),
        (["2001:db8::/33"], "2001:db8:7fff::1", true), (["2001:db8::/33"], "2001:db8:8000::1", false),
        (["fe80::1"], "fe80::1%eth0", true), ([], "127.0.0.1", false), (["1.2.3.4"], "", false),
        (["1.2.3.4"], "nonsense", false), (["0.0.0.0/0"], "1.2.3", false),
        (["0.0.0.0/0"], "1.2.3.4.5", false),
    ])
    func `an address is in the list or not`(_ entries: [String], _ address: String, _ isIn: Bool) throws {
        #expect(try IPAllowList(entries).contains(address) == isIn)
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.256", "1.2.3.4/33", "1.2.3.4/-1", "1.2.3.4/", "1.2.3.4/8/8", "1.2.3.4/+8",
        "::/129", ":::",
        "1::2::3", "12345::", "g::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "localhost", "1.2.3.4 ",
        "+1.2.3.4",
        "::1.2.3", "1:2:3:4:5:6:7::8",
    ])
    func `an entry that is no address is refused`(_ entry: String) {
        let error = #expect(throws: IPAllowList.InvalidEntry.self) { try IPAllowList(["127.0.0.1", entry]) }
        #expect(error?.text == entry)
    }

    @Test func `the default is the machine itself`() {
        for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            #expect(IPAllowList.loopback.contains(address))
        }
        for address in ["127.0.0.2", "::2", "10.0.0.9", "::ffff:10.0.0.9"] {
            #expect(!IPAllowList.loopback.contains(address))
        }
    }
}

/// The rules of Express's `trust proxy`, as its guide "Express behind proxies" tells them.
@Suite struct ProxyTrustTests {
    private static let lan = ProxyTrust.ranges(
        [IPRange("10.0.0.0/8"), IPRange("127.0.0.1/8")].compactMap { $0 }
    )

    @Test(
        arguments: [
            (.nobody, "10.0.0.1", "1.1.1.1", "10.0.0.1"), (.nobody, "10.0.0.1", nil, "10.0.0.1"),
            (.everybody, "10.0.0.1", "1.1.1.1, 2.2.2.2", "1.1.1.1"),
            (.everybody, "10.0.0.1", nil, "10.0.0.1"),
            (.everybody, "10.0.0.1", " , ,", "10.0.0.1"), (.hops(0), "10.0.0.1", "1.1.1.1", "10.0.0.1"),
            (.hops(1), "10.0.0.1", "1.1.1.1, 2.2.2.2", "2.2.2.2"),
            (.hops(2), "10.0.0.1", "1.1.1.1,2.2.2.2", "1.1.1.1"),
            (.hops(9), "10.0.0.1", "1.1.1.1, 2.2.2.2", "1.1.1.1"), (.hops(1), "10.0.0.1", nil, "10.0.0.1"),
            (lan, "10.0.0.1", "6.6.6.6, 1.1.1.1, 10.0.0.2", "1.1.1.1"),
            (lan, "9.9.9.9", "127.0.0.1", "9.9.9.9"),
            (lan, "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
            (lan, "10.0.0.1", "127.0.0.1, bogus", "bogus"),
            (lan, "10.0.0.1", nil, "10.0.0.1"),
        ] as [(ProxyTrust, String, String?, String)]
    )
    func `who the client is`(_ trust: ProxyTrust, _ peer: String, _ header: String?, _ client: String) {
        #expect(trust.client(peer: peer, forwardedFor: header) == client)
    }

    @Test(
        arguments: [
            (.nobody, "10.0.0.1", false), (.everybody, "9.9.9.9", true), (.hops(0), "10.0.0.1", false),
            (.hops(1), "9.9.9.9", true), (lan, "10.0.0.1", true), (lan, "9.9.9.9", false),
            (lan, "bogus", false),
        ] as [(ProxyTrust, String, Bool)]
    )
    func `whose word on scheme and host counts`(_ trust: ProxyTrust, _ peer: String, _ isTrusted: Bool) {
        #expect(trust.trusts(peer: peer) == isTrusted)
    }
}

@Suite struct KeywordDenylistTests {
    @Test func `a rule without a value looks at the key, one without a key at the value`() {
        let list = KeywordDenylist(rules: [
            .init(key: "^bad$"), .init(key: nil, value: "evil.*"), .init(key: "n", value: 5),
        ])
        let refused: [JSONObject] = [
            ["bad": 1], ["x": "very evil thing"], ["n": 5], ["a": ["bad": 1]], ["a": [["n": 5]]],
        ]
        for body in refused {
            let error = #expect(throws: ParseError.self) { try list.check(body) }
            #expect(error?.code == .invalidKeyName)
        }
        for body: JSONObject in [["badly": 1], ["x": "good"], ["n": 6], ["n": "5"], [:]] {
            #expect(throws: Never.self) { try list.check(body) }
        }
    }

    @Test func `no rules refuse nothing`() {
        #expect(throws: Never.self) {
            try KeywordDenylist(rules: []).check(["constructor": ["__proto__": 1]])
        }
    }

    @Test func `a malformed expression is not usable`() {
        #expect(KeywordDenylist.isUsable("abc"))
        #expect(KeywordDenylist.isUsable("^a+$"))
        #expect(!KeywordDenylist.isUsable("(("))
    }

    @Test(.timeLimit(.minutes(1)))
    func `fifty thousand keys are looked through in passing`() {
        let json = JSONObject((0..<50_000).map { JSONObject.Member(key: "someOrdinaryKey\($0)", value: 1) })
        let start = ContinuousClock.now
        #expect(throws: Never.self) { try KeywordDenylist.standard.check(json) }
        let time = start.duration(to: .now)
        print("KeywordDenylist: 50,000 keys in \(time)")
        #expect(time < .seconds(10))
    }
}

@Suite struct AppCredentialsTests {
    private func presented(_ change: (inout PresentedKeys) -> Void) -> PresentedKeys {
        var keys = PresentedKeys()
        change(&keys)
        return keys
    }

    @Test func `without client keys nobody is asked for one`() {
        let credentials = AppCredentials(masterKeyHash: SHA256.hash("m"))
        #expect(credentials.acceptsClient(PresentedKeys()))
        #expect(credentials.acceptsClient(presented { $0.clientKey = "whatever" }))
    }

    @Test func `one right key of several is enough, and only in its own header`() {
        let credentials = AppCredentials(
            clientKey: "c",
            restAPIKey: "r",
            javascriptKey: "j",
            dotNetKey: "d",
            masterKeyHash: SHA256.hash("m")
        )
        let right: [(inout PresentedKeys) -> Void] = [
            { $0.clientKey = "c" }, { $0.restAPIKey = "r" }, { $0.javascriptKey = "j" },
            { $0.windowsKey = "d" },
            {
                $0.restAPIKey = "r"
                $0.javascriptKey = "wrong"
            },
        ]
        for change in right { #expect(credentials.acceptsClient(presented(change))) }
        let wrong: [(inout PresentedKeys) -> Void] = [
            { _ in }, { $0.clientKey = "r" }, { $0.restAPIKey = "c" }, { $0.javascriptKey = "" },
            { $0.masterKey = "c" },
            { $0.clientKey = "C" },
        ]
        for change in wrong { #expect(!credentials.acceptsClient(presented(change))) }
    }

    @Test func `an empty key is matched by an empty header, not by none`() {
        let credentials = AppCredentials(restAPIKey: "", masterKeyHash: SHA256.hash("m"))
        #expect(credentials.acceptsClient(presented { $0.restAPIKey = "" }))
        #expect(!credentials.acceptsClient(presented { $0.restAPIKey = "x" }))
        #expect(!credentials.acceptsClient(PresentedKeys()))
    }

    @Test func `the three strong keys are told apart`() {
        let credentials = AppCredentials(
            masterKeyHash: SHA256.hash("m"),
            readOnlyMasterKeyHash: SHA256.hash("r"),
            maintenanceKeyHash: SHA256.hash("x")
        )
        #expect(credentials.kind(ofMasterKey: "m") == .master)
        #expect(credentials.kind(ofMasterKey: "r") == .readOnly)
        #expect(credentials.kind(ofMasterKey: "x") == nil)
        #expect(credentials.kind(ofMasterKey: "") == nil)
        #expect(credentials.acceptsMaintenance("x"))
        #expect(!credentials.acceptsMaintenance("m"))
        let bare = AppCredentials(masterKeyHash: SHA256.hash("m"))
        #expect(!bare.acceptsMaintenance(""))
        #expect(bare.kind(ofMasterKey: "") == nil)
    }
}
