/// Finds repeated names while an object is read, at constant cost for each name.
///
/// A name's hint is one of 64 bits; names with different hints differ, so in small objects few names
/// are compared at all. In larger ones a hash table takes over.
struct NameFilter {
    private var seenHints: UInt64 = 0
    private var places: [CodePointKey: Int]?

    /// A bit for a name, made of its first byte and its length.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - firstByte: The first byte of the name as written.
    ///   - length: The length of the name as written.
    /// - Returns: The same for a name however it is written.
    static func hint(of name: String, firstByte: UInt8, length: Int) -> UInt64 {
        // An escape is longer than what it stands for.
        let isPlain = length == name.utf8.count
        let first = isPlain && length > 0 ? firstByte : name.utf8.first ?? 0
        return 1 << UInt64(truncatingIfNeeded: (Int(first) &* 7 &+ name.utf8.count) & 63)
    }

    /// The place of an earlier member of that name, if there is one; else notes the name.
    mutating func place(of key: String, hint: UInt64, in members: [JSONObject.Member]) -> Int? {
        if members.count < JSONObject.pairwiseLimit {
            defer { seenHints |= hint }
            guard seenHints & hint != 0 else { return nil }
            return members.firstIndex { $0.key.hasSameCodePoints(as: key) }
        }
        if places == nil { places = Self.places(of: members) }
        if let place = places?[CodePointKey(key)] { return place }
        places?[CodePointKey(key)] = members.count
        return nil
    }

    private static func places(of members: [JSONObject.Member]) -> [CodePointKey: Int] {
        var places: [CodePointKey: Int] = [:]
        for (place, member) in members.enumerated() { places[CodePointKey(member.key)] = place }
        return places
    }
}
