import JSON
import ParseCore
import ParseWire

/// Makes predicates, orders and queries of the classes of ``AgreementClasses``.
struct RandomQueries {
    var values: RandomValues

    init(random: RandomSource) {
        values = RandomValues(random: random)
    }

    private static let groups = [["*"], ["*", "u"], ["*", "u", "role:R"]]

    mutating func access() -> RowAccess {
        values.random.once(in: 3) ? .group(values.random.pick(Self.groups)) : .unrestricted
    }

    mutating func acl() -> AccessControlList? {
        switch values.random.next(6) {
        case 0: AccessControlList()
        case 1: AccessControlList(readers: ["u"], writers: ["*"])
        case 2: AccessControlList(readers: ["role:R"])
        default: nil
        }
    }

    mutating func query() -> RowQuery {
        let className = values.random.once(in: 4) ? AgreementClasses.second : AgreementClasses.first
        var query = RowQuery(
            className: className,
            predicate: predicate(of: className, depth: 3),
            access: access(),
            order: order(of: className),
            limit: values.random.once(in: 3) ? values.random.next(8) : 10_000,
            skip: values.random.once(in: 4) ? values.random.next(5) : 0
        )
        if className == AgreementClasses.first, values.random.once(in: 8) {
            query.nearest = RowQuery.Nearest(field: "g", center: values.point())
        }
        if values.random.once(in: 5) {
            query.fields = Set(values.random.list(below: 4) { Self.field(of: className, &$0).name })
        }
        return query
    }

    private mutating func order(of className: String) -> [SortKey] {
        guard values.random.once(in: 2) else { return [] }
        var keys: [SortKey] = []
        for _ in 0...values.random.next(3) {
            let name = values.random.once(in: 10) ? SortKey.score : path(of: className).name
            guard !keys.contains(where: { $0.field == name }) else { continue }
            keys.append(SortKey(field: name, isDescending: values.random.once(in: 2)))
        }
        return keys
    }

    /// A field, often with a path inside it.
    mutating func path(of className: String) -> (name: String, type: FieldType) {
        switch values.random.next(16) {
        case 0: return ("unknown", .string)
        case 1: return values.random.pick([("objectId", .string), ("createdAt", .date)])
        default: break
        }
        let (name, type) = Self.field(of: className, &values.random)
        let isNested = type == .object || type == .array
        guard isNested ? values.random.once(in: 2) : values.random.once(in: 15) else { return (name, type) }
        let keys = values.random.pick([["k"], ["l"], ["0"], ["1"], ["k", "l"], ["k", "0"], ["0", "k"], ["k", "k"]])
        return (([name] + keys).joined(separator: "."), type == .object ? .array : type)
    }

    private static func field(of className: String, _ random: inout RandomSource)
        -> (name: String, type: FieldType)
    {
        random.pick(AgreementClasses.fields[className] ?? [])
    }

    mutating func predicate(of className: String, depth: Int) -> Predicate {
        let kind = values.random.next(depth > 0 ? 24 : 18)
        switch kind {
        case 18...: return group(of: className, kind, depth)
        case 16: return subquery(of: className, depth)
        case 17: return related(to: className)
        default: return leaf(of: className, kind)
        }
    }

    private mutating func group(of className: String, _ kind: Int, _ depth: Int) -> Predicate {
        let parts = (0..<values.random.next(4)).map { _ in predicate(of: className, depth: depth - 1) }
        switch kind {
        case 18, 19: return .all(parts)
        case 20, 21: return .any(parts)
        default: return .none(parts)
        }
    }

    private mutating func leaf(of className: String, _ kind: Int) -> Predicate {
        let (name, type) = path(of: className)
        switch kind {
        case 0, 1, 2: return .equal(name, values.literal(type))
        case 3: return .notEqual(name, values.literal(type))
        case 4: return .among(name, literals(type))
        case 5: return .notAmong(name, literals(type))
        case 6: return .exists(name, values.random.once(in: 2))
        case 7: return .containedBy(name, literals(type))
        case 8: return .matches(name, pattern())
        case 9: return geo(name)
        case 10: return .search(name, TextSearch(term: values.random.pick(["coffee", "a", "cream -coffee", "\"a b\""])))
        default:
            let comparisons: [Predicate.Comparison] = [.less, .lessOrEqual, .greater, .greaterOrEqual]
            return .compare(name, values.random.pick(comparisons), values.literal(type))
        }
    }

    private mutating func literals(_ type: FieldType) -> [FieldValue] {
        (0..<values.random.next(5)).map { _ in values.literal(type) }
    }

    private mutating func pattern() -> TextPattern {
        let patterns = ["a", "^a", "^\\Qa\\E", "^\\Qa\\E|b", "^\\Q\\E", "b$", ".", "\\d+", "^\\Qä\\E", "[a-b]{2}", "^\\Qx\u{10FFFF}\\E"]
        let options: [TextPattern.Options] = [[], [], .ignoresCase, [.multiline, .dotMatchesLineEnds]]
        return TextPattern(values.random.pick(patterns), options: values.random.pick(options))
    }

    private mutating func geo(_ name: String) -> Predicate {
        let field = values.random.once(in: 4) ? name : values.random.pick(["g", "g", "area", "a", "o.k"])
        switch values.random.next(4) {
        case 0:
            let distances: [Double?] = [nil, 0, 0.01, 0.03, 0.5, 1.6, 3, 4]
            return .near(field, values.point(), maxRadians: values.random.pick(distances))
        case 1: return .inside(field, .box(southWest: values.point(), northEast: values.point()))
        case 2: return .inside(field, .polygon((0..<3 + values.random.next(2)).map { _ in values.point() }))
        default: return .covers(field, values.point())
        }
    }

    private mutating func subquery(of className: String, _ depth: Int) -> Predicate {
        let (name, _) = path(of: className)
        let target = values.random.once(in: 4) ? className : AgreementClasses.other(className)
        let subquery = Subquery(
            className: values.random.once(in: 30) ? "Unknown" : target,
            predicate: predicate(of: target, depth: max(0, depth - 2)),
            access: access()
        )
        guard values.random.once(in: 2) else { return .amongObjects(name, subquery) }
        return .amongValues(name, subquery, path: path(of: target).name)
    }

    private mutating func related(to className: String) -> Predicate {
        let owner = values.random.once(in: 2) ? AgreementClasses.first : AgreementClasses.second
        let fields = AgreementClasses.relations(of: owner).filter { $0.target == className }.map(\.name)
        return .related(
            ownerClass: owner,
            ownerID: values.id(owner),
            field: fields.isEmpty ? "unknown" : values.random.pick(fields)
        )
    }
}
