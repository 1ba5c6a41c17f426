import JSON
import ParseWire

/// The order of rows that a list of ``SortKey`` asks for.
///
/// Values of one field have the order of their type: numbers, dates, `false` before `true`, texts and file names by
/// their bytes, pointers by the bytes of their ids. Where a path yields values of different types, the types have
/// the order: absent and null alike, numbers, texts with pointers and files, everything else that is an object or
/// array, truth values, dates. Objects, geo points, polygons and bytes are all alike. Of an array the lowest element
/// counts ascending and the highest descending, and an array without elements is as null. Where a path leads through
/// an array, all values it leads to count as elements of one array.
package struct RowOrder: Sendable {
    private let keys: [Key]

    private struct Key: Sendable {
        let field: String
        let path: [String]
        let isDescending: Bool
    }

    /// What one row is sorted by.
    package struct Place: Sendable {
        fileprivate let values: [SortValue]
    }

    private let nearest: RowQuery.Nearest?
    private let matcher: PredicateMatcher?

    /// Prepares the order of a query.
    ///
    /// - Parameters:
    ///   - keys: By these, the first counting most.
    ///   - nearest: By the distance from there, when there are no keys.
    ///   - matcher: Gives the score for ``SortKey/score``; without one all scores are alike.
    package init(_ keys: [SortKey], nearest: RowQuery.Nearest? = nil, matcher: PredicateMatcher? = nil) {
        self.keys = keys.map { key in
            var parts = FieldName.path(key.field) ?? [key.field]
            let field = parts.removeFirst()
            return Key(field: field, path: parts, isDescending: key.isDescending)
        }
        self.nearest = keys.isEmpty ? nearest : nil
        self.matcher = matcher
    }

    /// What the row is sorted by, to be compared often.
    package func place(of row: StoredRow) -> Place {
        if let nearest { return Place(values: [distance(of: row, nearest)]) }
        return Place(
            values: keys.map { key in
                guard key.field != SortKey.score else {
                    return SortValue(rank: .number, number: -(matcher?.textScore(of: row) ?? 0))
                }
                let values = PathValues.values(of: row.value(of: key.field), at: key.path)
                return SortValue(values, isDescending: key.isDescending)
            }
        )
    }

    /// Whether the first place comes before the second; false for places that are alike.
    package func precedes(_ left: Place, _ right: Place) -> Bool {
        for (index, (left, right)) in zip(left.values, right.values).enumerated() {
            let isDescending = nearest == nil && keys[index].isDescending
            if left < right { return !isDescending }
            if right < left { return isDescending }
        }
        return false
    }

    /// The rows in order; rows that are alike keep theirs.
    package func sorted(_ rows: [StoredRow]) -> [StoredRow] {
        let places = rows.map(place)
        return rows.indices.sorted { left, right in
            if precedes(places[left], places[right]) { return true }
            return !precedes(places[right], places[left]) && left < right
        }.map { rows[$0] }
    }

    private func distance(of row: StoredRow, _ nearest: RowQuery.Nearest) -> SortValue {
        guard case .geoPoint(let latitude, let longitude) = row.value(of: nearest.field) else {
            return SortValue(rank: .null)
        }
        let point = GeoPoint(latitude: latitude, longitude: longitude)
        return SortValue(rank: .number, number: nearest.center.radians(to: point))
    }
}

/// A value as it counts in an order.
struct SortValue: Comparable, Sendable {
    enum Rank: Int, Sendable {
        case null, number, text, object, bool, date
    }

    let rank: Rank
    let number: Double
    let text: String

    init(rank: Rank, number: Double = 0, text: String = "") {
        self.rank = rank
        self.number = number
        self.text = text
    }

    init(_ value: FieldValue) {
        switch value {
        case .null: self.init(rank: .null)
        case .number(let number): self.init(rank: .number, number: number)
        case .string(let text), .file(let text): self.init(rank: .text, text: text)
        case .pointer(_, let id): self.init(rank: .text, text: id)
        case .bool(let flag): self.init(rank: .bool, number: flag ? 1 : 0)
        // Milliseconds of all dates there are fit a double exactly.
        case .date(let instant): self.init(rank: .date, number: Double(instant.milliseconds))
        case .array, .object, .geoPoint, .polygon, .bytes, .binary: self.init(rank: .object)
        }
    }

    /// The value of a path: the lowest or highest of all that are there, elements of arrays among them.
    init(_ values: [FieldValue?], isDescending: Bool) {
        let all = values.flatMap { value -> [SortValue] in
            guard case .array(let elements) = value else { return [SortValue(value ?? .null)] }
            return elements.map { SortValue(FieldValue(stored: $0)) }
        }
        self = (isDescending ? all.max() : all.min()) ?? SortValue(rank: .null)
    }

    static func < (left: SortValue, right: SortValue) -> Bool {
        if left.rank != right.rank { return left.rank.rawValue < right.rank.rawValue }
        if left.number != right.number { return left.number < right.number }
        return ByteOrder(left.text) < ByteOrder(right.text)
    }

    static func == (left: SortValue, right: SortValue) -> Bool {
        left.rank == right.rank && left.number == right.number
            && ByteOrder(left.text) == ByteOrder(right.text)
    }
}
