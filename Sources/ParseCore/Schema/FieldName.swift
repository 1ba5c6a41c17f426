/// The rules of field names (Parse REST guide, "Objects").
package enum FieldName {
    /// The longest name that a field or class is given, in bytes.
    package static let byteLimit = 255

    /// Letters, digits and `_`, a letter first; neither `length` nor `className`.
    package static func isValid(_ name: String) -> Bool {
        guard name != "length", name != "className", let first = name.utf8.first, isLetter(first) else {
            return false
        }
        return name.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    /// As ``isValid(_:)``, and `.` between the parts of a path.
    package static func isValidPath(_ name: String) -> Bool {
        guard let first = name.utf8.first, isLetter(first) else { return false }
        return name.utf8.allSatisfy {
            isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".")
        }
    }

    /// The parts of a dotted name; `nil` when one of them is empty.
    package static func path(_ name: String) -> [String]? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return parts.contains("") ? nil : parts
    }

    /// The field that a path begins with.
    package static func root(of path: String) -> String {
        path.firstIndex(of: ".").map { String(path[..<$0]) } ?? path
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
