/// Tells patterns whose matching cannot take long from all others.
enum PatternShape {
    /// At each place of a text a plain pattern looks at so many characters at most.
    private static let plainByteLimit = 64

    /// Whether the pattern is a short row of single characters, or a long one that is tried at one place alone.
    ///
    /// Only what is surely so; brackets, alternatives and repetitions never are.
    static func isPlain(_ pattern: String, _ options: RegularExpression.Options) -> Bool {
        let isAnchored = pattern.utf8.first == UInt8(ascii: "^") && !options.contains(.multiline)
        guard isAnchored || pattern.utf8.count <= plainByteLimit else { return false }
        var rest = Array(pattern.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst() else { return false }
                if escaped == UInt8(ascii: "Q") {
                    skipQuoted(&rest)
                } else if !isPlainEscape(escaped) {
                    return false
                }
            } else if special.contains(byte) {
                return false
            }
        }
        return true
    }

    private static let special = Set("*+?{}()[]|#".utf8)
    private static let classes = Set("EdDwWsSbB".utf8)

    private static func isPlainEscape(_ byte: UInt8) -> Bool {
        classes.contains(byte)
            || (byte < 0x80 && !isLetterOrDigit(byte))
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Up to and with the `\E` that ends a quotation.
    private static func skipQuoted(_ rest: inout ArraySlice<UInt8>) {
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "E") {
                rest.removeFirst()
                return
            }
        }
    }
}
