import JSON
import ParseCore
import ParseWire

/// Decodes the input as the `where` of a find, and asks some rows whether they match.
///
/// The first byte chooses who asks and how many of the rows; the rest is JSON. An object with `pipeline` is an aggregate.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzWhere(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // SAFETY: libFuzzer keeps `count` bytes at `start` valid during the call.
    let input = Array(UnsafeRawBufferPointer(start: start, count: count))
    guard let choice = input.first,
        let object = (try? JSONValue.parse(input.dropFirst(), limits: limits))?.objectValue
    else { return 0 }
    do {
        if object["pipeline"] != nil {
            _ = try AggregatePipeline(object, schema: schema, now: now)
        } else {
            try check(object, isMaster: choice < 128)
        }
    } catch let error as ParseError {
        precondition([1, 102, 105, 107, 108, 111, 121].contains(error.code?.rawValue), "a strange code")
        precondition(error.message?.isEmpty == false, "a refusal says nothing")
        precondition((error.message ?? "").utf8.count < 20_000, "a refusal says too much")
    } catch {
        fatalError("an error that nobody expects: \(error)")
    }
    return 0
}

private func check(_ filter: JSONObject, isMaster: Bool) throws {
    let decoder = WhereDecoder(schema: schema, isMaster: isMaster, now: now)
    let meaning = try decoder.meaning(of: filter)
    let again = try decoder.meaning(of: filter)
    precondition(meaning == again, "decoding is not the same twice")
    let matcher = try PredicateMatcher(meaning.predicate, schema: schema, links: Links())
    let opposite = try PredicateMatcher(.none([meaning.predicate]), schema: schema, links: Links())
    for row in rows {
        let (isMatch, isOpposite) = (try matcher.matches(row), try opposite.matches(row))
        precondition(isMatch != isOpposite, "a row both matches and does not")
        let score = matcher.textScore(of: row)
        precondition(score >= 0 && score.isFinite, "a score is no number")
    }
    let paths = WhereDecoder.fields(of: filter)
    let order = RowOrder(paths.prefix(4).map { SortKey(field: $0) }, nearest: meaning.nearest)
    let sorted = order.sorted(rows).map(\.objectID)
    precondition(order.sorted(rows.reversed()).count == sorted.count, "sorting loses rows")
}

private let limits = JSONLimits(bytes: 1 << 20, depth: 64, values: 10_000)
private let now = Timestamp(milliseconds: 1_704_067_200_000)

private let schema = ClassSchema(
    className: "C",
    fields: SystemClasses.commonFields + [
        ("s", .string), ("n", .number), ("b", .boolean), ("d", .date), ("p", .pointer("D")), ("a", .array),
        ("o", .object), ("g", .geoPoint), ("y", .polygon), ("f", .file), ("r", .relation("D")),
    ]
)

private let rows: [StoredRow] = [
    [:],
    ["s": .null, "n": .null, "a": .array([]), "o": .object([:])],
    [
        "s": .string("Coffee and cream"), "n": .number(1.5), "b": .bool(true), "d": .date(now),
        "p": .pointer(className: "D", objectID: "x"), "a": .array(["a", 1, nil, ["k": [["l": 2]]], [1, 2]]),
        "o": .object(["k": ["l": [1, ["m": true]]], "d": ["__type": "Date", "iso": "2024-01-01"]]),
        "g": .geoPoint(latitude: 41.9, longitude: 12.5),
        "y": .polygon([[0, 0], [0, 10], [10, 10], [10, 0], [0, 0]]), "f": .file(name: "n.txt"),
    ],
    [
        "s": .string("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), "n": .number(-0.0), "b": .bool(false),
        "a": .array([["__type": "Pointer", "className": "D", "objectId": "x"], "caf\u{E9}"]),
        "o": .object(["a": 1, "0": [3]]), "g": .geoPoint(latitude: -90, longitude: 180),
    ],
].enumerated().map { number, fields in
    StoredRow(
        objectID: "r\(number)",
        createdAt: now,
        updatedAt: now.adding(seconds: Double(number)),
        fields: fields
    )
}

/// The first row is linked to `x` by every relation.
private struct Links: LinkResolver {
    func objectIDs(of subquery: Subquery) throws(ParseError) -> Set<String> { ["x"] }

    func values(of subquery: Subquery, at path: String) throws(ParseError) -> Set<JSONValue> { ["a", 1] }

    func relatedIDs(ownerClass: String, ownerID: String, field: String) throws(ParseError) -> Set<String> {
        ownerID == "r0" ? ["x"] : ["r1"]
    }
}
