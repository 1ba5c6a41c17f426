import JSON
import ParseWire

extension AggregateFunction {
    /// As much as an object may hold.
    private static let textByteLimit = ObjectSize.limit

    func text(_ values: [JSONValue?]) throws(ParseError) -> JSONValue? {
        switch self {
        case .concat:
            var text = ""
            for value in values {
                guard let value, !value.isNull else { return .null }
                guard let part = Self.stringText(value) else { throw wrongType("texts") }
                text += part
                guard text.utf8.count <= Self.textByteLimit else {
                    throw .aggregate("$concat makes no text of more than \(Self.textByteLimit) bytes.")
                }
            }
            return .string(text)
        case .toLower, .toUpper:
            guard let value = values[0], !value.isNull else { return "" }
            guard let text = Self.anyText(value) else { throw wrongType("a text") }
            return .string(self == .toLower ? text.lowercased() : text.uppercased())
        default:
            guard let value = values[0], !value.isNull else { return "" }
            guard let text = Self.anyText(value), let start = values[1]?.numberValue,
                let length = values[2]?.numberValue
            else { throw wrongType("a text and two numbers") }
            return .string(Self.part(of: text, start, length))
        }
    }

    /// Bytes of the text from a place on; a negative length is all that is left.
    private static func part(of text: String, _ start: Double, _ length: Double) -> String {
        let bytes = Array(text.utf8)
        guard start >= 0, start < Double(bytes.count) else { return "" }
        let first = Int(start)
        let count = length < 0 ? bytes.count - first : Int(min(length, Double(bytes.count - first)))
        return String(decoding: bytes[first..<first + count], as: UTF8.self)
    }

    /// Texts, and pointers in the form that MongoDB's documents have them: the class, `$`, the id.
    private static func stringText(_ json: JSONValue) -> String? {
        switch FieldValue(stored: json) {
        case .string(let text): text
        case .pointer(let className, let id): className + "$" + id
        default: nil
        }
    }

    private static func anyText(_ json: JSONValue) -> String? {
        if let text = stringText(json) { return text }
        if case .date(let instant) = FieldValue(stored: json) { return instant.iso8601 }
        return json.numberValue == nil ? nil : json.serializedString()
    }

    func arithmetic(_ values: [JSONValue?]) throws(ParseError) -> JSONValue? {
        var numbers: [Double] = []
        var dates = 0
        for value in values {
            switch value.map(FieldValue.init(stored:)) {
            case nil, .null: return .null
            case .number(let number): numbers.append(number)
            case .date(let instant):
                dates += 1
                numbers.append(Double(instant.milliseconds))
            default: throw wrongType("numbers")
            }
        }
        guard dates == 0 || self == .add || self == .subtract else { throw wrongType("numbers") }
        let number = try result(numbers)
        // A date and milliseconds are a date; two dates are so many milliseconds apart.
        let isDate = dates == 1 && !(self == .subtract && values[1]?.numberValue == nil)
        guard isDate else { return .number(number) }
        return FieldValue.dateJSON(Timestamp(milliseconds: 0).adding(seconds: number / 1000))
    }

    private func result(_ numbers: [Double]) throws(ParseError) -> Double {
        switch self {
        case .add: return numbers.reduce(0, +)
        case .multiply: return numbers.reduce(1, *)
        case .subtract: return numbers[0] - numbers[1]
        default:
            guard numbers[1] != 0 else { throw wrongType("a divisor other than 0") }
            return self == .divide
                ? numbers[0] / numbers[1] : numbers[0].truncatingRemainder(dividingBy: numbers[1])
        }
    }

    func datePart(_ value: JSONValue?) throws(ParseError) -> JSONValue? {
        guard let value, !value.isNull else { return .null }
        guard case .date(let instant) = FieldValue(stored: value) else { throw wrongType("a date") }
        let day = CalendarDay(instant)
        let number =
            switch self {
            case .year: day.year
            case .month: day.month
            case .week: day.week
            case .dayOfMonth: day.day
            case .dayOfWeek: day.weekday + 1
            case .dayOfYear: day.dayOfYear
            case .isoDayOfWeek: day.isoWeekday
            case .isoWeek: day.isoWeek.week
            case .isoWeekYear: day.isoWeek.year
            case .hour: day.millisecondOfDay / 3_600_000
            case .minute: day.millisecondOfDay / 60_000 % 60
            case .second: day.millisecondOfDay / 1000 % 60
            default: day.millisecondOfDay % 1000
            }
        return .number(Double(number))
    }
}
