import ParseWire
import Testing

@Suite struct TimestampTests {
    struct Instant: Sendable, CustomTestStringConvertible {
        let milliseconds: Int64
        let text: String

        init(_ milliseconds: Int64, _ text: String) {
            self.milliseconds = milliseconds
            self.text = text
        }

        var testDescription: String { text }
    }

    @Test(arguments: [
        Instant(0, "1970-01-01T00:00:00.000Z"),
        Instant(1, "1970-01-01T00:00:00.001Z"),
        Instant(-1, "1969-12-31T23:59:59.999Z"),
        Instant(999, "1970-01-01T00:00:00.999Z"),
        Instant(1_729_804_397_123, "2024-10-24T21:13:17.123Z"),
        Instant(951_782_400_000, "2000-02-29T00:00:00.000Z"),
        Instant(951_868_800_000, "2000-03-01T00:00:00.000Z"),
        Instant(1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
        Instant(-2_203_891_200_000, "1900-03-01T00:00:00.000Z"),
        Instant(-2_203_977_600_000, "1900-02-28T00:00:00.000Z"),
        Instant(253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        Instant(-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
    ])
    func `an instant has one text, and the text is read back`(_ instant: Instant) {
        #expect(Timestamp(milliseconds: instant.milliseconds).iso8601 == instant.text)
        #expect(Timestamp(iso8601: instant.text)?.milliseconds == instant.milliseconds)
    }

    @Test(arguments: [
        Instant(253_402_300_800_000, "+010000-01-01T00:00:00.000Z"),
        Instant(-62_167_219_200_001, "-000001-12-31T23:59:59.999Z"),
        Instant(8_640_000_000_000_000, "+275760-09-13T00:00:00.000Z"),
        Instant(-8_640_000_000_000_000, "-271821-04-20T00:00:00.000Z"),
    ])
    func `a year of more than four digits is written as ECMAScript writes it`(_ instant: Instant) {
        #expect(Timestamp(milliseconds: instant.milliseconds).iso8601 == instant.text)
    }

    @Test(arguments: [
        Instant(1_729_728_000_000, "2024-10-24"),
        Instant(1_729_804_380_000, "2024-10-24T21:13"),
        Instant(1_729_804_380_000, "2024-10-24T21:13Z"),
        Instant(1_729_804_397_000, "2024-10-24T21:13:17"),
        Instant(1_729_804_397_000, "2024-10-24T21:13:17Z"),
        Instant(1_729_804_397_100, "2024-10-24T21:13:17.1Z"),
        Instant(1_729_804_397_120, "2024-10-24T21:13:17.12Z"),
        Instant(1_729_804_397_123, "2024-10-24T21:13:17.1239999999999999999999Z"),
        Instant(1_729_804_397_123, "2024-10-24T21:13:17.123"),
        Instant(1_729_797_197_123, "2024-10-24T21:13:17.123+02:00"),
        Instant(1_729_797_197_123, "2024-10-24T21:13:17.123+0200"),
        Instant(1_729_824_197_123, "2024-10-24T21:13:17.123-05:30"),
        Instant(1_729_814_400_000, "2024-10-24T24:00:00.000Z"),
        Instant(-86_340_000, "1970-01-01T00:00:00+23:59"),
    ])
    func `parts that may be left out, and offsets`(_ instant: Instant) {
        #expect(Timestamp(iso8601: instant.text)?.milliseconds == instant.milliseconds)
    }

    @Test(arguments: [
        "", "2024", "2024-10", "2024-10-2", "24-10-24", "2024-00-10", "2024-13-10", "2024-10-00",
        "2024-10-32",
        "2024-04-31", "2023-02-29", "1900-02-29", "2100-02-29", "2024-10-24 21:13:17Z", "2024-10-24T",
        "2024-10-24T21", "2024-10-24T21:", "2024-10-24T25:00:00Z", "2024-10-24T24:00:00.001Z",
        "2024-10-24T24:01Z", "2024-10-24T21:60Z", "2024-10-24T21:13:60Z", "2024-10-24T21:13:17.Z",
        "2024-10-24T21:13:17.12aZ", "2024-10-24T21:13:17z", "2024-10-24T21:13:17ZZ", "2024-10-24T21:13:17Z ",
        " 2024-10-24", "2024-10-24T21:13:17+24:00", "2024-10-24T21:13:17+02", "2024-10-24T21:13:17+02:60",
        "+2024-10-24", "-024-10-24", "２024-10-24", "2024-10-24T21:13:17.123Z\0", "2024/10/24", "now",
    ])
    func `what is no instant is refused`(_ text: String) {
        #expect(Timestamp(iso8601: text) == nil)
    }

    @Test func `every day of eight centuries follows the one before`() {
        var milliseconds: Int64 = -12_212_553_600_000
        var previous = (year: 1582, month: 12, day: 31)
        for _ in 0..<292_194 {
            let text = Timestamp(milliseconds: milliseconds).iso8601
            let parts = text.prefix(10).split(separator: "-").compactMap { Int($0) }
            let day = (year: parts[0], month: parts[1], day: parts[2])
            let isNext =
                day == (previous.year, previous.month, previous.day + 1)
                || (day.day == 1
                    && (day == (previous.year, previous.month + 1, 1) || day == (previous.year + 1, 1, 1)))
            guard isNext, Timestamp(iso8601: text)?.milliseconds == milliseconds else {
                Issue.record("\(text) follows \(previous)")
                return
            }
            previous = day
            milliseconds += 86_400_000
        }
    }

    @Test func `any instant of four-digit years survives the way out and back`() {
        let seed = UInt64.random(in: .min ... .max)
        print("Timestamp round trip: seed \(seed)")
        var state = seed
        for _ in 0..<20_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let milliseconds = Int64(state >> 1) % 315_569_520_000_000 - 62_167_219_200_000
            let instant = Timestamp(milliseconds: milliseconds)
            guard Timestamp(iso8601: instant.iso8601) == instant else {
                Issue.record("\(milliseconds) became \(instant.iso8601), seed \(seed)")
                return
            }
        }
    }

    @Test(
        arguments: [
            (0.0, 1_000.0, 1_000_000),
            (0.0, 0.0015, 1),
            (5_000.0, -6.0, -1_000),
            (0.0, 1e300, 8_640_000_000_000_000),
            (0.0, -1e300, -8_640_000_000_000_000),
            (0.0, .infinity, 8_640_000_000_000_000),
        ] as [(Double, Double, Int64)]
    )
    func `adding seconds saturates at the ends of the range`(_ start: Double, _ seconds: Double, _ sum: Int64)
    {
        #expect(Timestamp(milliseconds: Int64(start)).adding(seconds: seconds).milliseconds == sum)
    }

    @Test func `adding no number at all does not stop the process`() {
        let sum = Timestamp(milliseconds: 0).adding(seconds: .nan).milliseconds
        #expect(sum.magnitude <= 8_640_000_000_000_000)
    }

    @Test func `instants are ordered by time`() {
        #expect(Timestamp(milliseconds: -1) < Timestamp(milliseconds: 0))
        #expect(!(Timestamp(milliseconds: 5) < Timestamp(milliseconds: 5)))
    }
}

@Suite struct ParseErrorCodeTests {
    @Test(arguments: [
        (ParseErrorCode.otherCause, -1), (.internalServerError, 1), (.connectionFailed, 100),
        (.objectNotFound, 101),
        (.invalidQuery, 102), (.invalidClassName, 103), (.missingObjectID, 104), (.invalidKeyName, 105),
        (.invalidJSON, 107), (.commandUnavailable, 108), (.incorrectType, 111), (.operationForbidden, 119),
        (.invalidNestedKey, 121), (.invalidACL, 123), (.invalidEmailAddress, 125), (.duplicateValue, 137),
        (.exceededQuota, 140), (.validationError, 142), (.requestLimitExceeded, 155), (.invalidValue, 162),
        (.usernameMissing, 200), (.passwordMissing, 201), (.usernameTaken, 202), (.emailTaken, 203),
        (.emailMissing, 204), (.emailNotFound, 205), (.sessionMissing, 206), (.accountAlreadyLinked, 208),
        (.invalidSessionToken, 209), (.unsupportedService, 252),
    ])
    func `a named code has the number of the guide`(_ code: ParseErrorCode, _ number: Int) {
        #expect(code.rawValue == number)
    }

    @Test func `a code that nobody knows survives`() {
        #expect(ParseErrorCode(rawValue: 4711).rawValue == 4711)
    }
}
