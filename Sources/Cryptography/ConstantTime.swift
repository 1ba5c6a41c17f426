import CSodium

/// Compares without telling by the time taken where the first difference is; the length may leak.
package func constantTimeEquals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && sodium_memcmp(left, right, left.count) == 0
}

/// Compares the UTF-8 bytes; the length may leak.
package func constantTimeEquals(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    return zip(left.utf8, right.utf8).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
}

/// Compares two digests in constant time.
package func constantTimeEquals(_ left: Digest256, _ right: Digest256) -> Bool {
    left.withUnsafeBytes { leftBytes in
        right.withUnsafeBytes { rightBytes in
            sodium_memcmp(leftBytes.baseAddress, rightBytes.baseAddress, Digest256.byteCount) == 0
        }
    }
}
