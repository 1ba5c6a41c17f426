/// The shortest decimal digits that read back as a double.
///
/// The value is `0.digits × 10^pointPosition`.
struct ShortestDecimal {
    /// At most 17 digits, without zeros at the end.
    private(set) var digits: UInt64 = 0
    private(set) var digitCount = 0
    private(set) var pointPosition = 0

    /// Takes the digits from Swift's description, which are JavaScript's too: the shortest, and of those
    /// the nearest.
    ///
    /// - Parameter value: Finite and greater than zero.
    init(_ value: Double) {
        var exponent = 0
        var digitsAfterPoint = 0
        var hasPoint = false
        var text = value.description
        text.withUTF8 { text in
            for (index, byte) in text.enumerated() {
                if Byte.isDigit(byte) {
                    digits = digits * 10 + UInt64(byte - Byte.zero)
                    if hasPoint { digitsAfterPoint += 1 }
                } else if byte == Byte.point {
                    hasPoint = true
                } else {
                    exponent = Self.exponent(text[(index + 1)...])
                    break
                }
            }
        }
        while digits > 0, digits.isMultiple(of: 10) {
            digits /= 10
            digitsAfterPoint -= 1
        }
        var rest = digits
        while rest > 0 {
            rest /= 10
            digitCount += 1
        }
        pointPosition = digitCount - digitsAfterPoint + exponent
    }

    /// The value of digits after a sign.
    private static func exponent(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        let magnitude = text.dropFirst().reduce(0) { $0 * 10 + Int($1 - Byte.zero) }
        return text.first == Byte.minus ? -magnitude : magnitude
    }
}
