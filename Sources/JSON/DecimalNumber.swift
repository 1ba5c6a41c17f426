/// Decimal digits and doubles, correctly rounded and independent of the locale.
enum DecimalNumber {
    /// The value of `significand × 10^exponent` if one exactly rounded operation yields it.
    ///
    /// Both operands are exact doubles then (W. D. Clinger, "How to read floating point numbers
    /// accurately"), so the result is rounded once.
    static func exact(_ significand: UInt64, _ exponent: Int) -> Double? {
        guard significand <= 1 << 53 else { return nil }
        switch exponent {
        case 0: return Double(significand)
        case 1...22: return Double(significand) * powersOfTen[exponent]
        case -22 ... -1: return Double(significand) / powersOfTen[-exponent]
        default: return significand == 0 ? 0 : nil
        }
    }

    /// The double nearest to a number of any length.
    ///
    /// - Parameters:
    ///   - text: A number that follows the JSON grammar.
    ///   - exponent: The power of ten of its last digit (before any `e`), with what is after the `e` added.
    ///   - scratch: Overwritten.
    /// - Returns: Infinity when the number is too large, zero when it is too small, with its sign.
    static func rounded(_ text: UnsafeRawBufferPointer, exponent: Int, scratch: inout [UInt8]) -> Double {
        // The point half-way between two doubles has at most 767 digits. Of what comes later it
        // only matters whether it is more than zero, which one more digit says.
        let digitLimit = 768
        scratch.removeAll(keepingCapacity: true)
        var exponent = exponent
        var droppedNonzero = false
        scan: for byte in text {
            switch byte {
            case Byte.zero where scratch.isEmpty, Byte.minus, Byte.point: continue
            case Byte.zero...Byte.nine:
                if scratch.count < digitLimit {
                    scratch.append(byte)
                } else {
                    exponent += 1
                    droppedNonzero = droppedNonzero || byte != Byte.zero
                }
            default: break scan
            }
        }
        if droppedNonzero {
            scratch.append(UInt8(ascii: "1"))
            exponent -= 1
        }
        let magnitude = rounded(digits: scratch, exponent: exponent)
        return text.first == Byte.minus ? -magnitude : magnitude
    }

    private static func rounded(digits: [UInt8], exponent: Int) -> Double {
        // The value lies in 10^(power-1) ..< 10^power.
        let power = digits.count + exponent
        if digits.isEmpty || power < -330 { return 0 }
        if power > 310 { return .infinity }
        let text = String(decoding: digits, as: UTF8.self) + "e" + String(exponent)
        guard let value = Double(text) else {
            preconditionFailure("digits and an exponent are always a number")
        }
        return value
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
        1e19, 1e20, 1e21, 1e22,
    ]
}
