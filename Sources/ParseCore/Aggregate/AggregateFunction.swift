import JSON
import ParseWire

/// The operators of expressions.
enum AggregateFunction: String, Sendable {
    case concat = "$concat"
    case substr = "$substr"
    case substrBytes = "$substrBytes"
    case toLower = "$toLower"
    case toUpper = "$toUpper"
    case cond = "$cond"
    case ifNull = "$ifNull"
    case equal = "$eq"
    case notEqual = "$ne"
    case greater = "$gt"
    case greaterOrEqual = "$gte"
    case less = "$lt"
    case lessOrEqual = "$lte"
    case compare = "$cmp"
    case and = "$and"
    case or = "$or"
    case not = "$not"
    case sum = "$sum"
    case average = "$avg"
    case minimum = "$min"
    case maximum = "$max"
    case add = "$add"
    case subtract = "$subtract"
    case multiply = "$multiply"
    case divide = "$divide"
    case mod = "$mod"
    case size = "$size"
    case arrayElement = "$arrayElemAt"
    case year = "$year"
    case month = "$month"
    case week = "$week"
    case dayOfMonth = "$dayOfMonth"
    case dayOfWeek = "$dayOfWeek"
    case dayOfYear = "$dayOfYear"
    case isoDayOfWeek = "$isoDayOfWeek"
    case isoWeek = "$isoWeek"
    case isoWeekYear = "$isoWeekYear"
    case hour = "$hour"
    case minute = "$minute"
    case second = "$second"
    case millisecond = "$millisecond"

    /// How many arguments it takes.
    var argumentCounts: ClosedRange<Int> {
        switch self {
        case .concat, .and, .or, .add, .multiply, .sum, .average, .minimum, .maximum: 0...1000
        case .ifNull: 2...1000
        case .substr, .substrBytes, .cond: 3...3
        case .equal, .notEqual, .greater, .greaterOrEqual, .less, .lessOrEqual, .compare, .subtract, .divide,
            .mod,
            .arrayElement:
            2...2
        default: 1...1
        }
    }

    /// The arguments as they are written: a list, a single one, or by name.
    func arguments(_ json: JSONValue) throws(ParseError) -> [JSONValue] {
        if case .array(let elements) = json { return elements }
        guard let object = json.objectValue else { return [json] }
        if self == .cond, object["if"] != nil {
            return ["if", "then", "else"].compactMap { object[$0] }
        }
        if isDatePart, let date = object["date"] {
            guard object.count == 1 else {
                throw .aggregate("\(rawValue) counts in UTC; no other time zone is supported.")
            }
            return [date]
        }
        return [json]
    }

    var isDatePart: Bool {
        switch self {
        case .year, .month, .week, .dayOfMonth, .dayOfWeek, .dayOfYear, .isoDayOfWeek, .isoWeek, .isoWeekYear,
            .hour, .minute, .second, .millisecond:
            true
        default: false
        }
    }

    func value(of arguments: [AggregateExpression], in document: JSONObject) throws(ParseError) -> JSONValue?
    {
        switch self {
        case .cond:
            let isTrue = AggregateExpression.isTrue(try arguments[0].value(in: document))
            return try arguments[isTrue ? 1 : 2].value(in: document)
        case .ifNull:
            for argument in arguments.dropLast() {
                if let value = try argument.value(in: document), !value.isNull { return value }
            }
            return try arguments[arguments.count - 1].value(in: document)
        case .and, .or:
            for argument in arguments
            where AggregateExpression.isTrue(try argument.value(in: document)) == (self == .or) {
                return .bool(self == .or)
            }
            return .bool(self == .and)
        default: break
        }
        var values: [JSONValue?] = []
        for argument in arguments { values.append(try argument.value(in: document)) }
        return try value(of: values)
    }

    private func value(of values: [JSONValue?]) throws(ParseError) -> JSONValue? {
        switch self {
        case .concat, .substr, .substrBytes, .toLower, .toUpper: return try text(values)
        case .not: return .bool(!AggregateExpression.isTrue(values[0]))
        case .sum, .average, .minimum, .maximum: return accumulated(values)
        case .add, .subtract, .multiply, .divide, .mod: return try arithmetic(values)
        case .size:
            guard let elements = values[0]?.arrayValue else { throw wrongType("an array") }
            return .number(Double(elements.count))
        case .arrayElement: return try element(values)
        case _ where isDatePart: return try datePart(values[0])
        default: return comparison(values[0], values[1])
        }
    }

    func wrongType(_ needed: String) -> ParseError {
        .aggregate("\(rawValue) needs \(needed).")
    }

    private func comparison(_ left: JSONValue?, _ right: JSONValue?) -> JSONValue {
        let order = AggregateOrder.compare(left, right)
        return switch self {
        case .equal: .bool(AggregateOrder.isSame(left, right))
        case .notEqual: .bool(!AggregateOrder.isSame(left, right))
        case .greater: .bool(order > 0)
        case .greaterOrEqual: .bool(order >= 0)
        case .less: .bool(order < 0)
        case .lessOrEqual: .bool(order <= 0)
        default: .number(Double(order))
        }
    }

    /// `$sum` and its like as expressions: over the elements of one array, or over the arguments.
    private func accumulated(_ values: [JSONValue?]) -> JSONValue? {
        var numbers = values
        if values.count == 1, case .array(let elements)? = values[0] { numbers = elements }
        var accumulator: AggregateAccumulator =
            switch self {
            case .sum: .sum(0)
            case .average: .average(sum: 0, count: 0)
            case .minimum: .extreme(nil, isMaximum: false)
            default: .extreme(nil, isMaximum: true)
            }
        for number in numbers { accumulator.add(number) }
        return accumulator.value
    }

    private func element(_ values: [JSONValue?]) throws(ParseError) -> JSONValue? {
        if values.contains(where: { $0?.isNull ?? true }) { return .null }
        guard let elements = values[0]?.arrayValue, let position = values[1]?.numberValue,
            let index = Int(exactly: position)
        else { throw wrongType("an array and a whole number") }
        let place = index < 0 ? index + elements.count : index
        return elements.indices.contains(place) ? elements[place] : nil
    }
}

/// The order of values of any type.
enum AggregateOrder {
    /// Below, equal or above 0; no value comes before null.
    static func compare(_ left: JSONValue?, _ right: JSONValue?) -> Int {
        guard let left, let right else { return (left == nil ? 0 : 1) - (right == nil ? 0 : 1) }
        let (leftPlace, rightPlace) = (place(left), place(right))
        return leftPlace < rightPlace ? -1 : rightPlace < leftPlace ? 1 : 0
    }

    static func isSame(_ left: JSONValue?, _ right: JSONValue?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return form(left) == form(right)
    }

    /// The form in which values are equal, as conditions of a `where` have it.
    static func form(_ json: JSONValue) -> JSONValue {
        FieldValue(stored: json).comparisonForm
    }

    static func place(_ json: JSONValue) -> SortValue {
        SortValue(FieldValue(stored: json))
    }
}
