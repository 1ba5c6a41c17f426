/// The 32 bytes of a SHA-256 digest or code, held inline.
package struct Digest256: Sendable, Hashable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// `nil` unless there are exactly 32 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init { start in
            _ = UnsafeMutableBufferPointer(start: start, count: Self.byteCount).initialize(from: bytes)
        }
    }

    /// Lets `fill` write all 32 bytes.
    init(filledBy fill: (UnsafeMutablePointer<UInt8>) -> Void) {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        withUnsafeMutablePointer(to: &words) { pointer in
            // SAFETY: the four words are 32 bytes, and any bytes are a valid value of them.
            pointer.withMemoryRebound(to: UInt8.self, capacity: Self.byteCount) { fill($0) }
        }
        self.words = words
    }

    package static let byteCount = 32

    package var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }

    /// 64 lower-case digits.
    package var hex: String { withUnsafeBytes { hexText($0) } }

    package func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try Swift.withUnsafeBytes(of: words, body)
    }

    /// Not in constant time; for secrets use ``constantTimeEquals(_:_:)-(Digest256,_)``.
    package static func == (left: Digest256, right: Digest256) -> Bool { left.words == right.words }

    package func hash(into hasher: inout Hasher) {
        withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

/// Lower-case hexadecimal digits.
func hexText(_ bytes: UnsafeRawBufferPointer) -> String {
    let digits: StaticString = "0123456789abcdef"
    return String(unsafeUninitializedCapacity: bytes.count * 2) { target in
        // SAFETY: two digits a byte fit exactly; digits are 16 ASCII bytes that live for ever.
        var position = 0
        for byte in bytes {
            target[position] = digits.utf8Start[Int(byte >> 4)]
            target[position + 1] = digits.utf8Start[Int(byte & 15)]
            position += 2
        }
        return position
    }
}
