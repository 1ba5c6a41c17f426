import JSON
import ParseCore
import ParseWire
import Testing

@Suite struct RowOrderTests {
    private func rows(_ values: [FieldValue?]) -> [StoredRow] {
        values.enumerated().map { number, value in
            var row = StoredRow(
                objectID: "r\(number)",
                createdAt: Timestamp(milliseconds: Int64(number)),
                updatedAt: Timestamp(milliseconds: 0)
            )
            row.fields["f"] = value
            return row
        }
    }

    private func order(_ values: [FieldValue?], _ keys: [SortKey]) -> [Int] {
        RowOrder(keys).sorted(rows(values)).map { Int($0.createdAt.milliseconds) }
    }

    @Test(
        arguments: [
            ([.number(2), nil, .number(-1), .null, .number(10)], [1, 3, 2, 0, 4]),
            ([.string("b"), .string("B"), .string("ä"), .string("a"), .string("")], [4, 1, 3, 0, 2]),
            ([.bool(true), .bool(false), nil], [2, 1, 0]),
            ([.pointer(className: "D", objectID: "b"), .pointer(className: "D", objectID: "a")], [1, 0]),
            ([.array([5, 1]), .array([3]), .array([]), .array([2])], [2, 0, 3, 1]),
            (
                [
                    .date(Timestamp(milliseconds: 0)), .bool(false), .object([:]), .string(""), .number(0),
                    nil,
                    .geoPoint(latitude: 0, longitude: 0),
                ], [5, 4, 3, 2, 6, 1, 0]
            ),
        ] as [([FieldValue?], [Int])]
    )
    func `values have an order`(_ values: [FieldValue?], _ expected: [Int]) {
        #expect(order(values, [SortKey(field: "f")]) == expected)
    }

    @Test func `descending is the other way round, and of an array the highest counts`() {
        let descending = SortKey(field: "f", isDescending: true)
        #expect(order([.number(1), nil, .number(2)], [descending]) == [2, 0, 1])
        #expect(order([.array([5, 1]), .array([3]), .array([])], [descending]) == [0, 1, 2])
    }

    @Test func `rows that are alike are sorted by the next key, then keep their places`() {
        let values: [FieldValue?] = [.string("a"), .string("b"), .string("a")]
        #expect(order(values, [SortKey(field: "f")]) == [0, 2, 1])
        #expect(
            order(values, [SortKey(field: "f"), SortKey(field: "createdAt", isDescending: true)]) == [
                2, 0, 1,
            ]
        )
        #expect(order(values, [SortKey(field: "unknown")]) == [0, 1, 2])
        #expect(order(values, []) == [0, 1, 2])
    }

    @Test func `a path sorts by what it leads to`() {
        let values: [FieldValue?] = [
            .object(["a": 2]), .object(["a": 1]), .array([["a": 9], ["a": 0]]), nil,
        ]
        #expect(order(values, [SortKey(field: "f.a")]) == [3, 2, 1, 0])
        #expect(order(values, [SortKey(field: "f.a", isDescending: true)]) == [2, 0, 1, 3])
    }

    @Test func `without keys the nearest come first`() {
        let nearest = RowQuery.Nearest(field: "f", center: GeoPoint(latitude: 0, longitude: 0))
        let values: [FieldValue?] = [
            .geoPoint(latitude: 5, longitude: 5), .geoPoint(latitude: 0, longitude: 1),
            .geoPoint(latitude: 0, longitude: -179),
        ]
        let sorted = RowOrder([], nearest: nearest).sorted(rows(values)).map(\.objectID)
        #expect(sorted == ["r1", "r0", "r2"])
        let byKey = RowOrder([SortKey(field: "objectId", isDescending: true)], nearest: nearest)
        #expect(byKey.sorted(rows(values)).map(\.objectID) == ["r2", "r1", "r0"])
    }

    @Test func `the best match comes first`() throws {
        let schema = ClassSchema(className: "C", fields: [("f", .string)])
        let matcher = try PredicateMatcher(.search("f", TextSearch(term: "coffee")), schema: schema)
        let values: [FieldValue?] = [
            .string("coffee and cream"), .string("coffee"), .string("coffee with milk"),
        ]
        let best = RowOrder([SortKey(field: SortKey.score)], matcher: matcher)
        #expect(best.sorted(rows(values)).map(\.objectID) == ["r1", "r0", "r2"])
        let worst = RowOrder([SortKey(field: SortKey.score, isDescending: true)], matcher: matcher)
        #expect(worst.sorted(rows(values)).map(\.objectID).last == "r1")
    }

    @Test func `distances are those of the sphere`() {
        let sanFrancisco = GeoPoint(latitude: 37.7749, longitude: -122.4194)
        let newYork = GeoPoint(latitude: 40.7128, longitude: -74.0060)
        let kilometers = sanFrancisco.radians(to: newYork) * GeoPoint.earthRadiusInKilometers
        #expect((4128...4132).contains(kilometers))
        #expect(sanFrancisco.radians(to: sanFrancisco) == 0)
        let poles = GeoPoint(latitude: 90, longitude: 0).radians(to: GeoPoint(latitude: -90, longitude: 77))
        #expect(abs(poles - Double.pi) < 1e-12)
    }
}
