/// Byte classes of RFC 9110 and comparison without regard to case.
enum ASCII {
    static let carriageReturn: UInt8 = 13
    static let lineFeed: UInt8 = 10
    static let space: UInt8 = 32
    static let tab: UInt8 = 9
    static let colon: UInt8 = 58

    @inline(__always)
    static func lowercase(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 32 : byte }

    static func equalIgnoringCase<A: Collection<UInt8>, B: Collection<UInt8>>(_ a: A, _ b: B) -> Bool {
        a.count == b.count && zip(a, b).allSatisfy { lowercase($0) == lowercase($1) }
    }

    static func equalIgnoringCase(_ a: String, _ b: String) -> Bool {
        a.utf8.count == b.utf8.count && zip(a.utf8, b.utf8).allSatisfy { lowercase($0) == lowercase($1) }
    }

    /// 0…15, or `nil` for what is no hexadecimal digit.
    @inline(__always)
    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 48...57: byte - 48
        case 65...70: byte - 55
        case 97...102: byte - 87
        default: nil
        }
    }

    /// `tchar` of RFC 9110 §5.6.2: what methods and field names are made of.
    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
        byte < 128 && (byte < 64 ? tokenLow : tokenHigh) &>> UInt64(byte & 63) & 1 == 1
    }

    /// One bit per character: `!#$%&'*+-.` and the digits; letters and ``^_`|~``.
    @inline(__always) private static var tokenLow: UInt64 { 0x03FF6CFA00000000 }
    @inline(__always) private static var tokenHigh: UInt64 { 0x57FFFFFFC7FFFFFE }

    /// A byte a field value or a target may not contain: a control character other than, in values, a tab.
    @inline(__always)
    static func isControl(_ byte: UInt8) -> Bool { byte < 32 || byte == 127 }
}
