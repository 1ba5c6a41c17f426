import ParseWire

/// The parts of an instant in UTC, in the proleptic Gregorian calendar.
struct CalendarDay {
    let year: Int
    let month: Int
    let day: Int
    /// 1 to 366.
    let dayOfYear: Int
    /// 0 is Sunday.
    let weekday: Int
    let millisecondOfDay: Int

    init(_ instant: Timestamp) {
        let milliseconds = Int(instant.milliseconds)
        let days = Self.floorDivide(milliseconds, 86_400_000)
        millisecondOfDay = milliseconds - days * 86_400_000
        // 1970-01-01 was a Thursday.
        weekday = Self.modulo(days + 4, 7)
        var year = 1970 + Self.floorDivide(days, 366)
        while Self.firstDay(ofYear: year + 1) <= days { year += 1 }
        self.year = year
        var rest = days - Self.firstDay(ofYear: year)
        dayOfYear = rest + 1
        var month = 1
        while rest >= Self.length(ofMonth: month, year) {
            rest -= Self.length(ofMonth: month, year)
            month += 1
        }
        self.month = month
        day = rest + 1
    }

    /// Weeks begin on Sunday; days before the first one are in week 0.
    var week: Int { (dayOfYear + 6 - weekday) / 7 }

    /// 1 is Monday, 7 Sunday.
    var isoWeekday: Int { weekday == 0 ? 7 : weekday }

    /// The year and week of ISO 8601: a week is in the year that its Thursday is in.
    var isoWeek: (year: Int, week: Int) {
        let thursday = dayOfYear + 4 - isoWeekday
        if thursday < 1 { return (year - 1, (thursday + Self.length(ofYear: year - 1) - 1) / 7 + 1) }
        if thursday > Self.length(ofYear: year) { return (year + 1, 1) }
        return (year, (thursday - 1) / 7 + 1)
    }

    /// Days from 1970-01-01 to the first day of the year.
    private static func firstDay(ofYear year: Int) -> Int {
        let before = year - 1
        let leapDays = floorDivide(before, 4) - floorDivide(before, 100) + floorDivide(before, 400)
        return before * 365 + leapDays - 719_162
    }

    private static func length(ofYear year: Int) -> Int {
        firstDay(ofYear: year + 1) - firstDay(ofYear: year)
    }

    private static func length(ofMonth month: Int, _ year: Int) -> Int {
        switch month {
        case 2: length(ofYear: year) - 337
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func floorDivide(_ value: Int, _ divisor: Int) -> Int {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }

    private static func modulo(_ value: Int, _ divisor: Int) -> Int {
        value - floorDivide(value, divisor) * divisor
    }
}
