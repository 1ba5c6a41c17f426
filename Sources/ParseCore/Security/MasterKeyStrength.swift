/// Whether a key is hard to guess.
package enum MasterKeyStrength {
    private static let minLength = 14
    private static let minKinds = 3

    /// At least 14 characters of three of the kinds small letters, capital letters, digits and others.
    package static func isStrong(_ key: String) -> Bool {
        var kinds: Set<Int> = []
        for byte in key.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): kinds.insert(0)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): kinds.insert(1)
            case UInt8(ascii: "0")...UInt8(ascii: "9"): kinds.insert(2)
            default: kinds.insert(3)
            }
        }
        return key.count >= minLength && kinds.count >= minKinds
    }
}
