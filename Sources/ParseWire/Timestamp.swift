/// An instant as Parse knows it: milliseconds since 1970-01-01T00:00:00Z, UTC.
package struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since the Unix epoch; negative before it.
    package var milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The instant so many seconds later; saturates at the ends of the range.
    package func adding(seconds: Double) -> Timestamp {
        let sum = Double(milliseconds) + seconds * 1000
        guard sum.magnitude < 8.64e15 else {
            return Timestamp(milliseconds: sum < 0 ? -Self.largest : Self.largest)
        }
        return Timestamp(milliseconds: Int64(sum))
    }

    /// The furthest instant that ECMAScript, and with it the Parse wire, can express (ECMA-262, 21.4.1.1).
    private static let largest: Int64 = 8_640_000_000_000_000

    /// The text Parse uses: `2024-10-24T21:13:17.123Z`, always with three digits of a second and `Z`.
    package var iso8601: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(27)
        writeISO8601(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends ``iso8601`` in ASCII.
    package func writeISO8601(to text: inout [UInt8]) {
        let days = Self.floorDivide(milliseconds, 86_400_000)
        let rest = UInt64(milliseconds - days * 86_400_000)
        let (year, month, day) = Self.civil(fromDays: days)
        if year < 0 || year > 9999 {
            text.append(year < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
            Self.append(year.magnitude, digits: 6, to: &text)
        } else {
            Self.append(year.magnitude, digits: 4, to: &text)
        }
        let seconds = rest / 1000
        Self.append(UInt8(ascii: "-"), month.magnitude, to: &text)
        Self.append(UInt8(ascii: "-"), day.magnitude, to: &text)
        Self.append(UInt8(ascii: "T"), seconds / 3600, to: &text)
        Self.append(UInt8(ascii: ":"), seconds / 60 % 60, to: &text)
        Self.append(UInt8(ascii: ":"), seconds % 60, to: &text)
        text.append(UInt8(ascii: "."))
        Self.append(rest % 1000, digits: 3, to: &text)
        text.append(UInt8(ascii: "Z"))
    }

    /// A mark and two digits.
    private static func append(_ mark: UInt8, _ value: UInt64, to text: inout [UInt8]) {
        text.append(mark)
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10))
        text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
    }

    /// Reads `yyyy-MM-dd`, optionally `THH:mm`, seconds, a fraction, and `Z` or an offset.
    ///
    /// A time without zone is UTC. Digits of the fraction past the third are dropped. `nil` for anything
    /// else, also for a day that the month does not have.
    package init?(iso8601 text: String) {
        var reader = Reader(bytes: Array(text.utf8))
        guard let milliseconds = reader.instant() else { return nil }
        self.milliseconds = milliseconds
    }

    private static func append(_ value: UInt64, digits: Int, to text: inout [UInt8]) {
        var divisor: UInt64 = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            text.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }

    /// Year, month and day of a day number, proleptic Gregorian; the year starts in March inside, so that the
    /// leap day is the last.
    private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    fileprivate static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = floorDivide(shiftedYear, 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

/// Walks over the characters of an ISO-8601 text.
private struct Reader {
    let bytes: [UInt8]
    var position = 0

    mutating func instant() -> Int64? {
        guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2),
            (1...12).contains(month), day >= 1, day <= Self.length(ofMonth: month, year: year)
        else { return nil }
        let midnight = Timestamp.days(year: year, month: month, day: day) * 86_400_000
        if position == bytes.count { return midnight }
        guard take("T"), let time = time(), let offset = zone(), position == bytes.count else { return nil }
        return midnight + time - offset
    }

    private mutating func time() -> Int64? {
        guard let hour = number(2), take(":"), let minute = number(2), hour <= 24, minute <= 59 else {
            return nil
        }
        var milliseconds = (hour * 60 + minute) * 60_000
        if take(":") {
            guard let second = number(2), second <= 59 else { return nil }
            milliseconds += second * 1000
            if take(".") {
                guard let fraction = fraction() else { return nil }
                milliseconds += fraction
            }
        }
        return milliseconds <= 86_400_000 ? milliseconds : nil
    }

    private mutating func fraction() -> Int64? {
        var digits = 0
        var value: Int64 = 0
        while position < bytes.count, let digit = Self.digit(bytes[position]) {
            if digits < 3 { value = value * 10 + digit }
            digits += 1
            position += 1
        }
        guard digits > 0 else { return nil }
        for _ in digits..<max(digits, 3) { value *= 10 }
        return value
    }

    private mutating func zone() -> Int64? {
        if position == bytes.count || take("Z") { return 0 }
        let isNegative = take("-")
        guard isNegative || take("+"), let hours = number(2), hours <= 23 else { return nil }
        _ = take(":")
        guard let minutes = number(2), minutes <= 59 else { return nil }
        return (isNegative ? -1 : 1) * (hours * 60 + minutes) * 60_000
    }

    private mutating func number(_ digits: Int) -> Int64? {
        guard position + digits <= bytes.count else { return nil }
        var value: Int64 = 0
        for byte in bytes[position..<position + digits] {
            guard let digit = Self.digit(byte) else { return nil }
            value = value * 10 + digit
        }
        position += digits
        return value
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private static func digit(_ byte: UInt8) -> Int64? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int64(byte - UInt8(ascii: "0")) : nil
    }

    private static func length(ofMonth month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
