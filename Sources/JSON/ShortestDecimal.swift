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
        if let (digits, digitsAfterPoint) = Self.short(value) {
            self.digits = digits
            digitCount = Self.count(digits)
            pointPosition = digitCount - digitsAfterPoint
            return
        }
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
        digitCount = Self.count(digits)
        pointPosition = digitCount - digitsAfterPoint + exponent
    }

    /// Digits with at most six of them after the point, if they read back as the value;
    /// faster than finding the shortest digits of any value.
    ///
    /// Decimals of up to 15 digits all read as different doubles, so none of them but this one, and
    /// none that is shorter, reads back as the value.
    private static func short(_ value: Double) -> (digits: UInt64, digitsAfterPoint: Int)? {
        guard value < 1e9 else { return nil }
        var scale = 1.0
        for digitsAfterPoint in 1...6 {
            scale *= 10
            let digits = UInt64(value * scale + 0.5)
            // Both are exact, so this is how the parser reads the digits.
            if Double(digits) / scale == value { return (digits, digitsAfterPoint) }
        }
        return nil
    }

    private static func count(_ digits: UInt64) -> Int {
        var count = 1
        var bound: UInt64 = 10
        while digits >= bound {
            count += 1
            bound *= 10
        }
        return count
    }

    /// The value of digits after a sign.
    private static func exponent(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        let magnitude = text.dropFirst().reduce(0) { $0 * 10 + Int($1 - Byte.zero) }
        return text.first == Byte.minus ? -magnitude : magnitude
    }
}
