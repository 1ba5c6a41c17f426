import Foundation

/// Numbers that only seem to be random: the same seed gives the same ones.
package struct RandomSource: Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    /// The seed for this run, from `MARTLET_TEST_SEED` where it is set; printed, so that a run can be repeated.
    package static func seed(for test: String) -> UInt64 {
        let given = ProcessInfo.processInfo.environment["MARTLET_TEST_SEED"].flatMap(UInt64.init)
        let seed = given ?? .random(in: .min ... .max)
        print("\(test): MARTLET_TEST_SEED=\(seed)")
        return seed
    }

    /// From 0 on, below the bound.
    package mutating func next(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((word ^ word >> 31) % UInt64(bound))
    }

    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[next(elements.count)]
    }

    /// True once in so many times.
    package mutating func once(in count: Int) -> Bool {
        next(count) == 0
    }

    /// As many as it happens to be, fewer than the bound.
    package mutating func list<Element>(below bound: Int, _ make: (inout RandomSource) -> Element) -> [Element]
    {
        (0..<next(bound)).map { _ in make(&self) }
    }
}
