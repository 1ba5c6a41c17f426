/// What of a file a request asks for by its header `Range` (RFC 9110, section 14.2).
enum ByteRange: Equatable {
    case whole
    case part(Range<Int>)
    /// The file has no such bytes.
    case unsatisfiable

    /// Of several ranges, and of what is malformed, the answer is the whole file, which every client must
    /// understand.
    init(_ header: String?, size: Int) {
        self = header.flatMap { Self.parsed($0, size) } ?? .whole
    }

    private static func parsed(_ header: String, _ size: Int) -> ByteRange? {
        guard header.lowercased().hasPrefix("bytes=") else { return nil }
        let bounds = header.dropFirst("bytes=".count).filter { $0 != " " }
            .split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, bounds.allSatisfy({ $0.utf8.allSatisfy { $0 >= 48 && $0 <= 57 } }) else {
            return nil
        }
        switch (bounds[0].isEmpty, bounds[1].isEmpty) {
        case (true, true):
            return nil
        case (true, false):
            let count = min(number(bounds[1]), size)
            return count > 0 ? .part(size - count..<size) : .unsatisfiable
        case (false, let isOpen):
            let first = number(bounds[0])
            let last = isOpen ? size - 1 : number(bounds[1])
            guard isOpen || first <= last else { return nil }
            return first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
        }
    }

    /// Of more digits than a number can have only that it is large matters.
    private static func number(_ digits: Substring) -> Int {
        Int(digits).map { min($0, .max - 1) } ?? .max - 1
    }
}
