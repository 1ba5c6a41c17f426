extension String {
    /// Whether both strings have the same code points, without normalisation.
    func hasSameCodePoints(as other: String) -> Bool {
        // Canonical equivalence is necessary and quick to refute; only a match has its bytes compared.
        guard utf8.count == other.utf8.count, self == other else { return false }
        var (left, right) = (self, other)
        return left.withUTF8 { left in
            right.withUTF8 { right in left.elementsEqual(right) }
        }
    }

    /// Feeds the code points to a hasher, so that strings which differ only by normalisation differ.
    ///
    /// With `String`'s own hash a sender could choose many different names with one hash.
    func hashCodePoints(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}

/// A string as a key of a set or dictionary, compared by code points.
struct CodePointKey: Hashable {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: Self, right: Self) -> Bool {
        left.text.hasSameCodePoints(as: right.text)
    }

    func hash(into hasher: inout Hasher) {
        text.hashCodePoints(into: &hasher)
    }
}
