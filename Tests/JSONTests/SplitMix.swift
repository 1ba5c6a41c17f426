#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A generator whose sequence is decided by its seed (SplitMix64).
struct SplitMix: RandomNumberGenerator {
    let seed: UInt64
    private var state: UInt64

    init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}

/// The seed in the environment's `TEST_SEED`, else a new one; printed, so that a failure can be repeated.
func testSeed(_ function: String = #function) -> UInt64 {
    let given = getenv("TEST_SEED").flatMap { UInt64(String(cString: $0)) }
    let seed = given ?? .random(in: .min ... .max)
    print("\(function): TEST_SEED=\(seed)")
    return seed
}
