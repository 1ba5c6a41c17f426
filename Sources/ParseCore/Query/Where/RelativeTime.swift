import JSON
import ParseWire

/// The texts of `$relativeTime`: `in 2 days 3 hrs`, `1 week ago`, `now`.
enum RelativeTime {
    /// Why a text is none, in the words of the answer.
    struct Problem: Error, Hashable {
        let text: String
    }

    private static let secondsPerUnit: [String: Double] = {
        var seconds: [String: Double] = [:]
        for (names, count) in [
            ("yr yrs year years", 31_536_000.0), ("wk wks week weeks", 604_800), ("d day days", 86_400),
            ("hr hrs hour hours", 3600), ("min mins minute minutes", 60), ("sec secs second seconds", 1),
        ] {
            for name in names.split(separator: " ") { seconds[String(name)] = count }
        }
        return seconds
    }()

    static func instant(_ text: String, from now: Timestamp) throws(Problem) -> Timestamp {
        let text = text.lowercased()
        var parts = text.split(separator: " ").map(String.init)
        if text == "now" { return now }
        let isFuture = parts.first == "in"
        let isPast = parts.last == "ago"
        guard isFuture || isPast else {
            throw Problem(text: "Time should either start with 'in' or end with 'ago'")
        }
        guard !(isFuture && isPast) else { throw Problem(text: "Time cannot have both 'in' and 'ago'") }
        if isFuture { parts.removeFirst() } else { parts.removeLast() }
        let seconds = try seconds(parts)
        return now.adding(seconds: isFuture ? seconds : -seconds)
    }

    private static func seconds(_ parts: [String]) throws(Problem) -> Double {
        guard parts.count.isMultiple(of: 2) else {
            throw Problem(text: "Invalid time string. Dangling unit or number.")
        }
        var seconds = 0.0
        for index in stride(from: 0, to: parts.count, by: 2) {
            guard let number = integer(parts[index]) else {
                throw Problem(text: "'\(parts[index])' is not an integer.")
            }
            guard let unit = secondsPerUnit[parts[index + 1]] else {
                throw Problem(text: "Invalid interval: '\(parts[index + 1])'")
            }
            seconds += number * unit
        }
        return seconds
    }

    private static func integer(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.e".utf8.contains($0) }),
            let number = Double(text), number.rounded() == number
        else { return nil }
        return number
    }
}

extension WhereDecoder {
    /// The comparison with a relative time; `nil` when the value is none.
    func relativeTime(_ field: String, _ name: String, _ value: JSONValue) throws(ParseError) -> Predicate? {
        guard let json = value["$relativeTime"] else { return nil }
        guard let text = json.stringValue, !text.isEmpty else { throw badAtom(value) }
        guard [.date, nil].contains(schema?.type(of: field)) else {
            throw ParseError(.invalidJSON, "$relativeTime can only be used with Date field")
        }
        let comparison: Predicate.Comparison
        switch name {
        case "$lt": comparison = .less
        case "$lte": comparison = .lessOrEqual
        case "$gt": comparison = .greater
        case "$gte": comparison = .greaterOrEqual
        default:
            throw ParseError(
                .invalidJSON,
                "$relativeTime can only be used with the $lt, $lte, $gt, and $gte operators"
            )
        }
        guard let now else {
            throw ParseError(.commandUnavailable, "The $relativeTime operator is not supported here.")
        }
        do {
            return .compare(field, comparison, .date(try RelativeTime.instant(text, from: now)))
        } catch {
            throw ParseError(.invalidJSON, "bad $relativeTime (\(name)) value. \(error.text)")
        }
    }
}
