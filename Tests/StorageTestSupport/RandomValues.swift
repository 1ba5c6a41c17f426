import JSON
import ParseCore
import ParseWire

/// Makes values of which many are equal, or nearly.
struct RandomValues {
    var random: RandomSource

    private static let texts = [
        "", "a", "A", "b", "ab", "a b", "ä", "a\u{308}", "'", "\"", "\\", "10", "true", "%", "a\nb", "coffee and cream",
        "Coffee", "x\u{10FFFF}",
    ]

    mutating func text() -> String {
        random.pick(Self.texts)
    }

    mutating func number() -> Double {
        random.pick([-1, -0.0, 0, 1, 1.5, 2, 10, 1e15, -1e-7])
    }

    mutating func instant() -> Timestamp {
        Timestamp(milliseconds: Int64(random.next(4)) * 1000 - 1000)
    }

    mutating func id(_ className: String) -> String {
        AgreementClasses.id(className, random.next(12))
    }

    mutating func point() -> GeoPoint {
        GeoPoint(
            latitude: random.pick([-90, -1, 0, 1, 1.5, 2, 45, 90]),
            longitude: random.pick([-180, -179.5, -1, 0, 1, 1.5, 2, 90, 179.5, 180])
        )
    }

    mutating func value(_ type: FieldType) -> FieldValue {
        switch type {
        case .string: .string(text())
        case .number: .number(number())
        case .boolean: .bool(random.once(in: 2))
        case .date: .date(instant())
        case .pointer(let target): .pointer(className: target, objectID: id(target))
        case .array: .array(random.list(below: 4) { Self.json(&$0, depth: 2) })
        case .object: .object(Self.object(&random, depth: 2))
        case .geoPoint:
            {
                let point = point()
                return .geoPoint(latitude: point.latitude, longitude: point.longitude)
            }()
        case .file: .file(name: random.pick(["a.png", "b.png"]))
        case .bytes: .bytes(base64: random.pick(["AA==", "AQ=="]))
        case .polygon: .polygon(random.pick([Self.triangle, Self.square]))
        case .relation, .acl: .null
        }
    }

    private static let triangle: [[Double]] = [[0, 0], [0, 2], [2, 0], [0, 0]]
    private static let square: [[Double]] = [[-1, -1], [-1, 1], [1, 1], [1, -1], [-1, -1]]

    /// A value inside of an array or object.
    static func json(_ random: inout RandomSource, depth: Int) -> JSONValue {
        var values = RandomValues(random: random)
        defer { random = values.random }
        switch values.random.next(depth > 0 ? 11 : 8) {
        case 0: return .null
        case 1: return .bool(values.random.once(in: 2))
        case 2, 3: return .number(values.number())
        case 4: return .string(values.text())
        case 5: return FieldValue.pointerJSON(AgreementClasses.second, values.id(AgreementClasses.second))
        case 6: return FieldValue.dateJSON(values.instant())
        case 7: return values.value(.geoPoint).json
        case 8: return .array(values.random.list(below: 3) { json(&$0, depth: depth - 1) })
        default: return .object(object(&values.random, depth: depth - 1))
        }
    }

    static func object(_ random: inout RandomSource, depth: Int) -> JSONObject {
        var object = JSONObject()
        for key in ["k", "l", "0"] where random.once(in: 2) {
            object.append(key, json(&random, depth: depth))
        }
        return object
    }

    /// What a condition compares with: mostly of the field's type, but not always.
    mutating func literal(_ type: FieldType) -> FieldValue {
        switch random.next(10) {
        case 0: return .null
        case 1: return value(random.pick([.string, .number, .boolean, .date]))
        default: break
        }
        switch type {
        case .array, .object:
            guard !random.once(in: 3) else { return value(type) }
            return FieldValue(stored: Self.json(&random, depth: 1))
        case .relation(let target): return .pointer(className: target, objectID: id(target))
        default: return value(type)
        }
    }
}
