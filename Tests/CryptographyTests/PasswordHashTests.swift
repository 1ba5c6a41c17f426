import Foundation
import Testing

@testable import Cryptography

@Suite struct PasswordHashTests {
    static let cheapArgon = PasswordAlgorithm.argon2id(memoryKiB: 64, passes: 1)
    static let cheapBcrypt = PasswordAlgorithm.bcrypt(cost: 4)
    static let long = String(repeating: "0123456789ab", count: 6)

    @Test(
        arguments: [
            ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
            ("U*U*", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"),
            ("U*U*U", "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a"),
            ("", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy"),
            (
                "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789chars after 72 are ignored",
                "$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui"
            ),
            (
                "password",
                "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
            ),
        ]
    )
    func `a published hash is verified`(password: String, encoded: String) {
        #expect(PasswordHash.verify(password, against: encoded))
        #expect(!PasswordHash.verify("x" + password, against: encoded))
    }

    @Test(arguments: ["2b", "2y"])
    func `the other names of bcrypt are verified`(name: String) {
        let encoded = "$\(name)$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
        #expect(PasswordHash.verify("U*U", against: encoded))
        #expect(!PasswordHash.verify("U*V", against: encoded))
    }

    @Test(arguments: [cheapArgon, cheapBcrypt], ["", "secret", "grün 👩‍👩‍👧", "  ", long])
    func `a hash is verified by its password only`(algorithm: PasswordAlgorithm, password: String) throws {
        let encoded = try PasswordHash.make(password, algorithm)
        #expect(PasswordHash.verify(password, against: encoded))
        #expect(!PasswordHash.verify("x" + password, against: encoded))
        #expect(try PasswordHash.make(password, algorithm) != encoded, "the salt is fresh")
    }

    @Test func `hashes have the usual forms`() throws {
        #expect(try PasswordHash.make("x").hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
        let bcrypt = try PasswordHash.make("x", .bcrypt(cost: 10))
        #expect(bcrypt.hasPrefix("$2b$10$") && bcrypt.utf8.count == 60)
    }

    // MARK: What bcrypt does not see

    @Test func `bcrypt reads 72 bytes and Argon2id all`() throws {
        #expect(Self.long.utf8.count == 72)
        let bcrypt = try PasswordHash.make(Self.long, Self.cheapBcrypt)
        #expect(PasswordHash.verify(Self.long + "more", against: bcrypt))
        #expect(!PasswordHash.verify(String(Self.long.dropLast()), against: bcrypt))
        let argon = try PasswordHash.make(Self.long, Self.cheapArgon)
        #expect(!PasswordHash.verify(Self.long + "more", against: argon))
    }

    @Test func `NUL is refused by bcrypt and read by Argon2id`() throws {
        #expect(throws: PasswordHashError.passwordContainsNUL) {
            try PasswordHash.make("secret\0more", Self.cheapBcrypt)
        }
        let bcrypt = try PasswordHash.make("secret", Self.cheapBcrypt)
        #expect(!PasswordHash.verify("secret\0", against: bcrypt))
        #expect(!PasswordHash.verify("secret\0more", against: bcrypt))
        #expect(!PasswordHash.verify("secret\0", against: try PasswordHash.make("secret", Self.cheapArgon)))
        let argon = try PasswordHash.make("a\0b", Self.cheapArgon)
        #expect(PasswordHash.verify("a\0b", against: argon))
        #expect(!PasswordHash.verify("a\0c", against: argon))
    }

    // MARK: Refusals

    @Test(
        arguments: [
            "", "x", "password", "$", "$$$$$", "$2b$", "*0", "$1$salt$hash", "$6$salt$hash",
            // bcrypt: unknown name, absurd or malformed cost, wrong length, foreign characters.
            "$2x$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            "$2$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            "$2b$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            "$2b$16$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            "$2b$03$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            "$2b$+5$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            "$2b$5$CCCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe",
            "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeWW",
            "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe\0",
            "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOé",
            // Argon2: too much memory or time, other kinds and versions, malformed.
            "$argon2id$v=19$m=4294967296,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=262145,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=262144,t=5,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=8,t=65,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=8,t=4294967295,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=7,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=64,t=0,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=64,t=1,p=0$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=64,t=1,p=17$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=-64,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=16$m=64,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$",
            "$argon2id$v=19$m=64,t=1,p=1$$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc$",
            "$argon2id$v=19$m=64,t=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=64,t=1,p=1$c29t ZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$" + String(repeating: "a", count: 1_000_000),
        ]
    )
    func `a hostile or foreign hash is refused without work`(encoded: String) {
        #expect(PasswordHash.check("U*U", against: encoded) == .refusedWithoutWork)
        #expect(!PasswordHash.verify("password", against: encoded))
        #expect(PasswordHash.needsRehash(encoded, for: .standard))
    }

    @Test(
        arguments: [
            (.bcrypt(cost: 3), false), (.bcrypt(cost: 4), true), (.bcrypt(cost: 15), true),
            (.bcrypt(cost: 16), false),
            (.bcrypt(cost: -1), false), (.argon2id(memoryKiB: 7, passes: 1), false),
            (.argon2id(memoryKiB: 8, passes: 1), true), (.argon2id(memoryKiB: 8, passes: 0), false),
            (.argon2id(memoryKiB: 8, passes: 64), true), (.argon2id(memoryKiB: 8, passes: 65), false),
            (.argon2id(memoryKiB: 262_144, passes: 4), true),
            (.argon2id(memoryKiB: 262_144, passes: 5), false),
            (.argon2id(memoryKiB: 262_145, passes: 1), false),
            (.argon2id(memoryKiB: .max, passes: .max), false),
        ] as [(PasswordAlgorithm, Bool)]
    )
    func `the cost has bounds`(algorithm: PasswordAlgorithm, isWithin: Bool) {
        #expect(algorithm.isWithinBounds == isWithin)
        if !isWithin {
            #expect(throws: PasswordHashError.costOutOfBounds) { try PasswordHash.make("x", algorithm) }
        }
    }

    @Test func `the cheapest hashes work`() throws {
        for algorithm in [PasswordAlgorithm.argon2id(memoryKiB: 8, passes: 1), .bcrypt(cost: 4)] {
            #expect(PasswordHash.verify("x", against: try PasswordHash.make("x", algorithm)))
        }
    }

    // MARK: Time

    @Test(arguments: [PasswordAlgorithm.argon2id(memoryKiB: 8192, passes: 2), .bcrypt(cost: 7)])
    func `an unknown user costs as much as a known one`(algorithm: PasswordAlgorithm) throws {
        let encoded = try PasswordHash.make("secret", algorithm)
        let bcrypt = try PasswordHash.make("secret", Self.cheapBcrypt)
        // The thread's processor time, as other work on the machine does not count in it, and the least of
        // several, as page faults and cold caches only ever add.
        func cost(_ password: String, _ encoded: String?) -> Double {
            let times = (0..<7).map { _ in
                let start = threadNanoseconds()
                #expect(!PasswordHash.verify(password, against: encoded, sameCostAs: algorithm))
                return threadNanoseconds() - start
            }
            return times.min() ?? 0
        }
        let real = cost("wrong", encoded)
        for (password, encoded) in [
            ("wrong", nil), ("wrong", "garbage"), ("wrong\0", bcrypt), ("wrong\0\u{301}", bcrypt),
        ]
            as [(String, String?)]
        {
            let ratio = cost(password, encoded) / real
            #expect((0.5...2).contains(ratio), "\(password.debugDescription) against \(encoded ?? "nothing")")
        }
    }

    private func threadNanoseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    // MARK: Changing the algorithm

    @Test func `a hash of another algorithm or cost is to be made anew`() throws {
        let argon = try PasswordHash.make("x", Self.cheapArgon)
        let bcrypt = try PasswordHash.make("x", Self.cheapBcrypt)
        #expect(!PasswordHash.needsRehash(argon, for: Self.cheapArgon))
        #expect(!PasswordHash.needsRehash(bcrypt, for: Self.cheapBcrypt))
        #expect(PasswordHash.needsRehash(argon, for: Self.cheapBcrypt))
        #expect(PasswordHash.needsRehash(bcrypt, for: Self.cheapArgon))
        #expect(PasswordHash.needsRehash(argon, for: .argon2id(memoryKiB: 64, passes: 2)))
        #expect(PasswordHash.needsRehash(argon, for: .argon2id(memoryKiB: 65, passes: 1)))
        #expect(PasswordHash.needsRehash(bcrypt, for: .bcrypt(cost: 5)))
    }

    @Test func `algorithms are named in the configuration`() {
        #expect(PasswordAlgorithm(configurationName: "argon2id") == .standard)
        #expect(PasswordAlgorithm(configurationName: "bcrypt") == .bcrypt(cost: 10))
        for name in ["", "Argon2id", "md5"] { #expect(PasswordAlgorithm(configurationName: name) == nil) }
    }
}
