import Foundation

/// The date text of the Parse wire: `2024-10-24T21:13:17.123Z`, always UTC.
///
/// Written by hand because `DateFormatter` is slow, and `ISO8601DateFormatter` wants to know beforehand
/// whether there are milliseconds.
enum ParseDate {
    /// Milliseconds since 1970, rounded to the nearest.
    static func milliseconds(_ date: Date) -> Int64 {
        Int64((date.timeIntervalSince1970 * 1000).rounded())
    }

    static func string(from date: Date) -> String {
        let total = milliseconds(date)
        let day = Int64((Double(total) / 86_400_000).rounded(.down))
        let inDay = Int(total - day * 86_400_000)
        let (year, month, dayOfMonth) = civil(fromDay: Int(day))
        let second = inDay / 1000
        return pad(year, 4) + "-" + pad(month, 2) + "-" + pad(dayOfMonth, 2) + "T"
            + pad(second / 3600, 2) + ":" + pad(second / 60 % 60, 2) + ":" + pad(second % 60, 2)
            + "." + pad(inDay % 1000, 3) + "Z"
    }

    /// The date of such a text, with any number of fraction digits, also none; `nil` for anything else.
    static func date(from text: String) -> Date? {
        var rest = Substring(text)
        func number(_ digits: Int, then separator: Character?) -> Int? {
            let part = rest.prefix(digits)
            guard part.count == digits, part.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
            rest = rest.dropFirst(digits)
            if let separator {
                guard rest.first == separator else { return nil }
                rest = rest.dropFirst()
            }
            return Int(part)
        }
        guard let year = number(4, then: "-"), let month = number(2, then: "-"),
            let day = number(2, then: "T"), let hour = number(2, then: ":"),
            let minute = number(2, then: ":"), let second = number(2, then: nil),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var fraction = 0.0
        if rest.first == "." {
            rest = rest.dropFirst()
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard !digits.isEmpty, let value = Double("0." + digits) else { return nil }
            fraction = value
            rest = rest.dropFirst(digits.count)
        }
        guard rest == "Z" else { return nil }
        let seconds =
            dayNumber(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second
        return Date(timeIntervalSince1970: (Double(seconds) * 1000 + (fraction * 1000).rounded()) / 1000)
    }

    private static func pad(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    // Days since 1970 and back: http://howardhinnant.github.io/date_algorithms.html describes the method,
    // in which a year begins on 1 March so that the leap day comes last.
    private static func dayNumber(year: Int, month: Int, day: Int) -> Int {
        let marchYear = month <= 2 ? year - 1 : year
        let era = (marchYear >= 0 ? marchYear : marchYear - 399) / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(fromDay day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }
}
