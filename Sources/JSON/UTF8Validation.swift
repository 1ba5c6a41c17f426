/// The offset of the first byte that is not part of well-formed UTF-8 (RFC 3629), or `nil`.
///
/// Overlong forms, surrogates and code points above U+10FFFF are ill-formed. One pass over a document
/// is much cheaper than a validating `String` initialiser per string.
func offsetOfInvalidUTF8(in bytes: UnsafeRawBufferPointer) -> Int? {
    var position = 0
    let end = bytes.count
    while position < end {
        if position + 8 <= end,
            bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
            position += 8
            continue
        }
        guard let length = lengthOfScalar(in: bytes, at: position) else { return position }
        position += length
    }
    return nil
}

/// The length of the well-formed sequence that starts at `position`, or `nil` when there is none.
private func lengthOfScalar(in bytes: UnsafeRawBufferPointer, at position: Int) -> Int? {
    let first = bytes[position]
    let length: Int
    // The second byte's range excludes overlong forms, surrogates and what lies above U+10FFFF.
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch first {
    case 0x00...0x7F: return 1
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: length = 4
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: return nil
    }
    guard position + length <= bytes.count, second.contains(bytes[position + 1]) else { return nil }
    var next = position + 2
    while next < position + length {
        guard bytes[next] & 0xC0 == 0x80 else { return nil }
        next += 1
    }
    return length
}
