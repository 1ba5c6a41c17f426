import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// When a request is sent again without the app asking for it.
///
/// Request ids make a repeated POST harmless only on servers that were told to check them, so a request
/// that may have been carried out is repeated only if it is a GET. Everything else is repeated when it
/// certainly was not: the connection was never made, or the server refused it unread (429, 503) and said
/// when to come back. A repetition carries the same request id.
struct RetryPolicy: Sendable {
    /// How often a request is sent at most, the first time included.
    var attempts: Int
    /// Seconds before the first repetition; doubled for each further one, ±50 % by chance.
    var delay: TimeInterval = 0.25

    /// Seconds to wait before attempt number `next` (2 is the first repetition), `nil` to give up.
    func delay(before next: Int, afterError error: any Error, safe: Bool) -> TimeInterval? {
        // Three in all are enough to ride out a restart; more would only make a wrong address slow to tell.
        guard next <= min(attempts, 3), let error = error as? URLError else { return nil }
        switch error.code {
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed:
            return backoff(next)
        case .networkConnectionLost:
            return safe ? backoff(next) : nil
        default:
            return nil
        }
    }

    /// Seconds to wait before attempt number `next` after such an answer, `nil` to hand it on.
    func delay(
        before next: Int,
        afterStatus status: Int,
        retryAfter: String?,
        isEmpty: Bool,
        safe: Bool
    ) -> TimeInterval? {
        guard next <= attempts else { return nil }
        switch status {
        case 429, 503:
            if let seconds = retryAfter.flatMap(Self.seconds) { return seconds }
            return safe && status == 503 ? backoff(next) : nil
        case 502, 504:
            return safe ? backoff(next) : nil
        case 500...599:
            return safe && isEmpty ? backoff(next) : nil
        default:
            return nil
        }
    }

    /// `Retry-After` as seconds from now: RFC 9110 §10.2.3 allows a number or a date.
    static func seconds(_ retryAfter: String) -> TimeInterval? {
        let text = retryAfter.trimmingCharacters(in: .whitespaces)
        if let seconds = Int(text) { return seconds >= 0 ? TimeInterval(seconds) : nil }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: text).map { max(0, $0.timeIntervalSinceNow) }
    }

    private func backoff(_ next: Int) -> TimeInterval {
        delay * pow(2, Double(next - 2)) * Double.random(in: 0.5...1.5)
    }
}
