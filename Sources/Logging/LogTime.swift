#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A moment as the log writes it.
package struct LogTime: Sendable, Hashable {
    /// Milliseconds since 1970-01-01 00:00 UTC.
    package var millisecondsSince1970: Int64

    package init(millisecondsSince1970: Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    /// The moment the system's clock shows.
    package static func now() -> LogTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return LogTime(millisecondsSince1970: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// The moment as in `2026-01-31T09:05:00.042Z`, for the years 0 to 9999.
    package var text: String {
        let (days, millisecond) = Self.divide(millisecondsSince1970, by: 86_400_000)
        let (year, month, day) = Self.date(daysSince1970: days)
        let second = millisecond / 1000
        return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))T"
            + "\(Self.padded(second / 3600, 2)):\(Self.padded(second / 60 % 60, 2)):"
            + "\(Self.padded(second % 60, 2)).\(Self.padded(millisecond % 1000, 3))Z"
    }

    /// The date in the Gregorian calendar, counted in eras of 400 years that begin on 1 March, so that the leap
    /// day is the last of its year (Howard Hinnant, "chrono-compatible low-level date algorithms").
    private static func date(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = divide(daysSince1970 + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// Division that rounds down, so that the remainder is never negative.
    private static func divide(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let remainder = ((value % divisor) + divisor) % divisor
        return ((value - remainder) / divisor, remainder)
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
