import JSON
import ParseCore
import ParseWire
import Testing

/// Random filters on random rows, asked of SQLite and of a matcher that follows MongoDB's rules to the letter.
@Suite struct PredicateAgreementTests {
    private static let fields: [(String, FieldType)] = [
        ("s", .string), ("n", .number), ("b", .boolean), ("d", .date), ("p", .pointer("D")), ("a", .array),
        ("g", .geoPoint), ("rowid", .string), ("S", .string),
    ]

    @Test(.timeLimit(.minutes(3)))
    func `five thousand random filters find the same rows`() async throws {
        let seed = UInt64.random(in: .min ... .max)
        print("PredicateAgreement: seed \(seed)")
        var generator = Generator(state: seed)
        let test = try TestDatabase()
        let rows = (0..<120).map { number in
            var fields: [String: FieldValue] = [:]
            for (name, type) in Self.fields {
                switch generator.next(4) {
                case 0: break
                case 1: fields[name] = .null
                default: fields[name] = generator.value(type)
                }
            }
            return TestDatabase.row("r\(number)", fields)
        }
        try await test.store("C", Self.fields, rows)
        for number in 0..<5000 {
            let predicate = generator.predicate(depth: 3)
            let expected = rows.filter { Matcher.matches($0, predicate) }.map(\.objectID)
            let found = try await test.ids("C", predicate)
            guard found == expected else {
                let odd = Set(found).symmetricDifference(expected)
                Issue.record(
                    "seed \(seed), filter \(number): \(predicate) differs on \(rows.filter { odd.contains($0.objectID) }.prefix(2))"
                )
                return
            }
        }
    }

    private struct Generator {
        var state: UInt64

        mutating func next(_ bound: UInt64) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
            return Int((word ^ word >> 31) % bound)
        }

        mutating func value(_ type: FieldType) -> FieldValue {
            switch type {
            case .string: .string(["", "a", "A", "b", "ä", "'", "10", "true"][next(8)])
            case .number: .number([-1, 0, 1, 1.5, 10][next(5)])
            case .boolean: .bool(next(2) == 0)
            case .date: .date(Timestamp(milliseconds: Int64(next(3)) * 1000))
            case .geoPoint: .geoPoint(latitude: Double(next(2)), longitude: Double(next(2)))
            case .array: .array((0..<next(4)).map { _ in element() })
            default: .pointer(className: "D", objectID: ["x", "y", "X"][next(3)])
            }
        }

        mutating func element() -> JSONValue {
            switch next(6) {
            case 0: .string(["a", "b", "1"][next(3)])
            case 1: .number([0, 1, 1.5][next(3)])
            case 2: .bool(next(2) == 0)
            case 3: .null
            case 4: ["__type": "Pointer", "className": "D", "objectId": .string(["x", "y"][next(2)])]
            default: ["k": 1]
            }
        }

        mutating func literal(_ type: FieldType) -> FieldValue {
            switch next(8) {
            case 0: return .null
            case 1: return value(.string)
            case 2: return value(.number)
            case 3: return value(.boolean)
            default:
                guard type == .array else { return value(type) }
                return value([.string, .number, .boolean, .pointer("D")][next(4)])
            }
        }

        mutating func predicate(depth: Int) -> Predicate {
            let kind = next(depth > 0 ? 12 : 8)
            if kind >= 8 {
                let parts = (0..<next(4)).map { _ in predicate(depth: depth - 1) }
                return kind == 8
                    ? .all(parts) : kind == 9 ? .any(parts) : kind == 10 ? .none(parts) : .all(parts)
            }
            let (name, type) = next(12) == 0 ? ("unknown", .string) : PredicateAgreementTests.fields[next(9)]
            switch kind {
            case 0, 1: return .equal(name, literal(type))
            case 2: return .notEqual(name, literal(type))
            case 3: return .among(name, (0..<next(4)).map { _ in literal(type) })
            case 4: return .notAmong(name, (0..<next(4)).map { _ in literal(type) })
            case 5: return .exists(name, next(2) == 0)
            default:
                let comparison: [Predicate.Comparison] = [.less, .lessOrEqual, .greater, .greaterOrEqual]
                return .compare(name, comparison[next(4)], literal(type))
            }
        }
    }
}

/// MongoDB's rules, written down as plainly as possible.
private enum Matcher {
    static func matches(_ row: StoredRow, _ predicate: Predicate) -> Bool {
        switch predicate {
        case .everything: true
        case .all(let parts): parts.allSatisfy { matches(row, $0) }
        case .any(let parts): parts.contains { matches(row, $0) }
        case .none(let parts): !parts.contains { matches(row, $0) }
        case .equal(let field, let value): equals(row.fields[field], value)
        case .notEqual(let field, let value): !equals(row.fields[field], value)
        case .among(let field, let values): values.contains { equals(row.fields[field], $0) }
        case .notAmong(let field, let values): !values.contains { equals(row.fields[field], $0) }
        case .exists(let field, let isThere): (row.fields[field] != nil) == isThere
        case .compare(let field, let comparison, let value): compares(row.fields[field], comparison, value)
        default: false
        }
    }

    private static func equals(_ stored: FieldValue?, _ value: FieldValue) -> Bool {
        guard let stored else { return value == .null }
        if case .array(let elements) = stored { return elements.contains { $0 == value.json } }
        return stored == value
    }

    private static func compares(
        _ stored: FieldValue?,
        _ comparison: Predicate.Comparison,
        _ value: FieldValue
    ) -> Bool {
        switch (stored, value) {
        case (.array(let elements), .string(let right)):
            elements.contains {
                $0.stringValue.map { ordered(Array($0.utf8), comparison, Array(right.utf8)) } ?? false
            }
        case (.array(let elements), .number(let right)):
            elements.contains { $0.numberValue.map { ordered([$0], comparison, [right]) } ?? false }
        case (.string(let left), .string(let right)): ordered(Array(left.utf8), comparison, Array(right.utf8))
        case (.number(let left), .number(let right)): ordered([left], comparison, [right])
        case (.bool(let left), .bool(let right)): ordered([left ? 1 : 0], comparison, [right ? 1 : 0])
        case (.date(let left), .date(let right)):
            ordered([left.milliseconds], comparison, [right.milliseconds])
        case (.pointer(_, let left), .pointer(_, let right)):
            ordered(Array(left.utf8), comparison, Array(right.utf8))
        default: false
        }
    }

    private static func ordered<T: Comparable>(_ left: [T], _ comparison: Predicate.Comparison, _ right: [T])
        -> Bool
    {
        switch comparison {
        case .less: left.lexicographicallyPrecedes(right)
        case .lessOrEqual: !right.lexicographicallyPrecedes(left)
        case .greater: right.lexicographicallyPrecedes(left)
        case .greaterOrEqual: !left.lexicographicallyPrecedes(right)
        }
    }
}
