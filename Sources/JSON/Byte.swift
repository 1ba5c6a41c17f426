/// The bytes JSON is made of.
enum Byte {
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let colon = UInt8(ascii: ":")
    static let comma = UInt8(ascii: ",")
    static let minus = UInt8(ascii: "-")
    static let point = UInt8(ascii: ".")
    static let zero = UInt8(ascii: "0")
    static let nine = UInt8(ascii: "9")

    static func isDigit(_ byte: UInt8) -> Bool {
        byte &- zero < 10
    }

    /// Marks with their top bit the bytes of a word that cannot stand for themselves in a string:
    /// quotation mark, backslash and control characters.
    ///
    /// Only the lowest mark is exact: a borrow may set marks above it. 0 means there is none.
    static func needingEscape(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (ones &* UInt64(quote))
        let backslashes = word ^ (ones &* UInt64(backslash))
        let controls = (word &- ones &* 0x20) & ~word
        let quoteMarks = (quotes &- ones) & ~quotes
        let backslashMarks = (backslashes &- ones) & ~backslashes
        return (controls | quoteMarks | backslashMarks) & (ones &* 0x80)
    }
}
