import JSON
import ParseWire
import RegularExpressions
import TextSearch

extension ValueTest {
    /// What one value must be like.
    enum Leaf: Sendable {
        case equal(FieldValue)
        case among(Set<JSONValue>, orNull: Bool)
        case compare(Predicate.Comparison, FieldValue)
        case exists
        case containedBy(Set<JSONValue>)
        case expression(RegularExpression)
        case search(TextQuery)
        case near(GeoPoint, maxRadians: Double?)
        case inside(GeoArea)
        case covers(GeoPoint)
        case pointer(String, Set<String>)

        static func read(_ predicate: Predicate) throws(ParseError) -> (String, Leaf, isNegated: Bool)? {
            switch predicate {
            case .equal(let field, let value): (field, .equal(value), false)
            case .notEqual(let field, let value): (field, .equal(value), true)
            case .among(let field, let values): (field, Self.among(values), false)
            case .notAmong(let field, let values): (field, Self.among(values), true)
            case .compare(let field, let comparison, let value): (field, .compare(comparison, value), false)
            case .exists(let field, let isThere): (field, .exists, !isThere)
            case .containedBy(let field, let values):
                (field, .containedBy(Set(values.map(\.comparisonForm))), false)
            case .matches(let field, let pattern): (field, .expression(try pattern.compiled()), false)
            case .search(let field, let search): (field, .search(try search.query()), false)
            case .near(let field, let center, let radians): (field, .near(center, maxRadians: radians), false)
            case .inside(let field, let area): (field, .inside(area), false)
            case .covers(let field, let point): (field, .covers(point), false)
            case .everything, .all, .any, .none, .amongObjects, .amongValues, .related, .usernameKey,
                .emailKey,
                .hidden:
                nil
            }
        }

        private static func among(_ values: [FieldValue]) -> Leaf {
            let hasNull = values.contains(.null)
            return .among(Set(values.lazy.filter { $0 != .null }.map(\.comparisonForm)), orNull: hasNull)
        }

        /// Whether the value itself or, of an array, one of its elements is so; `nil` is an absent value.
        func holds(for value: FieldValue?) throws(ParseError) -> Bool {
            switch self {
            case .exists: return value != nil
            case .containedBy(let forms):
                guard case .array(let elements) = value else { return true }
                return elements.allSatisfy { forms.contains(FieldValue(stored: $0).comparisonForm) }
            case .equal(.null) where value == nil, .among(_, orNull: true) where value == nil: return true
            default: break
            }
            guard let value else { return false }
            if try isHeld(by: value) { return true }
            guard case .array(let elements) = value else { return false }
            for element in elements where try isHeld(by: FieldValue(stored: element)) { return true }
            return false
        }

        /// Whether this one value is so, whatever it holds.
        private func isHeld(by value: FieldValue) throws(ParseError) -> Bool {
            switch (self, value) {
            case (.equal(let wanted), _): value.isSame(as: wanted)
            case (.among(let forms, let orNull), _):
                value == .null ? orNull : forms.contains(value.comparisonForm)
            case (.compare(let comparison, let bound), _): comparison.holds(value, bound)
            case (.expression(let expression), .string(let text)): try expression.isFound(in: text)
            case (.search(let query), .string(let text)): query.score(of: text) != nil
            case (.near(let center, let maxRadians), .geoPoint(let latitude, let longitude)):
                maxRadians.map {
                    center.radians(to: GeoPoint(latitude: latitude, longitude: longitude)) <= $0
                } ?? true
            case (.inside(let area), .geoPoint(let latitude, let longitude)):
                area.contains(GeoPoint(latitude: latitude, longitude: longitude))
            case (.covers(let point), .polygon(let points)):
                GeoArea.polygon(
                    points.lazy.filter { $0.count == 2 }.map { GeoPoint(latitude: $0[0], longitude: $0[1]) },
                    contains: point
                )
            case (.pointer(let className, let ids), .pointer(let target, let id)):
                target == className && ids.contains(id)
            default: false
            }
        }

        /// The texts that a text search looks at.
        static func texts(of value: FieldValue?) -> [String] {
            switch value {
            case .string(let text): [text]
            case .array(let elements): elements.compactMap(\.stringValue)
            default: []
            }
        }
    }
}

extension Predicate.Comparison {
    /// Whether the value is on that side of the bound.
    ///
    /// Numbers, dates and truth values have an order, texts and the names of files that of their bytes, pointers to
    /// one class that of their ids. Nothing else has one, and values of different types have none among each other.
    package func holds(_ value: FieldValue, _ bound: FieldValue) -> Bool {
        switch (value, bound) {
        case (.number(let left), .number(let right)): holds(left, right)
        case (.date(let left), .date(let right)): holds(left, right)
        case (.bool(let left), .bool(let right)): holds(left ? 1 : 0, right ? 1 : 0)
        case (.string(let left), .string(let right)): holds(ByteOrder(left), ByteOrder(right))
        case (.file(let left), .file(let right)): holds(ByteOrder(left), ByteOrder(right))
        case (.pointer(let className, let left), .pointer(let other, let right)) where className == other:
            holds(ByteOrder(left), ByteOrder(right))
        default: false
        }
    }

    private func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        }
    }
}

/// A text in the order of its bytes, as databases have it; Swift's own order knows canonical equivalence.
struct ByteOrder: Comparable {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    static func < (left: ByteOrder, right: ByteOrder) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    static func == (left: ByteOrder, right: ByteOrder) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }
}
