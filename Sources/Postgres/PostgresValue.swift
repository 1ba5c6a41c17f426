#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A parameter of a statement.
///
/// The server infers the type from where the parameter stands; cast it in the SQL text where that is ambiguous.
package enum PostgresValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    /// Text, JSON, or anything else in its text form. Must not contain NUL, which PostgreSQL cannot store.
    case text(String)
    case bytes([UInt8])
    case textArray([String])
    case doubleArray([Double])
    case integerArray([Int64])
}

extension PostgresValue {
    /// The bytes to send, without the final zero; `nil` for NULL.
    func appendText(to bytes: inout [UInt8]) {
        switch self {
        case .null: break
        case .bool(let value): bytes.append(value ? UInt8(ascii: "t") : UInt8(ascii: "f"))
        case .integer(let number): bytes += "\(number)".utf8
        // The shortest text that reads back as the same number.
        case .double(let number): bytes += "\(number)".utf8
        case .text(let text): bytes += text.utf8
        case .bytes(let blob): bytes += blob
        case .textArray(let elements):
            Self.appendArray(elements, to: &bytes) { element, bytes in
                bytes.append(UInt8(ascii: "\""))
                for byte in element.utf8 {
                    if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                        bytes.append(UInt8(ascii: "\\"))
                    }
                    bytes.append(byte)
                }
                bytes.append(UInt8(ascii: "\""))
            }
        case .doubleArray(let elements): Self.appendArray(elements, to: &bytes) { $1 += "\($0)".utf8 }
        case .integerArray(let elements): Self.appendArray(elements, to: &bytes) { $1 += "\($0)".utf8 }
        }
    }

    var isBinary: Bool {
        if case .bytes = self { true } else { false }
    }

    /// Whether it holds a NUL, at which libpq would cut it off.
    var containsNUL: Bool {
        switch self {
        case .text(let text): text.containsNUL
        case .textArray(let elements): elements.contains(where: \.containsNUL)
        default: false
        }
    }

    private static func appendArray<Element>(
        _ elements: [Element],
        to bytes: inout [UInt8],
        _ append: (Element, inout [UInt8]) -> Void
    ) {
        bytes.append(UInt8(ascii: "{"))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            append(element, &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }
}

extension String {
    /// Whether there is a NUL in it, which PostgreSQL cannot store.
    package var containsNUL: Bool {
        utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        } ?? utf8.contains(0)
    }
}
